package campaign

import (
	"strings"
	"testing"

	"fsward/explore/agent"
	"fsward/repair/adapter"
	"fsward/repair/damage"
	"fsward/repair/linux"
	"fsward/repair/testimage"
	"fsward/repair/vote"
)

// TestCompleteness finds that e2fsck gives up the root with all that is below it, if its count of
// links is 0, while the programs of other file systems correct the count.
func TestCompleteness(t *testing.T) {
	for _, program := range []string{"e2fsck", "mkfs.minix", "xfs_repair", "fsck.f2fs", "reiserfsck",
		"jfs_fsck", "fsck.exfat"} {
		need(t, program)
	}
	found := test(t, Config{FS: "ext3", Modes: []string{"-fy"}, Checks: []string{Complete},
		Fields: "^inode.links_count@kind=root$"}, 1)
	if len(found[Incomplete]) != 1 {
		t.Fatalf("found %v", found)
	}
	f := found[Incomplete][0]
	checkFinding(t, f)
	if !strings.Contains(f.Detail, "/bdev") || !strings.Contains(f.Detail, "links of root") {
		t.Errorf("%s", f.Detail)
	}
	if f.Minimized {
		t.Error("the vote is about another damage than that of the other file systems")
	}
}

// TestVoters looks for all shared fields on the images of the voters.
func TestVoters(t *testing.T) {
	table, err := vote.Shared()
	if err != nil {
		t.Fatal(err)
	}
	for _, fs := range voters {
		base, err := testimage.Build(t.Context(), fs, t.TempDir())
		if err != nil {
			t.Errorf("%s: %v", fs, err)
			continue
		}
		defer base.Close()
		m, err := damage.NewModel(base, fs)
		if err != nil {
			t.Errorf("%s: %v", fs, err)
			continue
		}
		for _, f := range table.Fields(fs) {
			group, place, _ := table.On(fs, f)
			if m.Field(group, place) == nil {
				t.Errorf("%s has no field %s at %s, which is the %v", fs, group, place, f)
			}
		}
	}
}

func TestSplitSpec(t *testing.T) {
	for spec, want := range map[string]struct {
		place string
		value uint64
		ok    bool
	}{"a.b@kind=x,pick=1=0x1f": {"kind=x,pick=1", 31, true}, "a.b=0x0": {"", 0, true},
		"a.b@kind=x": {"", 0, false}, "a.b": {"", 0, false}} {
		place, value, ok := splitSpec("a.b", spec)
		if place != want.place || value != want.value || ok != want.ok {
			t.Errorf("%s: %q, %d, %v", spec, place, value, ok)
		}
	}
}

// TestBallot compares trees: a directory's size does not count, and a file that is gone has no
// attribute left.
func TestBallot(t *testing.T) {
	dir := agent.Entry{Path: ".", Mode: 0o40755, Links: 3, Size: 4096}
	file := agent.Entry{Path: "d/f", Mode: 0o100644, Links: 1, Size: 7}
	truth := viewed(&linux.View{Files: []agent.Entry{dir, file}})
	dir.Size, file.Size = 1024, 8
	got := ballot(truth, viewed(&linux.View{Files: []agent.Entry{dir, file}}))
	for what, want := range map[string]bool{"/ mode": true, "/ links": true, "/d/f size": false,
		"/d/f content": true} {
		if kept, known := got[what]; kept != want || !known {
			t.Errorf("%s: %v, %v", what, kept, known)
		}
	}
	if _, known := got["/ size"]; known {
		t.Error("the size of a directory counts")
	}
	if got := ballot(truth, viewed(&linux.View{Files: []agent.Entry{dir}})); got["/d/f mode"] {
		t.Error("a file that is gone keeps its mode")
	}
}

// TestExFATVotes damages the size of a file of exFAT, whose files are read without Linux: the
// repair truncates it, and recovers the others.
func TestExFATVotes(t *testing.T) {
	program, _, err := adapter.Find("", "exfat")
	if err != nil {
		t.Fatal(err)
	}
	base, err := testimage.Build(t.Context(), "exfat", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer base.Close()
	p, err := newPeer("exfat", program, base)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	f := p.model.Field("stream.size", "file")
	if f == nil {
		t.Fatal("the size of a file is no field")
	}
	b, err := p.elect(f, 4096)
	if err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]bool{"/f size": false, "/f type": true, "/d/f7 size": true,
		"/d/d2 type": true} {
		if kept, known := b[what]; kept != want || !known {
			t.Errorf("%s: %v, %v", what, kept, known)
		}
	}
	if _, known := b["/f links"]; known || len(b) != 306 {
		t.Errorf("%d attributes", len(b))
	}
}
