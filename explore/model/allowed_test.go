package model_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/model"
)

var (
	posix   = model.Promises{}
	journal = model.Promises{Ordered: true, AtomicRename: true, Data: model.Zeros}                   // ext4
	alone   = model.Promises{Ordered: true, FsyncAlone: true, AtomicRename: true, Data: model.Zeros} // NILFS2
	ordered = model.Promises{Ordered: true, AtomicRename: true, Data: model.Versions}
	trees   = model.Promises{FsyncNames: true, AtomicRename: true, Data: model.Zeros} // btrfs
	synced  = model.Promises{Sync: true}
	dirsync = model.Promises{Dirsync: true}
)

// script reads operations, apart by ";": a line of a language for tests.
func script(t testing.TB, text string) (out []model.Op) {
	t.Helper()
	for line := range strings.SplitSeq(text, ";") {
		w := strings.Fields(line)
		if len(w) == 0 {
			continue
		}
		w = append(w, "", "", "")
		number := func(s string) uint64 {
			n, err := strconv.ParseUint(s, 10, 64)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			return n
		}
		open := func(flags int) {
			out = append(out, model.Op{Code: model.Open, Path: w[1], Flags: flags, Mode: 0o644})
		}
		closed := func(o model.Op) { out = append(out, o, model.Op{Code: model.Close}) }
		switch w[0] {
		case "mkdir":
			out = append(out, model.Op{Code: model.Mkdir, Path: w[1], Mode: 0o755})
		case "rmdir":
			out = append(out, model.Op{Code: model.Rmdir, Path: w[1]})
		case "unlink":
			out = append(out, model.Op{Code: model.Unlink, Path: w[1]})
		case "rename":
			out = append(out, model.Op{Code: model.Rename, Path: w[1], To: w[2]})
		case "exchange":
			out = append(out, model.Op{Code: model.Rename, Path: w[1], To: w[2], Flags: unix.RENAME_EXCHANGE})
		case "link":
			out = append(out, model.Op{Code: model.Link, Path: w[1], To: w[2]})
		case "symlink":
			out = append(out, model.Op{Code: model.Symlink, Path: w[1], To: w[2]})
		case "chmod":
			out = append(out, model.Op{Code: model.Chmod, Path: w[1], Mode: uint32(number(w[2]))})
		case "setxattr":
			out = append(out, model.Op{Code: model.Setxattr, Path: w[1], Name: "user.x", Value: w[2]})
		case "truncate":
			out = append(out, model.Op{Code: model.Truncate, Path: w[1], Len: number(w[2])})
		case "creat":
			open(unix.O_CREAT | unix.O_EXCL | unix.O_WRONLY)
			closed(model.Op{Code: model.Ftruncate})
		case "write", "osync", "odsync": // path seed, at offset 0, 8192 bytes unless told
			open(unix.O_WRONLY | map[string]int{"osync": unix.O_SYNC, "odsync": unix.O_DSYNC}[w[0]])
			n := uint64(8192)
			if w[3] != "" {
				n = number(w[3])
			}
			closed(model.Op{Code: model.Write, Len: n, Seed: number(w[2])})
		case "fsync":
			open(0)
			closed(model.Op{Code: model.Fsync})
		case "fdatasync":
			open(0)
			closed(model.Op{Code: model.Fdatasync})
		case "syncfs":
			open(0)
			closed(model.Op{Code: model.Syncfs})
		case "sync":
			out = append(out, model.Op{Code: model.Sync})
		default:
			t.Fatalf("no operation %q", w[0])
		}
	}
	return out
}

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

