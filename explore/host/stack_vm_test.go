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
func TestGuestStack(t *testing.T) {
	s, err := spec.Load("rcs")
	if err != nil {
		t.Fatal(err)
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
		if len(sum.Errors) != 1 || sum.Errors[0].Kind != "a revision is gone" {
			t.Errorf("%d crash states, errors %+v", sum.CrashStates, sum.Errors)
		}
		return nil
	})
}
