package model_test

import (
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore/model"
)

// grown makes a file of 5,000 bytes, writes 50 bytes behind its end through a mapping, and makes it
// larger.
func grown(p model.Promises) *model.FS {
	f := model.New(p)
	for _, o := range []model.Op{
		{Code: model.Open, Path: "/f", Flags: unix.O_RDWR | unix.O_CREAT, Mode: 0o644},
		{Code: model.Write, Len: 5000, Seed: 1},
		{Code: model.Mmaptail, Len: 50, Seed: 9},
		{Code: model.Ftruncate, Len: 9000},
		{Code: model.Close}, {Code: model.Sync},
	} {
		f.Apply(o)
	}
	return f
}

// TestTail: bytes behind the end are a surprise where they were, and an error elsewhere.
func TestTail(t *testing.T) {
	for _, c := range []struct {
		off, n, seed uint64
		kind         string // "": not allowed
	}{
		{5000, 50, 9, model.BehindEnd},
		{5000, 50, 8, ""},
		{5001, 50, 9, ""},
		{5000, 51, 9, ""},
	} {
		f := grown(journal)
		g := f.Clone()
		g.Apply(model.Op{Code: model.Open, Path: "/f", Flags: unix.O_RDWR})
		g.Apply(model.Op{Code: model.Write, Off: c.off, Len: c.n, Seed: c.seed})
		s := g.Observed()
		err, got := f.Allowed(s), f.Surprises(s)
		if is := err == nil; is != (c.kind != "") || is && (len(got) != 1 || got[0].Kind != c.kind) {
			t.Errorf("%+v: %v, %+v", c, err, got)
		}
		if equal := f.Equal(s) == nil; equal != (c.kind != "") {
			t.Errorf("%+v: equal %v", c, equal)
		}
	}
}

// TestMmaptailErrors: a mapping of the last page needs one that is not full.
func TestMmaptailErrors(t *testing.T) {
	f := model.New(posix)
	f.Apply(model.Op{Code: model.Open, Path: "/f", Flags: unix.O_RDWR | unix.O_CREAT, Mode: 0o644})
	for _, c := range []struct {
		size, n uint64
		errno   unix.Errno
	}{{0, 1, unix.EFAULT}, {4096, 1, unix.EFAULT}, {4000, 97, unix.EFAULT}, {4000, 96, 0},
		{4000, 0, unix.EINVAL}} {
		f.Apply(model.Op{Code: model.Ftruncate, Len: c.size})
		if r := f.Apply(model.Op{Code: model.Mmaptail, Len: c.n, Seed: 9}); r.Errno != c.errno {
			t.Errorf("%+v: %v", c, r.Errno)
		}
	}
}