// After operations, a tree that other operations make is one that may be found after a crash, or is not, and why.
func TestAllowed(t *testing.T) {
	for _, c := range []struct {
		of          string
		promises    model.Promises
		done, found string
		wrong       string // "": allowed
	}{
		// EXPLODE 7.4: exactly three trees.
		{"nothing yet", posix, "mkdir /a; mkdir /a/b", "", ""},
		{"half", posix, "mkdir /a; mkdir /a/b", "mkdir /a", ""},
		{"all", posix, "mkdir /a; mkdir /a/b", "mkdir /a; mkdir /a/b", ""},
		{"never made", posix, "mkdir /a; mkdir /a/b", "mkdir /b", "appeared"},
		{"never made below", posix, "mkdir /a", "mkdir /a; creat /a/x", "appeared"},
		{"synced is lost", posix, "mkdir /a; sync; mkdir /a/b", "", "lost"},
		{"synced is there", posix, "mkdir /a; sync; mkdir /a/b", "mkdir /a", ""},
		{"syncfs", posix, "mkdir /a; syncfs /", "", "lost"},

		// fsync(2): the file; its entry is the directory's.
		{"fsync without its directory", posix, "creat /f; fsync /f", "", ""},
		{"fsync with its directory", posix, "creat /f; fsync /f; fsync /", "", "lost"},
		{"the directory first", posix, "creat /f; fsync /; fsync /f", "", "lost"},
		{"the directory alone", posix, "creat /f; fsync /", "", ""},
		{"fsync keeps names", trees, "creat /f; fsync /f", "", "lost"},
		{"fsync keeps directories", trees, "mkdir /d; creat /d/f; fsync /d/f", "mkdir /d", "lost"},
		{"fsync keeps no others", trees, "creat /f; creat /g; fsync /g", "creat /g", ""},
		{"a log that fsync leaves alone", alone, "creat /f; creat /g; fsync /g", "creat /f", ""},
		{"and its directory", alone, "creat /f; fsync /f; fsync /", "", "lost"},
		{"a transaction keeps others", journal, "creat /f; creat /g; fsync /g", "creat /g", "lost"},
		{"the parent of a directory", posix, "mkdir /d; fsync /d; creat /d/f; fsync /d/f; fsync /d", "", ""},
		{"all up to the root", posix, "mkdir /d; creat /d/f; fsync /d/f; fsync /d; fsync /", "mkdir /d", "lost"},
		{"unlink is not kept", posix, "creat /f; sync; unlink /f", "creat /f", ""},
		{"unlink is kept", posix, "creat /f; sync; unlink /f; fsync /", "creat /f", "appeared"},
		{"unlinked while it is open", posix, "creat /f; sync; unlink /f; creat /f; write /f 1; fsync /f", "creat /f", ""},

		// Contents.
		{"nothing was written", posix, "creat /f; sync; write /f 1", "creat /f", ""},
		{"the first part of a write", posix, "creat /f; sync; write /f 1", "creat /f; write /f 1 4096", ""},
		{"fsync and less", posix, "creat /f; sync; write /f 1; fsync /f", "creat /f; write /f 1 4096", "size"},
		{"fsync and zeros", posix, "creat /f; sync; write /f 1; fsync /f", "creat /f; truncate /f 8192", "contents"},
		{"fdatasync", posix, "creat /f; sync; write /f 1; fdatasync /f", "creat /f", "size"},
		{"O_SYNC", posix, "creat /f; sync; osync /f 1", "creat /f", "size"},
		{"O_DSYNC", posix, "creat /f; sync; odsync /f 1", "creat /f; truncate /f 8192", "contents"},
		{"what was synced before", posix, "creat /f; write /f 1; sync; write /f 2 4096", "creat /f; write /f 2", "contents"},
		{"old and new", posix, "creat /f; write /f 1; sync; write /f 2", "creat /f; write /f 1; write /f 2 4096", ""},
		{"anything", posix, "creat /f; sync; write /f 1", "creat /f; write /f 3", ""},
		{"no garbage", journal, "creat /f; sync; write /f 1", "creat /f; write /f 3", "contents"},
		{"zeros", journal, "creat /f; sync; write /f 1", "creat /f; truncate /f 8192", ""},
		{"no zeros", ordered, "creat /f; sync; write /f 1", "creat /f; truncate /f 8192", "contents"},
		{"zeros of a hole", ordered, "creat /f; sync; truncate /f 8192; write /f 1", "creat /f; truncate /f 8192", ""},
		{"garbage over what was synced", posix, "creat /f; write /f 1; sync; truncate /f 4096", "creat /f; write /f 3", "contents"},
		{"truncated comes back", posix, "creat /f; write /f 1; sync; truncate /f 0; fsync /f", "creat /f; write /f 1", "size"},
		{"a truncate goes with the metadata", journal, "creat /f; creat /g; write /f 1; sync; truncate /f 0; chmod /g 448; fsync /g",
			"creat /f; creat /g; chmod /g 448; write /f 1", "size"},
		{"fsync of what did not change", journal, "creat /f; sync; mkdir /d; fsync /f", "creat /f", ""},
		{"the same mode again", journal, "creat /f; sync; mkdir /d; chmod /f 420; fsync /f", "creat /f", ""},

		// Attributes.
		{"mode", posix, "creat /f; sync; chmod /f 384", "creat /f", ""},
		{"mode after fsync", posix, "creat /f; sync; chmod /f 384; fsync /f", "creat /f", "mode"},
		{"mode after fdatasync", posix, "creat /f; sync; chmod /f 384; fdatasync /f", "creat /f", ""},
		{"mode that never was", posix, "creat /f; sync; chmod /f 384", "creat /f; chmod /f 511", "mode"},
		{"attribute after fsync", posix, "creat /f; sync; setxattr /f v; fsync /f", "creat /f", "attributes"},
		{"attribute half", posix, "creat /f; setxattr /f v; sync; setxattr /f w", "creat /f", "attributes"},
		{"symbolic link", posix, "symlink /l x; sync", "symlink /l y", "link"},
		{"other kind", posix, "symlink /l x; sync", "mkdir /l", "kind"},

		// Rename and link.
		{"renamed", posix, "creat /f; sync; rename /f /g", "creat /g", ""},
		{"renamed, not yet", posix, "creat /f; sync; rename /f /g", "creat /f", ""},
		{"renamed, both", posix, "creat /f; sync; rename /f /g", "creat /f; link /f /g", ""},
		{"renamed, both in a journal", trees, "creat /f; sync; rename /f /g", "creat /f; link /f /g", "renamed"},
		{"renamed, none", posix, "creat /f; sync; rename /f /g", "", ""},
		{"renamed, none in a journal", trees, "creat /f; sync; rename /f /g", "", "lost"},
		{"renamed over", trees, "creat /f; write /f 1; creat /g; sync; rename /f /g", "creat /f; write /f 1", "lost"},
		{"renamed over and synced", trees, "creat /f; write /f 1; creat /g; sync; rename /f /g; fsync /g", "creat /f; write /f 1; creat /g", "two files"},
		{"exchanged half", trees, "creat /f; chmod /f 384; creat /g; sync; exchange /f /g", "creat /f; chmod /f 384; link /f /g", "renamed"},
		{"exchanged", ordered, "creat /f; chmod /f 384; creat /g; sync; exchange /f /g", "creat /g; chmod /g 384; creat /f", ""},
		{"directory renamed", trees, "mkdir /a; creat /a/f; sync; rename /a /b", "mkdir /b", "lost"},
		{"moved down", trees, "creat /f; sync; mkdir /d; rename /f /d/f", "mkdir /d", "lost"},
		{"links", posix, "creat /f; link /f /g; sync", "creat /f; creat /g", "two files"},
		{"no links", posix, "creat /f; creat /g; sync", "creat /f; link /f /g", "one file"},
		{"create, write, rename: the file of no bytes", posix, "creat /f; write /f 1; sync; creat /t; write /t 2; rename /t /f", "creat /f", ""},

		// Order.
		{"in order", journal, "mkdir /a; mkdir /b", "mkdir /a", ""},
		{"not in order", journal, "mkdir /a; mkdir /b", "mkdir /b", "order"},
		{"not promised", posix, "mkdir /a; mkdir /b", "mkdir /b", ""},
		{"modes in order", journal, "mkdir /a; sync; chmod /a 448; mkdir /b", "mkdir /a; mkdir /b", "order"},

		// Mounted synchronously.
		{"-o sync", synced, "creat /f; write /f 1", "creat /f", "size"},
		{"-o sync, names", synced, "mkdir /a; creat /a/f", "mkdir /a", "lost"},
		{"-o sync, no write", synced, "creat /f; chmod /f 448; truncate /f 8192", "creat /f", ""},
		{"-o sync, a write after it", synced, "creat /f; chmod /f 448; write /f 1", "creat /f; write /f 1", "mode"},
		{"-o dirsync", dirsync, "mkdir /a; creat /a/f", "mkdir /a", "lost"},
		{"-o dirsync and data", dirsync, "creat /f; write /f 1", "creat /f", ""},
		{"-o dirsync and unlink", dirsync, "creat /f; unlink /f", "creat /f", "appeared"},
	} {
		f := after(t, c.promises, c.done)
		err := f.Allowed(after(t, c.promises, c.found).Seen())
		var w *model.Wrong
		switch {
		case c.wrong == "" && err != nil:
			t.Errorf("%s: after %q, %q has to be allowed: %v", c.of, c.done, c.found, err)
		case c.wrong != "" && (!errors.As(err, &w) || w.Kind != c.wrong):
			t.Errorf("%s: after %q, %q gives %v, want %s", c.of, c.done, c.found, err, c.wrong)
		}
	}
}

