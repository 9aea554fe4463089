package model_test

import (
	"slices"
	"testing"

	"fsward/explore/model"
	"fsward/explore/modeltest"
)

// TestSurprises checks that each surprise is found where it should be, in a tree that is allowed,
// and none in others.
func TestSurprises(t *testing.T) {
	const replace = "creat /f; write /f 1; sync; creat /g; write /g 2; rename /g /f"
	for _, c := range []struct {
		name, done, found, kind string
		promises                model.Promises
	}{
		{"the old file", replace, "creat /f; write /f 1", "", posix},
		{"the new file", replace, "creat /f; write /f 2", "", posix},
		{"no file", replace, "", model.NeitherOldNorNew, posix},
		{"an empty file", replace, "creat /f", model.EmptyFile, posix},
		{"half of the new file", replace, "creat /f; write /f 2 4096", model.NeitherOldNorNew, posix},
		{"a new file is empty", "creat /f; write /f 1", "creat /f", "", posix},
		{"other data", "creat /f; write /f 1", "creat /f; write /f 9", model.StaleData, posix},
		{"zeros", "creat /f; write /f 1", "creat /f; truncate /f 8192", "", posix},
		{"a renamed file is gone", "creat /f; write /f 1; sync; rename /f /g", "",
			model.RenamedGone, posix},
		{"a removed file is gone", "creat /f; write /f 1; sync; unlink /f", "", "", posix},
		{"a renamed file is under its old name", "creat /f; write /f 1; sync; rename /f /g",
			"creat /f; write /f 1", "", posix},
		{"its directory has its old name", "mkdir /A; creat /b; rename /b /A/b; creat /g; fsync /g; " +
			"rename /A /B", "mkdir /A; creat /A/b; creat /g", "", journal},
		{"its directory was renamed, and it is gone", "mkdir /A; creat /b; write /b 1; rename /b /A/b; " +
			"sync; rename /A /B; rename /B/b /c", "mkdir /A", model.RenamedGone, posix},
		{"another directory has the name of its directory", "mkdir /A; creat /A/f; write /A/f 1; sync; " +
			"rename /A /B; mkdir /A; creat /A/f; write /A/f 2", "mkdir /A; creat /A/f; write /A/f 1", "",
			posix},
		{"a replaced file in a directory with its old name", "mkdir /A; creat /A/f; write /A/f 1; " +
			"sync; creat /A/g; write /A/g 2; rename /A/g /A/f; rename /A /B", "mkdir /A",
			model.NeitherOldNorNew, posix},
		{"fsync of a new file alone", "creat /f; write /f 1; fsync /f", "", model.FsyncedAbsent, posix},
		{"a new file without fsync", "creat /f; write /f 1", "", "", posix},
	} {
		f, s := after(t, c.promises, c.done), after(t, c.promises, c.found).Observed()
		if err := f.Allowed(s); err != nil {
			t.Errorf("%s: not allowed: %v", c.name, err)
			continue
		}
		got := f.Surprises(s)
		if c.kind == "" && len(got) > 0 || c.kind != "" && (len(got) == 0 || got[0].Kind != c.kind) {
			t.Errorf("%s: %+v, want %q", c.name, got, c.kind)
		}
	}
}

// TestNoSurpriseBefore checks that the tree that the last sync or fsync left is never a surprise,
// whatever was done since.
func TestNoSurpriseBefore(t *testing.T) {
	persisting := []model.Code{model.Sync, model.Syncfs, model.Fsync, model.Fdatasync, model.Msync}
	tried := 0
	for i, p := range []model.Promises{posix, journal, trees, synced} {
		for seed := range uint64(200) {
			f, g := model.New(p), modeltest.NewGenerator(seed)
			for range 40 {
				f.Apply(g.Op())
			}
			persist := script(t, "sync")
			if seed%2 == 1 {
				persist = script(t, "creat /new; fsync /new")
			}
			apply(t, f, persist...)
			at := f.Observed()
			var done []string
			for range 12 {
				op := g.Op()
				if slices.Contains(persisting, op.Code) {
					continue
				}
				done = append(done, op.String())
				if f.Apply(op); f.Allowed(at) != nil {
					break
				}
				tried++
				if got := f.Surprises(at); len(got) > 0 {
					t.Fatalf("promises %d, seed %d, after %s: %+v", i, seed, done, got)
				}
			}
		}
	}
	if tried < 1000 {
		t.Errorf("tried only %d trees", tried)
	}
}

// TestNoSurpriseNow checks that the current tree is never a surprise.
func TestNoSurpriseNow(t *testing.T) {
	for i, p := range []model.Promises{posix, journal, trees, synced} {
		for seed := range uint64(10) {
			f := model.New(p)
			g := modeltest.NewGenerator(seed)
			for n := range 200 {
				if f.Apply(g.Op()); n%10 != 0 {
					continue
				}
				if got := f.Surprises(f.Observed()); len(got) > 0 {
					t.Fatalf("promises %d, seed %d, operation %d: %+v", i, seed, n, got)
				}
			}
		}
	}
}
