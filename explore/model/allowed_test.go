package model_test

import (
	"errors"
	"slices"
	"testing"

	"fsward/explore/model"
	"fsward/explore/modeltest"
)

// An allowedCase has two scripts. A crash after done may leave the tree that found makes, or not.
type allowedCase struct {
	name        string
	promises    model.Promises
	done, found string
	kind        string // of the mismatch; "": the tree is allowed
}

// syncCases begins with EXPLODE 7.4: exactly three trees are allowed after two mkdir.
var syncCases = []allowedCase{
	{"nothing is durable yet", posix, "mkdir /a; mkdir /a/b", "", ""},
	{"the first of two directories", posix, "mkdir /a; mkdir /a/b", "mkdir /a", ""},
	{"both directories", posix, "mkdir /a; mkdir /a/b", "mkdir /a; mkdir /a/b", ""},
	{"a directory that was never made", posix, "mkdir /a; mkdir /a/b", "mkdir /b", "appeared"},
	{"a file that was never made", posix, "mkdir /a", "mkdir /a; creat /a/x", "appeared"},
	{"a synced directory is lost", posix, "mkdir /a; sync; mkdir /a/b", "", "lost"},
	{"a synced directory exists", posix, "mkdir /a; sync; mkdir /a/b", "mkdir /a", ""},
	{"syncfs", posix, "mkdir /a; syncfs /", "", "lost"},
	{"a sync that reaches no disk", noSync, "mkdir /a; sync; syncfs /", "", ""},
	{"fsync where a sync reaches no disk", noSync, "mkdir /a; sync; fsync /a; fsync /", "", "lost"},
}

// fsyncCases: fsync(2) keeps the file. Its entry belongs to the directory.
var fsyncCases = []allowedCase{
	{"fsync without its directory", posix, "creat /f; fsync /f", "", ""},
	{"fsync with its directory", posix, "creat /f; fsync /f; fsync /", "", "lost"},
	{"fsync of the directory first", posix, "creat /f; fsync /; fsync /f", "", "lost"},
	{"fsync of the directory alone", posix, "creat /f; fsync /", "", ""},
	{"fsync keeps names", trees, "creat /f; fsync /f", "", "lost"},
	{"fsync keeps directories", trees, "mkdir /d; creat /d/f; fsync /d/f", "mkdir /d", "lost"},
	{"fsync keeps no mode of a directory", trees,
		"mkdir /d; sync; chmod /d 448; creat /d/f; fsync /d/f", "mkdir /d; creat /d/f", ""},
	{"fsync keeps a mode that the directory had", trees,
		"mkdir /d; chmod /d 448; sync; creat /d/f; fsync /d/f", "mkdir /d; creat /d/f", "mode"},
	{"fsync keeps a renamed directory", trees,
		"mkdir /d; creat /d/f; sync; rename /d /e; write /e/f 1; fsync /e/f",
		"mkdir /d; creat /d/f; write /d/f 1", "lost"},
	{"fsync of an unchanged file keeps no renamed directory", trees,
		"mkdir /d; creat /d/f; link /d/f /g; fsync /g; rename /d /e; fsync /g",
		"mkdir /d; creat /d/f; link /d/f /g", ""},
	{"fsync keeps no other files", trees, "creat /f; creat /g; fsync /g", "creat /g", ""},
	{"fsync_alone: fsync does not keep the name", alone,
		"creat /f; creat /g; fsync /g", "creat /f", ""},
	{"fsync_alone: fsync of file and directory", alone,
		"creat /f; fsync /f; fsync /", "", "lost"},
	{"fsync commits the transaction with other files", journal,
		"creat /f; creat /g; fsync /g", "creat /g", "lost"},
	{"fsync does not keep the name of a directory", posix,
		"mkdir /d; fsync /d; creat /d/f; fsync /d/f; fsync /d", "", ""},
	{"fsync of all directories up to the root", posix,
		"mkdir /d; creat /d/f; fsync /d/f; fsync /d; fsync /", "mkdir /d", "lost"},
	{"unlink is not durable", posix, "creat /f; sync; unlink /f", "creat /f", ""},
	{"unlink and fsync of the directory", posix,
		"creat /f; sync; unlink /f; fsync /", "creat /f", "appeared"},
	{"fsync of a new file with the name of an old one", posix,
		"creat /f; sync; unlink /f; creat /f; write /f 1; fsync /f", "creat /f", ""},
}