// Under way: neither what an operation does nor what it promises has to be there, what was promised before has.
func TestApplyVolatile(t *testing.T) {
	f := after(t, posix, "creat /f; sync; write /f 1")
	g := f.Clone()
	for _, o := range script(t, "fsync /f; mkdir /d; sync") {
		g.ApplyVolatile(o)
	}
	for _, found := range []string{"creat /f", "creat /f; write /f 1; mkdir /d"} {
		if err := g.Allowed(after(t, posix, found).Seen()); err != nil {
			t.Error(err)
		}
	}
	if g.Allowed(after(t, posix, "mkdir /d").Seen()) == nil {
		t.Error("what was synced before is lost, and that is allowed")
	}
	if err := f.Allowed(after(t, posix, "creat /f; mkdir /d").Seen()); err == nil {
		t.Error("what a copy did is allowed in the original")
	}
}

// What is now may be there after a crash whatever was done; a tree before the last sync may not, unless nothing was done.
func TestAllowedNow(t *testing.T) {
	for i, p := range []model.Promises{posix, journal, ordered, trees, synced, dirsync} {
		for seed := range uint64(10) {
			f := model.New(p)
			g := newGenerator(seed)
			for i := range 200 {
				if f.Apply(g.op()); i%10 != 0 {
					continue
				}
				s := f.Seen()
				if err := f.Equal(s); err != nil {
					t.Fatalf("promises %d, seed %d: %v", i, seed, err)
				}
				if err := f.Allowed(s); err != nil {
					t.Fatalf("promises %d, seed %d: %v", i, seed, err)
				}
			}
			f.CloseAll()
			f.Synced()
			if err := f.Allowed(f.Seen()); err != nil {
				t.Fatalf("promises %d, seed %d, synced: %v", i, seed, err)
			}
		}
	}
}

