//go:build vmtest

package host

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/checkers"
	"fsward/explore/component"
	"fsward/explore/guest"
	"fsward/explore/machine"
	"fsward/explore/ramdisk"
	"fsward/explore/spec"
)

// A plant is a bug that is planted above or below ext3, and how to explore for it. The kernel and
// the oracles are unchanged.
type plant struct {
	bug       string // "": no bug, a control
	checker   string
	mount     string   // mount options
	fs, mkfs  string   // of unseenBugs: the file system; "": ext4; and options of its mkfs
	run       spec.Run // Depth 0 selects one step
	account   bool     // use flush accounting alone
	runs      uint64   // number of executions after which the exploration ends; 0: no limit
	by        string   // the oracle that finds the bug; "": any
	missed    bool     // the bug is not found
	surprise  bool     // of unseenBugs: it is found as a surprise
	byDefault bool     // explored without $FSWARD_PLANTED

	// Bugs above the file system: ops rewrites operations, and result rewrites their results.
	ops    func() rewrite
	result func(o agent.Op, r agent.Result) agent.Result
	after  func(o agent.Op, r agent.Result) agent.Result // of unseenBugs: result after a recovery

	// Bugs of the kernel: arguments of the module fsw_leaktest; "": it is not loaded.
	module string

	// Bugs of the disk: rules apply always, and recovery only during recovery. records rewrites the
	// log of its bios.
	rules, recovery []ramdisk.Rule
	records         func(list []ramdisk.Record) []ramdisk.Record

	// Bugs of the recovery: recover replaces it. spoil changes the recovered, unmounted device.
	recover func(e *explore.Env, c *component.Component) error
	spoil   func(e *explore.Env, device string) error
}

// A rewrite returns the operations that replace an operation.
type rewrite func(o agent.Op) []agent.Op

// mutated is a machine with a bug above it, or with rewritten bios.
type mutated struct {
	*machine.Machine
	*plant
	rewrite rewrite // nil: none
	top     *broken // for plant.after
}

// Do performs the rewritten operations, and returns a result for each original one: the first
// failure of its replacements, or the last result.
func (m *mutated) Do(ctx context.Context, b agent.Batch) (agent.Done, error) {
	given := b.Ops
	ends := make([]int, len(given))
	b.Ops = nil
	for i, o := range given {
		if m.rewrite == nil {
			b.Ops = append(b.Ops, o)
		} else {
			b.Ops = append(b.Ops, m.rewrite(o)...)
		}
		ends[i] = len(b.Ops)
	}
	done, err := m.Machine.Do(ctx, b)
	var results []agent.Result
	begin := 0
	for i, end := range ends {
		if begin >= len(done.Results) {
			break
		}
		part := done.Results[begin:min(end, len(done.Results))]
		r := part[len(part)-1]
		if j := slices.IndexFunc(part, func(r agent.Result) bool { return r.Errno != 0 }); j >= 0 {
			r = part[j]
		}
		if m.result != nil {
			r = m.result(given[i], r)
		}
		if m.after != nil && m.top.recovered {
			r = m.after(given[i], r)
		}
		results, begin = append(results, r), end
	}
	done.Results = results
	return done, err
}

// Records returns the bios as the disk rewrote them.
func (m *mutated) Records(ctx context.Context) ([]ramdisk.Record, error) {
	list, err := m.Machine.Records(ctx)
	if m.records != nil {
		list = m.records(list)
	}
	return list, err
}

// broken is a file system on a faulty disk, or with a faulty recovery.
type broken struct {
	*component.Component
	*plant
	recovered bool // a recovery came before the present mount
}

func (b *broken) Mount(e *explore.Env) error {
	ops := []agent.Op{agent.DiskClear(0)}
	rules := b.rules
	if b.recovered {
		rules = append(slices.Clone(rules), b.recovery...)
	}
	for _, r := range rules {
		ops = append(ops, agent.DiskInject(0, r))
	}
	if _, err := e.Do(ops...); err != nil {
		return err
	}
	return b.Component.Mount(e)
}

func (b *broken) Recover(e *explore.Env) error {
	b.recovered = true
	if b.recover != nil {
		return b.recover(e, b.Component)
	}
	return b.Component.Recover(e)
}

func (b *broken) Unmount(e *explore.Env) error {
	after := b.recovered
	b.recovered = false
	if err := b.Component.Unmount(e); err != nil || b.spoil == nil || !after {
		return err
	}
	return b.spoil(e, b.On[0].Path())
}

// unwatch makes a checker look at the tree after crashes only. A bug above the file system that
// delays an operation would show before, which one below it would not.
func unwatch(c explore.Checker) {
	switch c := c.(type) {
	case *checkers.Sync:
		c.Watched = false
	case *checkers.Reasonable:
		c.Watched = false
	case *checkers.Recovery:
		c.Watched = false
	}
}

// foundBy names the oracle that found an error.
func foundBy(e *explore.Error) string {
	switch {
	case strings.HasPrefix(e.Kind, "not flushed: "):
		return "flush accounting"
	case strings.HasPrefix(e.Kind, "kernel: ") || e.Kind == string(guest.Panicked) ||
		e.Kind == "mount left" || e.Kind == "hang":
		return "kernel"
	case e.Kind == "not repaired" || e.Kind == "recoveries differ":
		return "fsck"
	case e.Property == explore.Committed:
		return "last commit"
	case e.Property == explore.Invariant:
		return "invariants"
	case e.Property == explore.Recovered:
		return "recovery"
	case e.Crash != nil:
		return "checker, after a crash"
	}
	return "checker, without a crash"
}

