package model_test

import (
	"fmt"
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
	for script, allowed := range map[string]bool{
		"mkdir /d; creat /d/f; fsync /":               false,
		"mkdir /d; fdatasync /d; creat /d/f; fsync /": true,
	} {
		f := after(t, entries, script)
		if err := f.Allowed(after(t, trees, "mkdir /d").Observed()); (err == nil) != allowed {
			t.Errorf("%s: %v", script, err)
		}
		if err := f.Allowed(after(t, trees, "").Observed()); err == nil {
			t.Errorf("%s: the directory may be lost", script)
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

// TestFsyncOfARemovedFile checks that fsync of a file without names promises nothing of a name that
// it had, unless the file system keeps the order of all changes.
func TestFsyncOfARemovedFile(t *testing.T) {
	for _, c := range []struct {
		promises model.Promises
		allowed  bool
	}{{trees, true}, {posix, true}, {journal, false}} {
		f, old := after(t, c.promises, "creat /f; sync"), after(t, c.promises, "creat /f; sync")
		apply(t, f, model.Op{Code: model.Open, Path: "/f", Slot: agent.FirstHeld, Flags: unix.O_RDWR})
		apply(t, f, script(t, "unlink /f")...)
		apply(t, f, model.Op{Code: model.Write, Slot: agent.FirstHeld, Len: 10, Seed: 1},
			model.Op{Code: model.Fsync, Slot: agent.FirstHeld})
		if bad := f.Allowed(old.Observed()); (bad == nil) != c.allowed {
			t.Errorf("%+v: %v", c.promises, bad)
		}
	}
}

// TestFsyncOfARemovedDirectory checks the same for a directory.
func TestFsyncOfARemovedDirectory(t *testing.T) {
	for _, c := range []struct {
		promises model.Promises
		allowed  bool
	}{{trees, true}, {posix, true}, {journal, false}} {
		f, old := after(t, c.promises, "mkdir /d; sync"), after(t, c.promises, "mkdir /d; sync")
		apply(t, f, model.Op{Code: model.Open, Path: "/d", Slot: agent.FirstHeld})
		apply(t, f, script(t, "rmdir /d")...)
		apply(t, f, model.Op{Code: model.Fsync, Slot: agent.FirstHeld})
		if bad := f.Allowed(old.Observed()); (bad == nil) != c.allowed {
			t.Errorf("%+v: %v", c.promises, bad)
		}
	}
}

// TestFallocateKeepsNoWrite: fallocate(2) makes no earlier write to the file durable. Its own range
// may become the size on the disk, and its zeros are durable in whole blocks only.
func TestFallocateKeepsNoWrite(t *testing.T) {
	const keep, zero = unix.FALLOC_FL_KEEP_SIZE, unix.FALLOC_FL_ZERO_RANGE
	ext4 := journal
	ext4.Features = []model.Feature{model.ZeroRange}
	fallocate := func(f *model.FS, mode int, off, n uint64) {
		apply(t, f, model.Op{Code: model.Open, Path: "/f", Flags: unix.O_RDWR},
			model.Op{Code: model.Fallocate, Flags: mode, Off: off, Len: n}, model.Op{Code: model.Close})
	}
	for _, c := range []struct {
		mode     int
		off, len uint64
		left     string // beside g
		allowed  bool
	}{
		{zero, 0, 5000, "creat /f; truncate /f 5000", true}, // ext4: i_disksize
		{zero | keep, 0, 5000, "creat /f; truncate /f 5000", true},
		{keep, 0, 5000, "creat /f; truncate /f 5000", false},
		{zero, 0, 5000, "creat /f; truncate /f 4096", true}, // the first page was written
		{zero, 0, 5000, "creat /f; truncate /f 5001", false},
		{zero, 0, 5000, "creat /f; write /f 1 8192", false}, // the first block is zeros
		{zero, 100, 5000, "creat /f; write /f 1 8192", true},
		{0, 0, 9000, "creat /f; truncate /f 9000", true},
		{0, 0, 9000, "creat /f; truncate /f 8192", false}, // the size is of the metadata
	} {
		f := after(t, ext4, "creat /f; sync; write /f 1 8192")
		fallocate(f, c.mode, c.off, c.len)
		apply(t, f, script(t, "creat /g; fsync /g")...)
		left := after(t, journal, c.left+"; creat /g").Observed()
		if err := f.Allowed(left); (err == nil) != c.allowed {
			t.Errorf("mode %d of %d bytes at %d leaves %s: %v", c.mode, c.len, c.off, c.left, err)
		}
	}
}

// TestMsyncKeepsItsRange: msync(2) makes its range durable, and no page after it.
func TestMsyncKeepsItsRange(t *testing.T) {
	f := after(t, journal, "creat /f; sync; write /f 1 8192")
	apply(t, f, model.Op{Code: model.Open, Path: "/f", Flags: unix.O_RDWR},
		model.Op{Code: model.Msync, Len: 4096}, model.Op{Code: model.Close})
	for left, allowed := range map[string]bool{
		"creat /f; write /f 1 8192": true,
		"creat /f; write /f 1 4096": true,
		"creat /f; write /f 1 2048": false,
		"creat /f; write /f 2 8192": false,
	} {
		if err := f.Allowed(after(t, journal, left).Observed()); (err == nil) != allowed {
			t.Errorf("%s: %v", left, err)
		}
	}
}

// TestContentOfAnotherFile: a file may have an older content, which was not read because another
// file has the same now.
func TestContentOfAnotherFile(t *testing.T) {
	f := after(t, journal, "creat /f; sync; write /f 1 8192")
	apply(t, f, model.Op{Code: model.Open, Path: "/f", Flags: unix.O_RDWR},
		model.Op{Code: model.Fallocate, Flags: unix.FALLOC_FL_KEEP_SIZE, Off: 8192, Len: 8192},
		model.Op{Code: model.Close})
	apply(t, f, script(t, "creat /g; fsync /g")...)
	left, err := model.Look(lookAt(after(t, journal, "creat /f; creat /g")), "/", f)
	if err == nil {
		err = f.Allowed(left)
	}
	if err != nil {
		t.Error(err)
	}
}

// lookAt answers operations that read the tree of a model without extended attributes. It refuses
// to read contents.
func lookAt(f *model.FS) model.Perform {
	return func(ops ...agent.Op) (out []agent.Result, err error) {
		for _, o := range ops {
			switch {
			case o.ReadsTree():
				out = append(out, agent.Result{Data: agent.EncodeTree(f.Observed().Entries())})
			case o.Code == agent.Listxattr("").Code:
				out = append(out, agent.Result{})
			default:
				return nil, fmt.Errorf("%v is not needed", o)
			}
		}
		return out, nil
	}
}
