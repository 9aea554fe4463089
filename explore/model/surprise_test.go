package model_test

import (
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
