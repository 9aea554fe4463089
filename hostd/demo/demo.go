// Package demo is the demonstration of make run: a guest, two guarded disks, two bugs, two
// refusals. Start reading at Run.
package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"fsward/change"
	"fsward/hostd/daemon"
	"fsward/hostd/guard"
	"fsward/hostd/vm"
	"fsward/hostd/vmrun"
	"fsward/interp/detect"
)

// Config describes a demonstration.
type Config struct {
	GuestDir string // folder of vmlinuz and initramfs.cpio.zst, which guest/build.sh makes
	Dir      string // folder for disks, consoles and logs; they stay there
	Rounds   int    // rounds of the guest's workload before the bugs
	Out      io.Writer
}

// A demoDisk is one of the two disks and the bug that is simulated on it.
type demoDisk struct {
	name, fs, bug string
	meaning       string // the bug in words
}

var demoDisks = []demoDisk{
	{"btrfs", "btrfs", "inode_item.nlink+1@mode=0o100644",
		"a link count goes to the disk one too high"},
	{"ext3", "ext3", "inode.links_count+1", "a link count goes to the disk one too high"},
}

const (
	demoDiskSize = 1 << 30
	demoTimeout  = 10 * time.Minute
	demoSteps    = 6
)

// Run runs a guest on two guarded disks, simulates a bug in each of its file systems, and shows
// that neither corrupt commit reached its disk.
func Run(ctx context.Context, cfg Config, log *zap.Logger) error {
	ctx, cancel := context.WithTimeoutCause(ctx, demoTimeout,
		errors.New("the demonstration timed out"))
	defer cancel()
	d := &demo{Config: cfg, start: time.Now(), log: log, refused: make(map[string]*guard.Event)}
	return d.run(ctx)
}

type demo struct {
	Config
	start  time.Time
	step   int
	log    *zap.Logger
	synced map[string]int // last round that was synced, by disk

	// guards the fields that the guard and the console write during the demonstration
	mu      sync.Mutex
	refused map[string]*guard.Event // first refused commit, by disk
	commits int
	lines   []string // messages of the guest's script on the console
}

// Event counts commits and keeps refusals. demo is a Sink beside the table.
func (d *demo) Event(ev *guard.Event) {
	if ev.Kind != guard.KindCommit {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.commits++
	if ev.Action == guard.Refused && d.refused[ev.Disk] == nil {
		d.refused[ev.Disk] = ev
	}
}

// refusal returns the first refused commit of a disk; nil if there is none.
func (d *demo) refusal(disk demoDisk) *guard.Event {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refused[disk.name]
}

// hear keeps a line of the console that is meant for the host.
func (d *demo) hear(line string) {
	if _, text, ok := strings.Cut(line, "FSWARD: "); ok {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.lines = append(d.lines, text)
	}
}

func (d *demo) run(ctx context.Context) error {
	if err := os.MkdirAll(d.Dir, 0o755); err != nil {
		return err
	}
	d.say("a guest boots on two guarded disks (about ten seconds)")
	s, err := d.open(ctx)
	if err != nil {
		return err
	}
	err = d.attack(ctx, s)
	if err == nil {
		err = d.verify(ctx, s)
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	d.say("the file systems' own checkers check the disks")
	if err := d.runCheckers(ctx); err != nil {
		return err
	}
	d.conclude()
	return nil
}

// open makes the disks and starts the guard.
func (d *demo) open(ctx context.Context) (*vmrun.Session, error) {
	cfg := vmrun.Config{Config: daemon.Config{Config: guard.Config{FS: detect.Auto,
		Policies: guard.Policies{OnViolation: guard.OnRefuse}, Simulate: true,
		Sinks: []guard.Sink{guard.NewTextReport(d.Out), d}}}}
	for _, disk := range demoDisks {
		if err := os.WriteFile(d.image(disk), nil, 0o644); err != nil {
			return nil, err
		}
		if err := os.Truncate(d.image(disk), demoDiskSize); err != nil {
			return nil, err
		}
		cfg.Disks = append(cfg.Disks, guard.DiskSpec{Name: disk.name, Path: d.image(disk)})
	}
	return vmrun.Open(ctx, cfg, d.log)
}

// attack runs the workload, then simulates the bugs one after the other.
func (d *demo) attack(ctx context.Context, s *vmrun.Session) error {
	guest, err := s.Start(ctx, d.guest("workload", true))
	if err != nil {
		return err
	}
	defer guest.Close()
	work := vm.NewWorkload(guest.Channel())
	if err := work.Ready(ctx); err != nil {
		return err
	}
	d.say(fmt.Sprintf("the guest makes, links, renames and deletes files, and syncs: "+
		"%d rounds on each disk (about a minute)", d.Rounds))
	if err := work.Go(ctx, d.Rounds, ""); err != nil {
		return err
	}
	for _, disk := range demoDisks {
		d.say(fmt.Sprintf("a bug in the guest's %s is simulated: %s (%s)", disk.fs, disk.meaning,
			disk.bug))
		if err := s.Simulator(disk.name).Arm(disk.bug); err != nil {
			return err
		}
		if err := work.Go(ctx, 3, disk.fs); err != nil {
			return err
		}
		p := work.Progress(disk.fs)
		if d.refusal(disk) == nil {
			return fmt.Errorf("%s: the bug was not refused (%q)", disk.name, s.Simulator(disk.name).Done())
		}
		if !p.ReadOnly {
			return fmt.Errorf("%s: the guest's file system did not go read-only; console: %s", disk.name,
				guest.Console())
		}
		fmt.Fprintf(d.Out, "         what the bug did: %s\n"+
			"         the guest received an I/O error, and its %s is now read-only\n",
			s.Simulator(disk.name).Done(), disk.fs)
	}
	d.synced = map[string]int{}
	for _, disk := range demoDisks {
		d.synced[disk.name] = work.Progress(disk.fs).Synced
	}
	if err := work.Stop(); err != nil {
		return err
	}
	_, err = guest.Wait(ctx)
	return err
}

// verify boots a second guest. It mounts the disks as they are now and compares every file of the
// rounds that were synced.
func (d *demo) verify(ctx context.Context, s *vmrun.Session) error {
	d.say("the guest is off; a second guest mounts the same disks and compares the synced files " +
		"(about ten seconds)")
	cfg := d.guest("verify", false)
	cfg.OnLine = d.hear
	for _, disk := range demoDisks {
		cfg.Cmdline += fmt.Sprintf(" fsward.%s_synced=%d", disk.fs, d.synced[disk.name])
	}
	guest, err := s.Start(ctx, cfg)
	if err != nil {
		return err
	}
	defer guest.Close()
	if _, err := guest.Wait(ctx); err != nil {
		return err
	}
	d.mu.Lock()
	lines := d.lines
	d.mu.Unlock()
	intact := make(map[string]bool)
	for _, text := range lines {
		if f := strings.Fields(text); len(f) == 3 && f[0] == "intact" {
			intact[f[1]] = true
			fmt.Fprintf(d.Out, "         %s: every file of the last rounds up to %s is identical\n", f[1],
				f[2])
		}
	}
	for _, disk := range demoDisks {
		if !intact[disk.fs] {
			return fmt.Errorf("%s: files that were synced are missing or differ; console: %s", disk.name,
				guest.Console())
		}
	}
	return nil
}

// runCheckers runs the file systems' own checkers on the images.
func (d *demo) runCheckers(ctx context.Context) error {
	for _, disk := range demoDisks {
		for _, args := range checkersOf(disk.fs, d.image(disk)) {
			var out bytes.Buffer
			cmd := exec.CommandContext(ctx, args[0], args[1:]...)
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, &out)
			}
			fmt.Fprintf(d.Out, "         %-50s clean\n", strings.Join(args, " "))
		}
	}
	return nil
}

