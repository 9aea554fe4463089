//go:build vmtest

package host

import (
	"context"
	"testing"
	"time"

	"fsward/explore"
	"fsward/explore/machine"
	"fsward/explore/spec"
)

// TestGuestStack fetches the packages of a stack, and explores a step of it. RCS does not wait for
// the disk, so that a crash loses the last revision.
func TestGuestStack(t *testing.T) { findsIn(t, "rcs", nil, "a revision is gone") }

// TestGuestStackOfFailingDisks explores RAID of which two disks fail at once. RAID5 fails, and
// RAID6 loses nothing.
func TestGuestStackOfFailingDisks(t *testing.T) {
	findsIn(t, "raid-errors", map[string]string{"level": "raid5"}, "the array has failed")
	findsIn(t, "raid-errors", nil, "")
}

// TestGuestStackOfCache explores a disk behind a cache. What nothing flushed is gone after a crash.
func TestGuestStackOfCache(t *testing.T) {
	findsIn(t, "cache", map[string]string{"cache": "dm-writecache", "flush": "left-out"},
		"a flushed block is gone")
}

// findsIn explores a step of a stack with values of its parameters, in a guest. found is the kind
// of all errors; "": there is none.
func findsIn(t *testing.T, stack string, values map[string]string, found string) {
	t.Helper()
	s, err := spec.Load(stack)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range values {
		if err := s.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	needs, err := s.AllNeeds()
	if err != nil {
		t.Fatal(err)
	}
	inGuestWith(t, 4*time.Minute, needs, func(ctx context.Context, m *machine.Machine) error {
		cfg, err := spec.Run{Spec: s, Depth: 1, Limit: 2}.Config()
		if err != nil {
			return err
		}
		cfg.System, cfg.Dir = m, t.TempDir()
		sum, err := explore.Run(ctx, cfg)
		if err != nil {
			return err
		}
		t.Logf("%s %v: %d crash states, errors %+v", stack, values, sum.CrashStates, sum.Errors)
		if (len(sum.Errors) == 0) != (found == "") || sum.CrashStates == 0 {
			t.Errorf("want %q", found)
		}
		for _, e := range sum.Errors {
			if e.Kind != found {
				t.Errorf("found %q, want %q", e.Kind, found)
			}
		}
		return nil
	})
}
