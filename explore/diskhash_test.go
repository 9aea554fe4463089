package explore_test

import (
	"context"
	"testing"

	"fsward/explore"
)

// An alike checker puts up to two keys in each step, and says that all states are equal.
type alike struct{ explore.Plain }

func (alike) Mutate(e *explore.Env) error {
	for _, key := range []string{"0", "1"} {
		if e.Choose(2) == 0 {
			continue
		}
		if _, err := e.Run("toy", "put", key, "7"); err != nil {
			return err
		}
	}
	_, err := e.Run("toy", "sync")
	return err
}

func (alike) Check(*explore.Env, explore.Crash) error { return nil }

func (alike) Signature(*explore.Env) ([]byte, error) { return []byte("equal"), nil }

// TestHashDisks checks that with HashDisks, states with equal signatures and other disks are
// different: neither key, one of them, or both are on the disk. The first state has no hash, and
// counts, too. Without HashDisks all are one state.
func TestHashDisks(t *testing.T) {
	for hash, want := range map[bool]uint64{false: 1, true: 5} {
		cfg := toy(t, "", 2, 1)
		cfg.Stack.Checker, cfg.Depth, cfg.HashDisks = alike{}, 3, hash
		ignoreShell(cfg)
		sum, err := explore.Run(context.Background(), cfg)
		if err != nil || !sum.Complete || sum.Diverged != 0 {
			t.Fatalf("hash %v: %+v, %v", hash, sum, err)
		}
		if sum.States != want {
			t.Errorf("hash %v: %d states, want %d", hash, sum.States, want)
		}
	}
}
