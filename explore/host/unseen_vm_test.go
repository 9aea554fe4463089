//go:build vmtest

package host

import (
	"cmp"
	"context"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"fsward/explore"
	"fsward/explore/component"
	"fsward/explore/machine"
	"fsward/explore/spec"
)

// TestGuestUnseen explores for each of unseenBugs with the defaults of fsward explore run, as a
// user would who knows nothing of it. $FSWARD_UNSEEN is a regular expression that selects them, and
// $FSWARD_UNSEEN_TIME the time for each. With other --ops in $FSWARD_UNSEEN_OPS there are also one
// file, no directory, and two crash states at a moment, for a loaded machine. By default it does
// nothing: the search takes minutes.
func TestGuestUnseen(t *testing.T) {
	which := os.Getenv("FSWARD_UNSEEN")
	if which == "" {
		t.Skip("$FSWARD_UNSEEN selects no bugs")
	}
	re := regexp.MustCompile(which)
	limit, err := time.ParseDuration(cmp.Or(os.Getenv("FSWARD_UNSEEN_TIME"), "3m"))
	if err != nil {
		t.Fatal(err)
	}
	inGuest(t, 9*time.Minute, func(ctx context.Context, m *machine.Machine) error {
		clean, err := m.Save(ctx)
		if err != nil {
			return err
		}
		for _, p := range unseenBugs {
			if !re.MatchString(p.bug) {
				continue
			}
			if err := m.Load(ctx, clean); err != nil {
				return err
			}
			if err := p.findUnseen(ctx, t, m, limit); err != nil {
				t.Errorf("%s: %v", p.bug, err)
			}
		}
		return m.Forget(ctx, clean)
	})
}

// findUnseen explores with the defaults, up to the first error or surprise.
func (p *plant) findUnseen(ctx context.Context, t *testing.T, m *machine.Machine,
	limit time.Duration) error {
	p.checker, p.fs = cmp.Or(p.checker, "sync"), cmp.Or(p.fs, "ext4")
	r := spec.Run{Strategy: explore.Cover, Limit: 64, Seed: 1, Files: 2, Dirs: 2,
		Operations: spec.AutoOperations}
	if ops := os.Getenv("FSWARD_UNSEEN_OPS"); ops != "" {
		r.Operations, r.Files, r.Dirs, r.Limit = ops, 1, -1, 2
	}
	var err error
	if r.Spec, err = spec.FileSystem(p.fs, p.mount, p.mkfs, p.checker, ""); err != nil {
		return err
	}
	cfg, err := r.Config()
	if err != nil {
		return err
	}
	top := &broken{Component: cfg.Stack.Top.(*component.Component), plant: p}
	cfg.Stack.Top = top
	system := &mutated{Machine: m, plant: p, top: top}
	if p.ops != nil {
		system.rewrite = p.ops()
		unwatch(cfg.Stack.Checker)
	}
	until, stop := context.WithTimeout(ctx, limit)
	defer stop()
	cfg.System, cfg.Dir = system, t.TempDir()
	cfg.OnEvent = func(e explore.Event) {
		if e.Event == "error" || e.Event == "surprise" && p.surprise {
			stop()
		}
	}
	sum, err := explore.Run(until, cfg)
	if err != nil {
		return err
	}
	by, what, seconds := "–", "–", sum.Seconds
	if i := slices.IndexFunc(sum.Errors, func(e explore.Error) bool {
		return !e.Surprise || p.surprise
	}); i >= 0 {
		e := sum.Errors[i]
		by, what, seconds = foundBy(&e), e.Kind, e.Seconds
		t.Logf("%.400s", e.Summary)
	}
	t.Logf("ROW | %s | %s | %s | %s | %s | %d | %d | %.1f |", p.bug, p.fs, p.checker, by, what,
		sum.Runs, sum.CrashStates, seconds)
	return nil
}
