package explore_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"fsward/explore"
)

// What a guard of a disk would refuse is an error beside those of crashes, which has a folder and replays; a stack without guarded disks needs no
// guard, and one with them does.
func TestGuarded(t *testing.T) {
	for _, guarded := range []bool{false, true} {
		cfg := toy(t, "", 2, 1)
		disk := cfg.Stack.Disks()[0]
		disk.Guarded = guarded
		asked := 0
		cfg.Guard = func(_ context.Context, disks []explore.Recorded) (*explore.Found, error) {
			asked++
			if len(disks) != 1 || disks[0].Name != disk.Path() {
				t.Fatalf("%+v", disks)
			}
			base, err := os.Stat(disks[0].Base)
			if err != nil || uint64(base.Size()) != disk.Bytes {
				t.Fatalf("%+v, %v", base, err)
			}
			log, err := os.Stat(disks[0].Log)
			if err != nil {
				return nil, err
			}
			if log.Size() > 3000 { // some writes
				return &explore.Found{Kind: "refused: 1", Text: "too much"}, nil
			}
			return nil, nil
		}
		got, err := explore.Run(context.Background(), cfg)
		if err != nil || !got.Complete {
			t.Fatal(err)
		}
		if (asked > 0) != guarded || (len(got.Errors) == 1) != guarded {
			t.Errorf("guarded %t: asked %d times; %+v", guarded, asked, got.Errors)
		}
		for _, e := range got.Errors {
			e, err := explore.ReadError(filepath.Join(cfg.Dir, e.Dir))
			if err != nil {
				t.Fatal(err)
			}
			if found, err := explore.Replay(context.Background(), cfg, e); err != nil || found == nil || found.Kind != "refused: 1" {
				t.Errorf("replayed: %v, %v", found, err)
			}
		}
	}
	cfg := toy(t, "", 1, 1)
	cfg.Stack.Disks()[0].Guarded = true
	if _, err := explore.Run(context.Background(), cfg); err == nil {
		t.Error("a guarded disk without a guard")
	}
}
