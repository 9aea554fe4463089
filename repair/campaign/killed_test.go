package campaign

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// killedDamages is how many damages of the toy image TestKilledCampaignGoesOn tries.
const killedDamages = 40

// resume goes on with the campaign in a folder. It is the child process of that test.
func resume(dir string) int {
	ctx := context.Background()
	c, err := Open(ctx, dir)
	if err == nil {
		c.saveEvery = 20 * time.Millisecond
		_, _, err = c.Run(ctx, Limits{Damages: killedDamages - c.state.progress.Next}, func(Event) {})
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// TestKilledCampaignGoesOn checks that a campaign that is killed repeatedly can be continued each
// time, and counts what a campaign counts that is not killed.
func TestKilledCampaignGoesOn(t *testing.T) {
	cfg := plantedConfig(t, "twice", "toy")
	cfg.Workers, cfg.Replays = 2, 1
	create := func() string {
		dir := filepath.Join(t.TempDir(), "out")
		c, err := Create(t.Context(), dir, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	whole, killed := create(), create()
	begin := time.Now()
	if status := resume(whole); status != 0 {
		t.Fatal("the campaign that is not killed failed")
	}
	kills := resumeAndKill(t, killed, time.Since(begin))
	if kills < 3 {
		t.Errorf("the campaign was killed %d times, want at least 3", kills)
	}
	want, got := results(t, whole), results(t, killed)
	if want != got || !strings.Contains(got, fmt.Sprintf("%d damages", killedDamages)) {
		t.Errorf("killed %d times:\n%s\nnot killed:\n%s", kills, got, want)
	}
	t.Logf("killed %d times:\n%s", kills, got)
}

// results returns what a campaign counted, with the count of each finding.
func results(t *testing.T, dir string) string {
	t.Helper()
	r, err := LoadResults(dir)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]uint64{}
	for _, f := range r.Findings {
		counts[f.Dir] = f.Count
		if _, err := Replay(t.Context(), f.path, 1); err != nil {
			t.Errorf("%s: %v", f.Dir, err)
		}
	}
	p := r.Progress
	text := fmt.Sprintf("next %d, %d damages, %d runs, %d failures, %d paths\n", p.Next, p.Damages,
		p.Runs, p.Failures, p.Paths)
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		text += fmt.Sprintf("%s %d\n", name, counts[name])
	}
	return text
}

// resumeAndKill goes on with a campaign in a child process, and kills the process after a random
// time, until the campaign ends. After eight kills, it lets it end. took is the duration of a whole
// campaign.
func resumeAndKill(t *testing.T, dir string, took time.Duration) (kills int) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for {
		var output bytes.Buffer
		c := exec.Command(os.Args[0], "resume", dir)
		c.Stdout, c.Stderr = &output, &output
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		patience := 20*time.Millisecond + time.Duration(random.Int64N(int64(took/4)))
		if kills >= 8 {
			patience = time.Minute
		}
		timer := time.AfterFunc(patience, func() { _ = c.Process.Kill() })
		err := c.Wait()
		if timer.Stop() && err != nil {
			t.Fatalf("after %d kills: %v: %s", kills, err, output.Bytes())
		}
		if err == nil {
			return kills
		}
		kills++
	}
}