// Of trees that differ only in names the signature is the same, of others it is not.
func TestSignature(t *testing.T) {
	same := [][]string{
		{"mkdir /a; creat /a/x; creat /b", "mkdir /q; creat /z; creat /q/b", "creat /a; mkdir /b; creat /b/b"},
		{"creat /a; link /a /b; creat /c", "creat /c; creat /a; link /a /x"},
		{"mkdir /a; mkdir /b; creat /a/f; link /a/f /b/f; creat /a/g; link /a/g /b/g", "mkdir /x; mkdir /y; creat /y/1; link /y/1 /x/2; creat /x/3; link /x/3 /y/4"},
		{"mkdir /a; mkdir /b; creat /a/f; link /a/f /b/f; creat /a/g; creat /b/g"},
		{"creat /a; write /a 1; creat /b", "creat /a; creat /b; write /b 1; unlink /a; creat /x"},
		{"creat /a; write /a 2; creat /b"},
		{"creat /a; chmod /a 384; creat /b"},
		{"mkdir /a; mkdir /a/b"},
		{"mkdir /a; mkdir /b"},
		{"symlink /a b"},
		{""},
	}
	seen := make(map[string]string)
	for i, class := range same {
		first := ""
		for _, text := range class {
			s := string(after(t, posix, text).Signature())
			if first == "" {
				first = s
				if other, is := seen[s]; is {
					t.Errorf("%q has the signature of %q", text, other)
				}
			}
			if s != first {
				t.Errorf("class %d: %q has another signature than %q", i, text, class[0])
			}
			seen[s] = text
		}
	}
	a, b := after(t, posix, "mkdir /a; sync; mkdir /b"), after(t, posix, "mkdir /a; mkdir /b; sync")
	if string(a.Signature()) != string(b.Signature()) || string(a.StableSignature()) == string(b.StableSignature()) {
		t.Error("what is on the disk has to count in one signature and not in the other")
	}
	c := after(t, posix, "mkdir /x; sync; mkdir /u; mkdir /v; rmdir /v")
	d := after(t, posix, "mkdir /k; sync; mkdir /b; rmdir /b; mkdir /a")
	if string(c.Signature()) != string(d.Signature()) {
		t.Error("names that are gone count")
	}
}