// TestGuestPlanted checks that bugs planted above and below ext3 in a guest are found, and that no
// error is found without a bug. It logs how long each took. By default a few bugs are planted.
// $FSWARD_PLANTED is a regular expression that selects bugs; "." selects all.
func TestGuestPlanted(t *testing.T) {
	inGuest(t, 55*time.Minute, func(ctx context.Context, m *machine.Machine) error {
		run := func(p *plant) bool { return p.byDefault }
		if which := os.Getenv("FSWARD_PLANTED"); which != "" {
			re, err := regexp.Compile(which)
			if err != nil {
				t.Fatal(err)
			}
			run = func(p *plant) bool { return re.MatchString(p.String()) }
		}
		clean, err := m.Save(ctx)
		if err != nil {
			return err
		}
		for _, p := range plants {
			if !run(&p) {
				continue
			}
			if err := m.Load(ctx, clean); err != nil { // each bug starts from a clean guest
				return err
			}
			if err := p.find(ctx, t, m); err != nil {
				t.Errorf("%v: %v", &p, err)
			}
		}
		if err := m.Load(ctx, clean); err != nil {
			return err
		}
		return findChoice(ctx, t, m)
	})
}

func (p *plant) String() string { return cmp.Or(p.bug, "no bug") + ", " + p.how() }

// how describes how the explorer looks for the bug.
func (p *plant) how() string {
	s := p.checker
	if p.run.Depth > 1 {
		s += fmt.Sprintf(", depth %d", p.run.Depth)
	}
	if p.mount != "" {
		s += ", -o " + p.mount
	}
	if p.account {
		s += ", flush accounting alone"
	}
	if p.run.Recovery {
		s += ", crashes during recovery"
	}
	if p.run.Verify {
		s += ", double fsck"
	}
	return s
}

// find explores ext3 with the bug up to the first error.
func (p *plant) find(ctx context.Context, t *testing.T, m *machine.Machine) error {
	r := p.run
	var err error
	if r.Spec, err = spec.FileSystem("ext3", p.mount, "", p.checker, ""); err != nil {
		return err
	}
	r.Strategy, r.Depth, r.Limit, r.NoJudge = explore.Cover, max(r.Depth, 1), 6, p.account
	cfg, err := r.Config()
	if err != nil {
		return err
	}
	ext3 := cfg.Stack.Top.(*component.Component)
	limits := checkers.Limits{}
	if r.Depth > 1 { // one file has few states
		limits.Files, limits.Dirs, ext3.Promises.NoSymlinks = 1, -1, true
		if strings.Contains(p.module, "vfs_link") {
			limits.Files = 2 // a link is another name
		}
	}
	top := &broken{Component: ext3, plant: p}
	cfg.Stack.Top = top
	if cfg.Stack.Checker, err = checkers.New(p.checker, top, ext3.Promises, limits); err != nil {
		return err
	}
	system := &mutated{Machine: m, plant: p}
	if p.ops != nil {
		system.rewrite = p.ops()
		unwatch(cfg.Stack.Checker)
	}
	if p.module != "" {
		args := append([]string{"insmod", "/fsward/fsw_leaktest.ko"}, strings.Fields(p.module)...)
		exit, err := m.Run(ctx, agent.Command{Args: args, Timeout: time.Minute})
		if err != nil || exit.Code != 0 {
			return fmt.Errorf("%v: %s, %w", args, exit.Stderr, err)
		}
	}
	untilError, stop := context.WithCancel(ctx)
	defer stop()
	cfg.System, cfg.Dir, cfg.Runs, cfg.HostOnly = system, t.TempDir(), p.runs, p.account
	cfg.OnEvent = func(e explore.Event) {
		if e.Event == "error" {
			stop()
		}
	}
	sum, err := explore.Run(untilError, cfg)
	if err != nil {
		return err
	}
	p.report(t, &sum)
	return nil
}

// report checks that the bug was found as expected, and logs the rows of the table in
// docs/results/planted.md.
func (p *plant) report(t *testing.T, sum *explore.Summary) {
	t.Helper()
	row := func(by, what string, seconds float64) {
		t.Logf("| %s | %s | %s | %.60s | %d | %d | %.1f |", cmp.Or(p.bug, "none"), p.how(), by, what,
			sum.Runs, sum.CrashStates, seconds)
	}
	whole := sum.Complete || p.runs > 0 && sum.Runs >= p.runs
	if found := len(sum.Errors) > 0; found != (p.bug != "" && !p.missed) || !found && !whole ||
		p.bug == "" && sum.Diverged > 0 {
		t.Errorf("%v: %d errors; %+v", p, len(sum.Errors), sum.Totals)
	}
	if len(sum.Errors) == 0 {
		row("–", "–", sum.Seconds)
	}
	for _, e := range sum.Errors {
		what := e.Kind
		if e.Property != "" && e.Property != explore.Invariant && e.Property != explore.Recovered {
			what = e.Property + ": " + what
		}
		row(foundBy(&e), what, e.Seconds)
		t.Logf("%.300s", e.Summary)
		if p.by != "" && p.by != foundBy(&e) {
			t.Errorf("%v: found by %s, want %s", p, foundBy(&e), p.by)
		}
	}
}
