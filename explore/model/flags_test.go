package model_test

import (
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/model"
)

// TestInheritedFlags: a new file and a new directory have the flags that their directory gives
// them. A subvolume in that directory has none.
func TestInheritedFlags(t *testing.T) {
	all := model.Promises{Features: []model.Feature{model.FileFlags}}
	btrfs := model.Promises{Features: []model.Feature{model.FileFlags, model.Subvolumes}}
	for _, c := range []struct {
		promises  model.Promises
		set, want int
	}{
		{all, agent.Synchronous | agent.NoDump, agent.Synchronous | agent.NoDump},
		{btrfs, agent.Synchronous | agent.NoCOW, agent.NoCOW},
		{btrfs, agent.Compressed, agent.Compressed},
		{btrfs, agent.NoDump, 0},
	} {
		fs := model.New(c.promises)
		ops := []model.Op{
			{Code: model.Mkdir, Path: "/a", Mode: 0o755},
			{Code: model.Setflags, Path: "/a", Flags: c.set},
			{Code: model.Mkdir, Path: "/a/dir", Mode: 0o755},
			{Code: model.Open, Path: "/a/file", Flags: unix.O_CREAT | unix.O_RDWR, Mode: 0o644},
		}
		for _, o := range ops {
			if r := fs.Apply(o); r.Errno != 0 {
				t.Fatalf("%v: %v", o, r.Errno)
			}
		}
		for _, p := range []string{"/a/dir", "/a/file"} {
			if is := fs.Flags(p); is != uint32(c.want) {
				t.Errorf("%#x: %s has %#x, want %#x", c.set, p, is, c.want)
			}
		}
		if r := fs.Apply(model.Op{Code: model.Subvolume, Path: "/a/v"}); r.Errno == 0 {
			if is := fs.Flags("/a/v"); is != 0 {
				t.Errorf("%#x: a subvolume has %#x", c.set, is)
			}
		}
	}
}

// TestSubvolumeFlags: a new subvolume is compressed if the root directory of the subvolume around
// it is, and a snapshot has the flags of its subvolume.
func TestSubvolumeFlags(t *testing.T) {
	fs := model.New(model.Promises{Features: []model.Feature{model.FileFlags, model.Subvolumes}})
	setFlags := func(p string, flags int) model.Op {
		return model.Op{Code: model.Setflags, Path: p, Flags: flags}
	}
	for _, o := range []model.Op{
		{Code: model.Subvolume, Path: "/c"},
		setFlags("/c", agent.Compressed),
		{Code: model.Mkdir, Path: "/c/d", Mode: 0o755},
		setFlags("/c/d", 0),
		{Code: model.Snapshot, Path: "/c", To: "/s"},
		{Code: model.Subvolume, Path: "/c/d/v"},
		{Code: model.Subvolume, Path: "/n"},
		setFlags("/n", agent.NoCOW),
		{Code: model.Subvolume, Path: "/n/v"},
	} {
		if r := fs.Apply(o); r.Errno != 0 {
			t.Fatalf("%v: %v", o, r.Errno)
		}
	}
	for p, want := range map[string]uint32{"/s": agent.Compressed, "/s/d": 0,
		"/c/d/v": agent.Compressed, "/n/v": 0} {
		if is := fs.Flags(p); is != want {
			t.Errorf("%s has the flags %#x, want %#x", p, is, want)
		}
	}
}