// checkersOf lists the commands that check an image. They exit with 0 if it is sound.
func checkersOf(fs, image string) [][]string {
	if fs == "btrfs" {
		return [][]string{{"btrfs", "check", image}}
	}
	return [][]string{{"e2fsck", "-fn", image}}
}

// conclude prints a summary and what to try next.
func (d *demo) conclude() {
	fmt.Fprintf(d.Out, "\nWhat happened in %s: %d commits were checked. "+
		"On each disk one was refused:\n", time.Since(d.start).Round(time.Second), d.commits)
	for _, disk := range demoDisks {
		ev := d.refusal(disk)
		fmt.Fprintf(d.Out, "  %-6s commit %d, by %s: %s\n", disk.fs, ev.Generation,
			strings.Join(guard.RuleNames(ev.Violations), ", "), docOf(ev))
	}
	fmt.Fprintf(d.Out, "Neither commit reached its disk. "+
		"Both disks are clean and hold the last good commit.\n"+`
Try next:
  ./fsward rules list                     list the invariants
  ./fsward check %s         check a whole image
  ./fsward dump %s | less   show its objects and fields
  ./fsward guard --help                   guard a disk of your own
`, d.image(demoDisks[0]), d.image(demoDisks[0]))
}

// docOf returns the sentence of the first violated rule, or else the verdict.
func docOf(ev *guard.Event) string {
	for _, v := range ev.Violations {
		if v.Kind == change.ByRule {
			return v.Doc
		}
	}
	return guard.VerdictText(ev)
}

func (d *demo) guest(script string, channel bool) vm.Config {
	return vm.Config{
		Name:      "fsward-demo",
		Kernel:    filepath.Join(d.GuestDir, "vmlinuz"),
		Initramfs: filepath.Join(d.GuestDir, "initramfs.cpio.zst"),
		Cmdline:   "fsward.script=" + script + " fsward.btrfs=btrfs fsward.ext3=ext3",
		Console:   filepath.Join(d.Dir, script+".console"),
		Channel:   channel,
	}
}

func (d *demo) image(disk demoDisk) string { return filepath.Join(d.Dir, disk.name+".img") }

// say begins a step of the demonstration.
func (d *demo) say(what string) {
	d.step++
	fmt.Fprintf(d.Out, "\n[%d/%d, %3.0f s] %s\n", d.step, demoSteps, time.Since(d.start).Seconds(),
		what)
}