var contentCases = []allowedCase{
	{"none of a write", posix, "creat /f; sync; write /f 1", "creat /f", ""},
	{"the first part of a write", posix,
		"creat /f; sync; write /f 1", "creat /f; write /f 1 4096", ""},
	{"fsync, and less than was written", posix,
		"creat /f; sync; write /f 1; fsync /f", "creat /f; write /f 1 4096", "size"},
	{"fsync, and zeros", posix,
		"creat /f; sync; write /f 1; fsync /f", "creat /f; truncate /f 8192", "contents"},
	{"fdatasync", posix, "creat /f; sync; write /f 1; fdatasync /f", "creat /f", "size"},
	{"O_SYNC", posix, "creat /f; sync; osync /f 1", "creat /f", "size"},
	{"O_DSYNC", posix, "creat /f; sync; odsync /f 1", "creat /f; truncate /f 8192", "contents"},
	{"O_SYNC, and other data that is not durable", posix,
		"creat /f; sync; write /f 1; osync /f 2 4096", "creat /f; write /f 2 4096", ""},
	{"O_SYNC, and its own data", posix,
		"creat /f; sync; write /f 1; osync /f 2 4096", "creat /f; write /f 1", "contents"},
	{"O_SYNC, and its own size", posix,
		"creat /f; sync; write /f 1; osync /f 2 4096", "creat /f; write /f 2 2048", "size"},
	{"O_DSYNC of a part of a sector", posix,
		"creat /f; sync; write /f 1 1024; odsync /f 2 100", "creat /f; write /f 1 1024", "contents"},
	{"O_DSYNC over all that is not durable", posix,
		"creat /f; sync; write /f 1; odsync /f 2", "creat /f; write /f 2 4096", "size"},
	{"data beside a write is damaged", posix,
		"creat /f; write /f 1; sync; write /f 2 4096", "creat /f; write /f 2", "contents"},
	{"old and new data", posix,
		"creat /f; write /f 1; sync; write /f 2", "creat /f; write /f 1; write /f 2 4096", ""},
	{"garbage is allowed", posix, "creat /f; sync; write /f 1", "creat /f; write /f 3", ""},
	{"garbage is not allowed", journal,
		"creat /f; sync; write /f 1", "creat /f; write /f 3", "contents"},
	{"zeros are allowed", journal, "creat /f; sync; write /f 1", "creat /f; truncate /f 8192", ""},
	{"zeros are not allowed", ordered,
		"creat /f; sync; write /f 1", "creat /f; truncate /f 8192", "contents"},
	{"zeros of a hole", ordered,
		"creat /f; sync; truncate /f 8192; write /f 1", "creat /f; truncate /f 8192", ""},
	{"garbage over synced data", posix,
		"creat /f; write /f 1; sync; truncate /f 4096", "creat /f; write /f 3", "contents"},
	{"truncated data reappears", posix,
		"creat /f; write /f 1; sync; truncate /f 0; fsync /f", "creat /f; write /f 1", "size"},
	{"a truncate is ordered with metadata", journal,
		"creat /f; creat /g; write /f 1; sync; truncate /f 0; chmod /g 448; fsync /g",
		"creat /f; creat /g; chmod /g 448; write /f 1", "size"},
	{"fsync of an unchanged file", journal, "creat /f; sync; mkdir /d; fsync /f", "creat /f", ""},
	{"the same mode again", journal,
		"creat /f; sync; mkdir /d; chmod /f 420; fsync /f", "creat /f", ""},
}

var attributeCases = []allowedCase{
	{"mode", posix, "creat /f; sync; chmod /f 384", "creat /f", ""},
	{"mode after fsync", posix, "creat /f; sync; chmod /f 384; fsync /f", "creat /f", "mode"},
	{"mode after fdatasync", posix, "creat /f; sync; chmod /f 384; fdatasync /f", "creat /f", ""},
	{"a removed file with a mode that it never had", posix,
		"creat /f; sync; unlink /f", "creat /f; chmod /f 511", "mode"},
	{"a mode that the file never had", posix,
		"creat /f; sync; chmod /f 384", "creat /f; chmod /f 511", "mode"},
	{"attribute after fsync", posix,
		"creat /f; sync; setxattr /f v; fsync /f", "creat /f", "attributes"},
	{"the attribute is missing", posix,
		"creat /f; setxattr /f v; sync; setxattr /f w", "creat /f", "attributes"},
	{"symbolic link", posix, "symlink /l x; sync", "symlink /l y", "link"},
	{"another kind of file", posix, "symlink /l x; sync", "mkdir /l", "kind"},
}

