package model_test

import (
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/model"
)

// apply performs operations that must succeed.
func apply(t *testing.T, f *model.FS, ops ...model.Op) {
	t.Helper()
	for _, o := range ops {
		if r := f.Apply(o); r.Errno != 0 {
			t.Fatalf("%v: %v", o, r.Errno)
		}
	}
}

// TestSyncedRange: msync makes the data of its range durable, and no other.
func TestSyncedRange(t *testing.T) {
	for name, p := range map[string]model.Promises{"posix": posix, "ext4": journal, "btrfs": trees} {
		f := after(t, p, "creat /f; write /f 1 8192; sync")
		apply(t, f, model.Op{Code: model.Open, Path: "/f", Flags: unix.O_RDWR},
			model.Op{Code: model.Mmapwrite, Len: 8192, Seed: 2},
			model.Op{Code: model.Msync, Off: 4096, Len: 4096})
		for _, c := range []struct {
			first, second string
			allowed       bool
		}{{"1", "2", true}, {"2", "2", true}, {"2", "1", false}, {"1", "1", false}} {
			left := after(t, p, "creat /f; write /f "+c.second+" 8192; write /f "+c.first+" 4096")
			if err := f.Allowed(left.Observed()); (err == nil) != c.allowed {
				t.Errorf("%s, a crash leaves %s and then %s: %v", name, c.first, c.second, err)
			}
		}
	}
}

// TestTruncateKeepsNoWrite: a durable truncate(2) makes no earlier write to the file durable.
func TestTruncateKeepsNoWrite(t *testing.T) {
	f := after(t, journal, "creat /f; sync; write /f 1 8192; truncate /f 6000; creat /g; fsync /g")
	for script, allowed := range map[string]bool{
		"creat /f; truncate /f 6000; creat /g":                  true, // delayed allocation
		"creat /f; write /f 1 8192; truncate /f 6000; creat /g": true,
		"creat /f; creat /g":                                    false, // the size is of the metadata
		"creat /f; write /f 2 6000; creat /g":                   false,
	} {
		if err := f.Allowed(after(t, journal, script).Observed()); (err == nil) != allowed {
			t.Errorf("%s: %v", script, err)
		}
	}
}

// TestFsyncEntries: with the promise, fsync of a directory keeps the new files in it and below, and
// without it, it keeps none that was not forced to the disk.
func TestFsyncEntries(t *testing.T) {
	const made = "mkdir /d; sync; creat /d/f; mkdir /d/e; creat /d/e/g; fsync /d"
	entries := trees
	entries.FsyncEntries = true
	for left, missing := range map[string]bool{
		"mkdir /d; creat /d/f; mkdir /d/e; creat /d/e/g": false,
		"mkdir /d; mkdir /d/e; creat /d/e/g":             true,
		"mkdir /d; creat /d/f; mkdir /d/e":               true,
	} {
		is := after(t, trees, left).Observed()
		if err := after(t, entries, made).Allowed(is); (err != nil) != missing {
			t.Errorf("with the promise, %s: %v", left, err)
		}
		if err := after(t, trees, made).Allowed(is); err != nil {
			t.Errorf("without the promise, %s: %v", left, err)
		}
	}
}

// TestHeld: a file in a held slot outlasts CloseAll, is part of the signature, and can be written
// when its name is gone.
func TestHeld(t *testing.T) {
	f, g := after(t, posix, "creat /f; sync"), after(t, posix, "creat /f; sync")
	open := model.Op{Code: model.Open, Path: "/f", Slot: agent.FirstHeld, Flags: unix.O_RDWR}
	apply(t, f, open)
	f.CloseAll()
	if string(f.Signature()) == string(g.Signature()) {
		t.Error("a held file is not part of the signature")
	}
	if held := f.Held(); held[agent.FirstHeld] != "/f" || len(held) != 1 {
		t.Errorf("held: %v", held)
	}
	apply(t, f, script(t, "unlink /f")...)
	apply(t, f, model.Op{Code: model.Write, Slot: agent.FirstHeld, Len: 10, Seed: 1},
		model.Op{Code: model.Fsync, Slot: agent.FirstHeld})
	f.CloseHeld()
	if r := f.Apply(model.Op{Code: model.Fsync, Slot: agent.FirstHeld}); r.Errno != unix.EBADF {
		t.Errorf("fsync of a closed slot: %v", r.Errno)
	}
}