// What is the file system's own is not asked for, and all else is; a tree that cannot be one is told of.
func TestSee(t *testing.T) {
	const dir, file = unix.S_IFDIR | 0o755, unix.S_IFREG | 0o644
	rootDir := agent.Entry{Path: ".", Mode: dir, Inode: 1, Links: 3}
	s, err := model.See([]agent.Entry{rootDir, {Path: "lost+found", Mode: dir, Inode: 2}, {Path: "lost+found/#12", Mode: file, Inode: 12, Links: 1},
		{Path: ".nilfs", Mode: file, Inode: 3, Links: 1}, {Path: "FSCK0001.REC", Mode: file, Inode: 4, Links: 1}}, ".nilfs", "FSCK*.REC")
	if err != nil {
		t.Fatal(err)
	}
	if err := model.New(posix).Equal(s); err != nil {
		t.Errorf("an empty file system: %v", err)
	}
	var w *model.Wrong
	s, err = model.See([]agent.Entry{rootDir, {Path: "f", Mode: file, Inode: 3, Links: 2}})
	if err != nil {
		t.Fatal(err)
	}
	if err := after(t, posix, "creat /f").Equal(s); !errors.As(err, &w) || w.Kind != "links" {
		t.Errorf("a file with one name and two links: %v", err)
	}
	for _, wrong := range [][]agent.Entry{
		{}, {{Path: "f", Mode: file}}, {rootDir, {Path: "d/f", Mode: file}}, {rootDir, {Path: "f", Mode: file}, {Path: "f", Mode: file}},
		{{Path: ".", Mode: dir, Inode: 1, Links: 3, Errno: unix.EIO}},
	} {
		if _, err := model.See(wrong); err == nil {
			t.Errorf("%v is taken to be a tree", wrong)
		}
	}
}

// A name that leads to what cannot be read is as good as gone: where it may be, what else is there counts; where it may not, it is lost. What is
// in use is read whole.
func TestUnreadable(t *testing.T) {
	const dir, file = unix.S_IFDIR | 0o755, unix.S_IFREG | 0o644
	s, err := model.See([]agent.Entry{{Path: ".", Mode: dir, Inode: 1, Links: 3}, {Path: "d", Mode: dir, Inode: 2, Links: 2},
		{Path: "f", Errno: unix.ESTALE}, {Path: "u", Mode: dir, Inode: 3, Links: 2, Errno: unix.EIO}, {Path: "u/x", Mode: file, Inode: 4, Links: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if what := s.Unreadable(); what != "/f cannot be read: stale file handle" {
		t.Errorf("unreadable: %q", what)
	}
	if err := after(t, posix, "mkdir /d; sync; creat /f; mkdir /u").Allowed(s); err != nil {
		t.Errorf("what was not forced to the disk: %v", err)
	}
	var w *model.Wrong
	if err := after(t, posix, "mkdir /d; creat /f; sync; mkdir /u").Allowed(s); !errors.As(err, &w) || w.Kind != "lost" || !strings.Contains(w.Text, "/f cannot be read: stale") {
		t.Errorf("what was: %v", err)
	}
	if err := after(t, posix, "mkdir /d; creat /f; mkdir /u").Equal(s); !errors.As(err, &w) || w.Kind != "unreadable" {
		t.Errorf("in use: %v", err)
	}
}

// What a key does not tell apart, Allowed does not either: here what differs in one thing each that it goes by.
func TestKey(t *testing.T) {
	keys := make(map[string]string)
	for _, p := range []model.Promises{posix, journal, trees} {
		for _, text := range []string{"", "creat /a", "creat /b", "creat /a; sync", "creat /a; fsync /", "creat /a; fsync /a", "creat /a; chmod /a 448; fsync /a", "creat /a; chmod /a 448; fdatasync /a",
			"creat /a; write /a 1", "creat /a; write /a 2", "creat /a; truncate /a 8192", "creat /a; sync; chmod /a 448", "creat /a; sync; rename /a /b",
			"creat /a; sync; link /a /b; unlink /a", "creat /a; sync; unlink /a; creat /a"} {
			of := fmt.Sprintf("%q with %+v", text, p)
			key := after(t, p, text).Key()
			if other, is := keys[key]; is {
				t.Errorf("%s has the key of %s", of, other)
			}
			keys[key] = of
			if after(t, p, text).Key() != key {
				t.Errorf("%s has two keys", of)
			}
		}
	}
}