var renameCases = []allowedCase{
	{"the new name", posix, "creat /f; sync; rename /f /g", "creat /g", ""},
	{"the old name", posix, "creat /f; sync; rename /f /g", "creat /f", ""},
	{"both names", posix, "creat /f; sync; rename /f /g", "creat /f; link /f /g", ""},
	{"both names, rename is atomic", trees,
		"creat /f; sync; rename /f /g", "creat /f; link /f /g", "renamed"},
	{"neither name", posix, "creat /f; sync; rename /f /g", "", ""},
	{"neither name, rename is atomic", trees, "creat /f; sync; rename /f /g", "", "lost"},
	{"the old target, and the source is lost", trees,
		"creat /f; write /f 1; creat /g; sync; rename /f /g", "creat /f; write /f 1", "lost"},
	{"both names and synced", trees,
		"creat /f; write /f 1; creat /g; sync; rename /f /g; fsync /g",
		"creat /f; write /f 1; creat /g", "two files"},
	{"half of an exchange", trees,
		"creat /f; chmod /f 384; creat /g; sync; exchange /f /g",
		"creat /f; chmod /f 384; link /f /g", "renamed"},
	{"exchanged", ordered,
		"creat /f; chmod /f 384; creat /g; sync; exchange /f /g", "creat /g; chmod /g 384; creat /f", ""},
	{"a renamed directory loses its file", trees,
		"mkdir /a; creat /a/f; sync; rename /a /b", "mkdir /b", "lost"},
	{"a file moved into a new directory is lost", trees,
		"creat /f; sync; mkdir /d; rename /f /d/f", "mkdir /d", "lost"},
	{"links become two files", posix, "creat /f; link /f /g; sync", "creat /f; creat /g", "two files"},
	{"two files become links", posix, "creat /f; creat /g; sync", "creat /f; link /f /g", "one file"},
	{"create, write, rename: an empty file", posix,
		"creat /f; write /f 1; sync; creat /t; write /t 2; rename /t /f", "creat /f", ""},
}

var orderCases = []allowedCase{
	{"in order", journal, "mkdir /a; mkdir /b", "mkdir /a", ""},
	{"not in order", journal, "mkdir /a; mkdir /b", "mkdir /b", "order"},
	{"no order is promised", posix, "mkdir /a; mkdir /b", "mkdir /b", ""},
	{"modes in order", journal,
		"mkdir /a; sync; chmod /a 448; mkdir /b", "mkdir /a; mkdir /b", "order"},
}

var mountCases = []allowedCase{
	{"-o sync", synced, "creat /f; write /f 1", "creat /f", "size"},
	{"-o sync, names", synced, "mkdir /a; creat /a/f", "mkdir /a", "lost"},
	{"-o sync does not cover chmod and truncate", synced,
		"creat /f; chmod /f 448; truncate /f 8192", "creat /f", ""},
	{"-o sync: a write makes the mode durable", synced,
		"creat /f; chmod /f 448; write /f 1", "creat /f; write /f 1", "mode"},
	{"-o dirsync", dirsync, "mkdir /a; creat /a/f", "mkdir /a", "lost"},
	{"-o dirsync and data", dirsync, "creat /f; write /f 1", "creat /f", ""},
	{"-o dirsync and unlink", dirsync, "creat /f; unlink /f", "creat /f", "appeared"},
}

func TestAllowed(t *testing.T) {
	cases := slices.Concat(syncCases, fsyncCases, contentCases, attributeCases, renameCases,
		orderCases, mountCases)
	for _, c := range cases {
		f := after(t, c.promises, c.done)
		err := f.Allowed(after(t, c.promises, c.found).Observed())
		var m *model.Mismatch
		switch {
		case c.kind == "" && err != nil:
			t.Errorf("%s: after %q, %q must be allowed: %v", c.name, c.done, c.found, err)
		case c.kind != "" && (!errors.As(err, &m) || m.Kind != c.kind):
			t.Errorf("%s: after %q, %q gives %v, want %s", c.name, c.done, c.found, err, c.kind)
		}
	}
}

// TestApplyVolatile: during an operation, neither its effects nor its promises have to be durable.
// Earlier promises still hold.
func TestApplyVolatile(t *testing.T) {
	f := after(t, posix, "creat /f; sync; write /f 1")
	g := f.Clone()
	for _, o := range script(t, "fsync /f; mkdir /d; sync") {
		g.ApplyVolatile(o)
	}
	for _, found := range []string{"creat /f", "creat /f; write /f 1; mkdir /d"} {
		if err := g.Allowed(after(t, posix, found).Observed()); err != nil {
			t.Error(err)
		}
	}
	if g.Allowed(after(t, posix, "mkdir /d").Observed()) == nil {
		t.Error("the loss of a synced file is allowed")
	}
	if err := f.Allowed(after(t, posix, "creat /f; mkdir /d").Observed()); err == nil {
		t.Error("an operation on the clone changed the original")
	}
}

// TestAllowedNow: a crash may leave the current tree, after any operations and with any promises.
func TestAllowedNow(t *testing.T) {
	for i, p := range []model.Promises{posix, journal, ordered, trees, synced, dirsync} {
		for seed := range uint64(10) {
			f := model.New(p)
			g := modeltest.NewGenerator(seed)
			for i := range 200 {
				if f.Apply(g.Op()); i%10 != 0 {
					continue
				}
				s := f.Observed()
				if err := f.Equal(s); err != nil {
					t.Fatalf("promises %d, seed %d: %v", i, seed, err)
				}
				if err := f.Allowed(s); err != nil {
					t.Fatalf("promises %d, seed %d: %v", i, seed, err)
				}
			}
			f.CloseAll()
			f.Synced()
			if err := f.Allowed(f.Observed()); err != nil {
				t.Fatalf("promises %d, seed %d, synced: %v", i, seed, err)
			}
		}
	}
}
