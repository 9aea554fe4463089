package model_test

import (
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore/model"
)

// The promises of the file systems in the tests.
var (
	posix   = model.Promises{}
	ordered = model.Promises{Ordered: true, AtomicRename: true, Data: model.Versions}
	journal = model.Promises{Ordered: true, AtomicRename: true, Data: model.Zeros}    // ext4
	trees   = model.Promises{FsyncNames: true, AtomicRename: true, Data: model.Zeros} // Btrfs
	synced  = model.Promises{Sync: true}
	noSync  = model.Promises{NoSync: true}
	dirsync = model.Promises{Dirsync: true}
	// NILFS2
	alone = model.Promises{Ordered: true, FsyncAlone: true, AtomicRename: true, Data: model.Zeros}
)

// script parses a test script: operations separated by ";", such as "creat /f; write /f 1; sync".
func script(t testing.TB, text string) (out []model.Op) {
	t.Helper()
	for line := range strings.SplitSeq(text, ";") {
		if words := strings.Fields(line); len(words) > 0 {
			out = append(out, scriptLine(t, append(words, "", "", ""))...)
		}
	}
	return out
}

// scriptLine returns the operations of one line: the words of it, and three empty ones.
func scriptLine(t testing.TB, w []string) []model.Op {
	t.Helper()
	one := func(o model.Op) []model.Op { return []model.Op{o} }
	switch w[0] {
	case "mkdir":
		return one(model.Op{Code: model.Mkdir, Path: w[1], Mode: 0o755})
	case "rmdir":
		return one(model.Op{Code: model.Rmdir, Path: w[1]})
	case "unlink":
		return one(model.Op{Code: model.Unlink, Path: w[1]})
	case "rename":
		return one(model.Op{Code: model.Rename, Path: w[1], To: w[2]})
	case "exchange":
		return one(model.Op{Code: model.Rename, Path: w[1], To: w[2], Flags: unix.RENAME_EXCHANGE})
	case "link":
		return one(model.Op{Code: model.Link, Path: w[1], To: w[2]})
	case "symlink":
		return one(model.Op{Code: model.Symlink, Path: w[1], To: w[2]})
	case "chmod":
		return one(model.Op{Code: model.Chmod, Path: w[1], Mode: uint32(number(t, w[2]))})
	case "setxattr":
		return one(model.Op{Code: model.Setxattr, Path: w[1], Name: "user.x", Value: w[2]})
	case "truncate":
		return one(model.Op{Code: model.Truncate, Path: w[1], Len: number(t, w[2])})
	case "sync":
		return one(model.Op{Code: model.Sync})
	case "creat":
		return opened(w[1], unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY, model.Op{Code: model.Ftruncate})
	case "fsync":
		return opened(w[1], 0, model.Op{Code: model.Fsync})
	case "fdatasync":
		return opened(w[1], 0, model.Op{Code: model.Fdatasync})
	case "syncfs":
		return opened(w[1], 0, model.Op{Code: model.Syncfs})
	case "write", "osync", "odsync": // path, seed, and length: 8192 bytes if it is left out
		flags := map[string]int{"osync": unix.O_SYNC, "odsync": unix.O_DSYNC}[w[0]]
		n := uint64(8192)
		if w[3] != "" {
			n = number(t, w[3])
		}
		return opened(w[1], unix.O_WRONLY|flags,
			model.Op{Code: model.Write, Len: n, Seed: number(t, w[2])})
	}
	t.Fatalf("no operation %q", w[0])
	return nil
}

func number(t testing.TB, s string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// opened opens a file, performs an operation on it, and closes it.
func opened(path string, flags int, o model.Op) []model.Op {
	return []model.Op{
		{Code: model.Open, Path: path, Flags: flags, Mode: 0o644}, o, {Code: model.Close},
	}
}

// after returns a file system after the operations of a script.
func after(t testing.TB, p model.Promises, text string) *model.FS {
	t.Helper()
	f := model.New(p)
	for _, o := range script(t, text) {
		if r := f.Apply(o); r.Errno != 0 {
			t.Fatalf("%v: %v", o, r.Errno)
		}
	}
	return f
}
