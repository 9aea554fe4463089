package ext3

import (
	"bytes"
	"strings"
	"testing"

	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// TestHomeWrites checks that metadata of a mounted file system may be written to its place only
// with its committed contents.
func TestHomeWrites(t *testing.T) {
	ready := func(fs *FS, w interp.Write) bool {
		return mountedNow(fs, w) &&
			len(fs.m.State.Copies) > 1
	}
	fs, d, _ := replay(t, ready)
	p := fs.m.Layout.Places[0]
	for _, tc := range []struct {
		name  string
		block uint32
	}{
		{"block bitmap", p.BlockBitmap}, {"inode bitmap", p.InodeBitmap}, {"inode table", p.InodeTable},
		{"descriptors", fs.geo.DescBlock(0)},
	} {
		b, err := fs.m.State.Block(tc.block)
		if err != nil {
			t.Fatal(err)
		}
		w := interp.Write{Off: fs.geo.Addr(tc.block), Len: uint64(len(b)), Data: bytes.Clone(b)}
		if obs := fs.Observe(w); len(obs.Violations) > 0 || obs.Unknown != nil {
			t.Errorf("%s, as committed: %v %v", tc.name, obs.Violations, obs.Unknown)
		}
		w.Data[100]++
		only(t, fs.Observe(w), "ext3/home")
		only(t, fs.Observe(interp.Write{Off: w.Off, Len: w.Len, Discard: true}), "ext3/home")
	}
	root, err := fs.m.Inode(ondisk.RootIno)
	if err != nil {
		t.Fatal(err)
	}
	only(t, fs.Observe(interp.Write{Off: fs.geo.Addr(root.Pointer(0)), Len: 512, Data: make([]byte,
		512)}), "ext3/home")
	// A committed block that is not in its place yet is written with its former contents: the update
	// is lost.
	lost := 0
	for b := range fs.m.State.Copies {
		old, err := ReadBlock(d, fs.geo, b)
		if err != nil {
			t.Fatal(err)
		}
		if now, err := fs.m.State.Block(b); err != nil || bytes.Equal(now, old) || !fs.m.metadata(b) {
			continue
		}
		lost++
		only(t, fs.Observe(interp.Write{Off: fs.geo.Addr(b), Len: uint64(len(old)), Data: old}),
			"ext3/home")
	}
	if lost == 0 {
		t.Error("nothing was committed that was not in its place")
	}
}

// TestCommitOrder checks that barrier use is inferred per mount, and that from then on a missing
// flush before a commit block is a fault.
func TestCommitOrder(t *testing.T) {
	for _, tc := range []struct {
		name  string
		early bool // the flush comes before the last write to the log
		none  bool // there is no flush
		rule  string
	}{
		{"flushed", false, false, ""},
		{"flushed too early", true, false, "ext3/commit-flush"},
		{"not flushed", false, true, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			base, writes := record(t)
			d := NewDisk(bytes.NewReader(base), uint64(len(base)))
			fs, err := New(d)
			if err != nil {
				t.Fatal(err)
			}
			commits, lastLog, note := 0, uint64(0), ""
			for n, w := range writes {
				w.Seq = uint64(n) + 1
				commit := fs.m != nil && !fs.m.Log.idle && fs.m.Log.holdsCommit(w, fs.m.Log.nextSeq)
				now := commits > inferAfter
				switch {
				case commit && now && tc.early:
					fs.Flushed(0, lastLog-1)
				case commit && now && tc.none:
				case commit:
					fs.Flushed(0, w.Seq-1)
				}
				obs := fs.Observe(w)
				note += obs.Note
				if commit && now && tc.rule != "" {
					only(t, obs, tc.rule)
					return
				}
				if len(obs.Violations) > 0 {
					t.Fatal(obs.Violations)
				}
				if commit {
					commits++
				} else if fs.m != nil && fs.m.Log.contains(w) {
					lastLog = w.Seq
				}
				d.Apply(w)
				fs.Settle(true)
			}
			if commits <= inferAfter || tc.rule != "" {
				t.Errorf("%d commits", commits)
			}
			if said := strings.Contains(note, "not flushed any more"); said != tc.none {
				t.Errorf("notes: %s", note)
			}
		})
	}
}

// TestLogWrittenAsItWas checks that a write through the page cache, which writes a whole page, may
// contain a part of the log if that part does not change.
func TestLogWrittenAsItWas(t *testing.T) {
	ready := func(fs *FS, w interp.Write) bool {
		return mountedNow(fs, w) && !fs.m.Log.idle && fs.m.Log.nextSeq-fs.m.Log.Seq > 1 &&
			len(fs.m.State.Copies) > 1
	}
	fs, d, _ := replay(t, ready)
	block := fs.m.Log.Block(fs.m.Log.Start)
	b, err := ReadBlock(d, fs.geo, block)
	if err != nil {
		t.Fatal(err)
	}
	w := interp.Write{Off: fs.geo.Addr(block), Len: uint64(len(b)), Data: b}
	if obs := fs.Observe(w); len(obs.Violations) > 0 || obs.Unknown != nil {
		t.Errorf("as it was: %v %v", obs.Violations, obs.Unknown)
	}
	w.Data = bytes.Clone(b)
	w.Data[len(b)-1]++
	only(t, fs.Observe(w), "ext3/journal-overwrite")
	only(t, fs.Observe(interp.Write{Off: w.Off, Len: w.Len, Discard: true}), "ext3/journal-overwrite")
}
