//go:build vmtest

package vmrun

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"fsward/change"
	"fsward/hostd/daemon"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/vm"
	"fsward/interp/detect"
)

// TestGuestDebianLayout boots a guarded disk that is laid out as Debian's installer does, by EFI
// and GRUB. One commit of one volume is corrupted: of vg/home, or with FSWARD_LAYOUT=all of each
// volume in a boot of its own. It is refused, and the other volumes go on. After the power-off the
// tools of each format find every volume clean, fsward check agrees, and a replay of the recording
// repeats the verdicts.
func TestGuestDebianLayout(t *testing.T) {
	kernel := guardtest.BuildGuest(t)
	fsward := buildFsward(t)
	made := filepath.Join(t.TempDir(), "debian.img")
	guardtest.Run(t, "sh", "../../guest/debian12.sh", kernel, made)
	all := []struct{ volume, name, bug string }{
		{"vg/home", "home", "inode_item.nlink+1@mode=0o100644"},
		{"vg/root", "root", "inode.links_count+1"},
		{"p2", "boot", "inode.links_count+1"},
	}
	if os.Getenv("FSWARD_LAYOUT") != "all" {
		all = all[:1]
	}
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			l := &layoutRun{T: t, dir: t.TempDir(), volume: c.volume, bug: c.bug}
			l.image = filepath.Join(l.dir, "debian.img")
			guardtest.Run(t, "cp", "--sparse=always", made, l.image)
			l.run()
			l.rounds(c.name)
			l.events()
			l.command("sh", "../../guest/debian12-check.sh", l.image)
			l.command(fsward, "check", l.image)
			l.replay(fsward, made)
		})
	}
}

// layoutRun is a boot of the disk in which a commit of one volume is corrupted.
type layoutRun struct {
	*testing.T
	dir, image  string
	volume, bug string

	seen guardtest.Recorder
	mu   sync.Mutex
	said []string // lines of the console
}

// run boots the guest, arms the bug after the second round, and waits for the power-off.
func (l *layoutRun) run() {
	l.Helper()
	ctx, cancel := context.WithTimeout(l.Context(), 5*time.Minute)
	defer cancel()
	s, err := Open(ctx, Config{Config: daemon.Config{Config: guard.Config{
		Disks: []guard.DiskSpec{{Name: "vda", Path: l.image}}, FS: detect.Auto,
		Policies: guard.Policies{OnViolation: guard.OnRefuse}, Verify: true, Simulate: true,
		Record: filepath.Join(l.dir, "log"), Sinks: []guard.Sink{&l.seen}}}},
		zaptest.NewLogger(l, zaptest.WrapOptions(zap.AddStacktrace(zap.PanicLevel))))
	if err != nil {
		l.Fatal(err)
	}
	guest, err := s.Start(ctx, vm.Config{Name: "debian", EFI: true, OnLine: func(line string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.said = append(l.said, line)
		if strings.Contains(line, "FSWARD: round 2 ") {
			if err := s.Simulator("vda").ArmVolume(l.volume, l.bug); err != nil {
				l.Error(err)
			}
		}
	}})
	if err == nil {
		var end vm.End
		if end, err = guest.Wait(ctx); !end.Clean() {
			l.Errorf("the guest ended: %s", end)
		}
	}
	if err != nil {
		l.Error(err)
	}
	for _, v := range s.Status() {
		l.Logf("%s: %s, %d commits, %d refused, %d writes passed", v.Name(), v.State, v.Commits,
			v.Refused, v.Passed)
	}
	if err := s.Close(); err != nil {
		l.Error(err)
	}
}

// rounds checks on the console that the corrupted volume stopped, and that the others did not.
func (l *layoutRun) rounds(stopped string) {
	l.Helper()
	others := []string{"root", "home", "boot", "efi", "swap"}
	last := slices.DeleteFunc(others, func(v string) bool { return v == stopped })
	for _, want := range []string{"FSWARD: round 2 root home boot efi swap",
		"FSWARD: round 8 " + strings.Join(last, " ")} {
		if !slices.ContainsFunc(l.said, func(s string) bool {
			return strings.HasSuffix(strings.TrimSpace(s), want)
		}) {
			l.Errorf("the console has no line %q:\n%s", want, strings.Join(l.said, "\n"))
		}
	}
}

// events checks that each baseline held, that commits of every volume with a file system were
// judged, and that nothing was refused but the corrupted volume's commits.
func (l *layoutRun) events() {
	l.Helper()
	commits, baselines, refused := map[string]int{}, map[string]int{}, 0
	for _, ev := range l.seen.Events() {
		switch {
		case ev.Outcome == change.Violated && ev.Volume == l.volume && ev.Kind != guard.KindBaseline:
			refused++
			if ev.Action != guard.Refused {
				l.Errorf("not refused: %s", guardtest.TextOf(ev))
			}
		case ev.Outcome != change.Holds:
			l.Errorf("false alarm: %s", guardtest.TextOf(ev))
		case ev.Kind == guard.KindCommit:
			commits[ev.Volume]++
		case ev.Kind == guard.KindBaseline:
			baselines[ev.Volume]++
		}
	}
	if refused == 0 {
		l.Error("the corrupted commit was not refused")
	}
	for _, volume := range []string{"p2", "vg/root", "vg/home"} {
		if commits[volume] == 0 || baselines[volume] == 0 {
			l.Errorf("%s: %d commits and %d baselines held, want some", volume, commits[volume],
				baselines[volume])
		}
	}
	l.Logf("commits that held: %v; refused on %s: %d", commits, l.volume, refused)
}

// command runs a program that must succeed, and logs what it prints.
func (l *layoutRun) command(name string, args ...string) {
	l.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		l.Errorf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	l.Logf("%s", out)
}

// replay judges the recorded writes again: the same volumes are violated.
func (l *layoutRun) replay(fsward, base string) {
	l.Helper()
	out, err := exec.Command(fsward, "replay", "--json", "--base", base,
		filepath.Join(l.dir, "log")).Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		l.Errorf("fsward replay: %v, want exit status 1", err)
	}
	violated := 0
	for line := range strings.Lines(string(out)) {
		if !strings.Contains(line, `"verdict":"violated"`) {
			continue
		}
		violated++
		if !strings.Contains(line, `"volume":"`+l.volume+`"`) {
			l.Errorf("replay: %s", line)
		}
	}
	if violated == 0 {
		l.Error("the replay finds no violation")
	}
	if err := os.WriteFile(filepath.Join(l.dir, "replayed"), out, 0o600); err != nil {
		l.Error(err)
	}
	l.Logf("replay: %d lines, %d violated", strings.Count(string(out), "\n"), violated)
}
