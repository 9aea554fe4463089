package campaign

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// Environment of processes that TestKilled starts from this test's program.
const (
	roleKey  = "FSWARD_CAMPAIGN_ROLE"
	dirKey   = "FSWARD_CAMPAIGN_DIR"
	killsKey = "FSWARD_CAMPAIGN_KILLS" // of the test, for a long run
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleKey); role != "" {
		if err := play(role, os.Getenv(dirKey)); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", role, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// The campaign of TestKilled. The index that killedPoison divides cannot be run.
const (
	killedSize   = 4000
	killedUnit   = 5
	killedPoison = 1500
)

// kills returns how often TestKilled kills a process.
func kills() int {
	if n, err := strconv.Atoi(os.Getenv(killsKey)); err == nil {
		return n
	}
	return 6
}

// findingsOf returns what a unit of TestKilled finds, which is the same each time.
func findingsOf(u Unit, dir string) (list []Found) {
	for i := u.From; i <= u.To; i++ {
		if i%97 == 0 {
			list = append(list, Found{Kind: fmt.Sprintf("kind %d", i%7), Count: 1, Dir: dir})
		}
	}
	return list
}

// play is a process of TestKilled: one that has the server and submits, or a worker.
func play(role, dir string) error {
	ctx := context.Background()
	c, err := Connect(ctx, Address{Dir: dir}, role == "start")
	if err != nil {
		return err
	}
	defer c.Close()
	if role == "start" {
		q, err := c.Create(ctx, testDefinition("a", killedSize, killedUnit), Option{Lease: time.Second})
		if err != nil {
			return err
		}
		if _, err := q.Submit(ctx); err != nil {
			return err
		}
	}
	// A process that is killed leaves it. The test removes the folder above.
	files, err := os.MkdirTemp(filepath.Dir(dir), "files")
	if err != nil {
		return err
	}
	w := newWorker(c, role+strconv.Itoa(os.Getpid()), func(_ context.Context, t Task) (Done, error) {
		time.Sleep(rand.N(time.Duration(kills()) * 6 * time.Millisecond))
		if t.Unit.From <= killedPoison && killedPoison <= t.Unit.To {
			return Done{}, fmt.Errorf("poison in %s", t.Unit.ID())
		}
		return Done{Findings: findingsOf(t.Unit, files)}, nil
	})
	w.Slots = 2
	return w.Run(ctx)
}

// A process is one that TestKilled starts again whenever it has ended.
type process struct {
	role string
	cmd  *exec.Cmd
	done chan error // what it returned; closed after that
}

func (p *process) start(t *testing.T, dir string) {
	t.Helper()
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), roleKey+"="+p.role, dirKey+"="+dir)
	p.cmd.Stderr = os.Stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.done = make(chan error, 1)
	go func() {
		p.done <- p.cmd.Wait()
		close(p.done)
	}()
}

// kill ends the process, unless it has ended.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	for range p.done { // what it returns after a kill says nothing
	}
}

// Each index counts once and no finding is lost or doubled, whenever the server, the submitter and
// workers are killed.
func TestKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "campaign")
	list := []*process{{role: "start"}, {role: "worker"}, {role: "worker"}}
	list[0].start(t, dir)
	wait(t, func() bool { _, err := os.Stat(dir + "/" + storeName); return err == nil })
	for _, p := range list[1:] {
		p.start(t, dir)
	}
	killed := 0
	for list[0].cmd != nil {
		p := list[rand.N(len(list))]
		if rand.N(2) == 0 {
			p = list[0] // with the server and the submitter
		}
		select {
		case err := <-list[0].done:
			if err != nil {
				t.Fatal(err)
			}
			list[0].cmd = nil // everything is done
			continue
		case <-time.After(rand.N(1500 * time.Millisecond)):
		}
		if killed < kills() {
			killed++
			p.kill()
			p.start(t, dir)
		}
	}
	for _, p := range list[1:] {
		p.kill()
	}
	if killed < kills() {
		t.Errorf("everything was done after %d kills of %d", killed, kills())
	}
	checkKilled(t, dir)
}

// checkKilled checks the totals of a campaign of TestKilled.
func checkKilled(t *testing.T, dir string) {
	t.Helper()
	q, err := connect(t, dir).Find(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	s := status(t, q)
	t.Logf("%d kills: %s, %d results, %d split, %d differences", kills(), s.State, s.Results,
		s.Splits, s.Differences)
	if s.State != "done" || s.Tested+s.Poisoned != killedSize || s.Poisoned != 1 ||
		s.Differences != 0 {
		t.Errorf("%+v %+v", s, s.Tally)
	}
	want := make(map[string]uint64)
	for _, f := range findingsOf(Unit{From: 0, To: killedSize - 1}, "") {
		want[f.Kind]++
	}
	got, bad, err := q.Findings(t.Context())
	if err != nil || bad != 0 {
		t.Fatal(bad, err)
	}
	for _, f := range got {
		if f.Kind == "could not be run" {
			continue
		}
		if s.Found(f.Key) != want[f.Kind] {
			t.Errorf("%s: %d times, want %d", f.Kind, s.Found(f.Key), want[f.Kind])
		}
		delete(want, f.Kind)
		if _, err := q.Unpack(t.Context(), f, t.TempDir()); err != nil {
			t.Error(err)
		}
	}
	if len(want) > 0 {
		t.Errorf("findings were lost: %v", want)
	}
}
