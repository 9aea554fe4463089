package ext3

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"fsward/change"
	"fsward/interp"
)

// A dataMode is a data mode of a mount, and the order of writes that the host's kernel then uses.
type dataMode struct {
	mount   string
	ordered bool // data comes before the commit that makes it reachable
}

// unsynced makes commits by syncing a file. They contain other files, whose data is not synced.
const unsynced = `sync -f .
	for i in 1 2 3 4 5 6; do
		head -c 30000 /dev/urandom > large$i; echo $i >> large1
		ln -s $(head -c 200 /dev/zero | tr '\0' n) slow$i
		perl -e 'open(F, ">", "extended"); truncate(F, 50000); seek(F, 20000, 0);
			print F "x" x 3000; close F'
		echo $i > other; sync other; rm extended
	done
	head -c 30000 /dev/urandom > kept
	for i in 7 8 9; do echo $i > other; sync other; done
	sync -f .`

// recordMode returns a file system and the writes to it while it is mounted in a mode.
func recordMode(t *testing.T, mode string, mkfsOpts ...string) (base []byte,
	writes []interp.Write) {
	t.Helper()
	image := Mkfs(t, "16M", append([]string{"-b", "1024"}, mkfsOpts...)...)
	base = ReadFile(t, image)
	writes = Follow(t, image, 0, nil, []string{"data=" + mode}, unsynced).Writes
	for n := range writes {
		writes[n].Seq = uint64(n) + 1
	}
	return base, writes
}

// feedOrdered gives writes to an interpreter, with a flush before and after each commit block. It
// returns the violations about data and the number of notes about data. It calls commit, which may
// be nil, before each write of a commit block.
func feedOrdered(t *testing.T, base []byte, writes []interp.Write, ordered bool, commit func(fs *FS,
	d *MemDisk, n int, w interp.Write)) (found []change.Violation, notes int) {
	t.Helper()
	d := NewDisk(bytes.NewReader(base), uint64(len(base)))
	fs := newFS(t, d)
	if ordered {
		fs.ExpectOrdered()
	}
	for n, w := range writes {
		point := fs.m != nil && !fs.m.Log.idle && fs.m.Log.holdsCommit(w, fs.m.Log.nextSeq)
		if point {
			fs.Flushed(0, w.Seq-1)
			if commit != nil {
				commit(fs, d, n, w)
			}
		}
		obs := fs.Observe(w)
		for _, v := range obs.Violations {
			if v.Rule != checkData.name {
				t.Fatal(v)
			}
			found = append(found, v)
		}
		if obs.Unknown != nil {
			t.Fatal(obs.Unknown)
		}
		if strings.Contains(obs.Note, "that were not written before") {
			notes++
		}
		d.Apply(w)
		fs.Settle(true)
		if point {
			fs.Flushed(0, w.Seq)
		}
	}
	return found, notes
}

// TestDataModes follows the writes of the kernel in each mode: with data=writeback data is written
// after its commit. This is a fault only if the operator states that the mount orders its data.
func TestDataModes(t *testing.T) {
	for _, mode := range []dataMode{{"ordered", true}, {"journal", true}, {"writeback", false}} {
		t.Run(mode.mount, func(t *testing.T) {
			base, writes := recordMode(t, mode.mount)
			shown := 0
			found, _ := feedOrdered(t, base, writes, true, func(fs *FS, d *MemDisk, _ int, w interp.Write) {
				shown += len(dataOf(t, fs, d, w))
			})
			if (len(found) == 0) != mode.ordered {
				t.Errorf("held to data=ordered: %v", found)
			}
			if shown == 0 && mode.mount != "journal" {
				t.Error("no commit shows data")
			}
			found, notes := feedOrdered(t, base, writes, false, nil)
			if len(found) > 0 || (notes == 0) != mode.ordered || notes > 1 {
				t.Errorf("not held to it: %v, %d notes", found, notes)
			}
		})
	}
}

// dataOf returns the blocks of files that a commit makes reachable.
func dataOf(t *testing.T, fs *FS, d *MemDisk, w interp.Write) []dataRun {
	t.Helper()
	tr, err := fs.m.Log.Read(PendingDevice{d, w}, fs.m.Log.head, fs.m.Log.nextSeq)
	if err != nil {
		t.Fatal(err)
	}
	c := fs.m.compare(tr, fs.m.State, PendingDevice{d, w}, d.Size(), change.NewNames(), fs.memory,
		nil, false)
	if c.err != nil || c.fault != nil {
		t.Fatal(c.err, c.fault)
	}
	return c.delta.inodes.data
}

// TestDataOutOfOrder checks that a lost write of data is a fault if the file keeps the blocks. A
// write after the commit gets a note, and a write after the flush before the commit is a fault of
// the commit.
func TestDataOutOfOrder(t *testing.T) {
	base, writes := recordMode(t, "ordered")
	// The last commit that shows several blocks of a file, which no later commit cuts, and the write
	// of their data.
	bs := uint64(1024)
	at, data, before := -1, -1, 0
	feedOrdered(t, base, writes, true, func(fs *FS, d *MemDisk, n int, w interp.Write) {
		for _, r := range dataOf(t, fs, d, w) {
			for k := before; k < n && r.n > 1; k++ {
				if touches(writes[k], uint64(r.block)*bs, bs) {
					at, data = n, k
				}
			}
		}
		before = n + 1
	})
	if at < 0 {
		t.Fatal("no commit shows data")
	}
	lost := slices.Delete(slices.Clone(writes), data, data+1)
	late := writes[data]
	late.Seq = writes[at].Seq // not among what the flush before the commit block covers
	for _, tc := range []struct {
		name, says string
		late       bool
		writes     []interp.Write
	}{
		{"as it was", "", false, writes},
		{"lost", "was not written before that commit, nor after it", true, lost},
		{"behind the commit", "", true, slices.Insert(slices.Clone(lost), at, late)},
		{"not flushed", "not flushed before", false, slices.Insert(slices.Clone(lost), at-1, late)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			found, notes := feedOrdered(t, base, tc.writes, true, nil)
			if len(found) != min(len(tc.says), 1) || len(found) > 0 && !strings.Contains(found[0].Detail,
				tc.says) {
				t.Errorf("found %v", found)
			}
			if tc.late != (notes == 1) {
				t.Errorf("%d notes", notes)
			}
		})
	}
}

// TestDataOfCutFile repeats a behavior of Linux 6.18: it cut a file when the transaction that made
// 1,020 blocks of it reachable had begun to commit, and dropped their data. The next transaction
// takes the blocks from the file. This is no fault, but a note says that a crash between the two
// would have shown old data.
func TestDataOfCutFile(t *testing.T) {
	base := ReadFile(t, Unpack(t, "testdata/cut/base.zst"))
	var list []interp.Write
	writes(t, Unpack(t, "testdata/cut/log.zst"), func(w interp.Write) {
		w.Seq, w.Data = uint64(len(list))+1, bytes.Clone(w.Data)
		list = append(list, w)
	})
	unwritten := uint64(0)
	found, notes := feedOrdered(t, base, list, true, func(fs *FS, d *MemDisk, _ int, w interp.Write) {
		late, _ := fs.data.missing(dataOf(t, fs, d, w))
		unwritten += countData(late)
	})
	if len(found) > 0 || notes != 1 || unwritten != 1020 {
		t.Errorf("%d blocks, %d notes, found %v", unwritten, notes, found)
	}
}

// TestBlockSet checks that a blockSet holds the blocks that were added, also at the borders of its
// pages.
func TestBlockSet(t *testing.T) {
	var s blockSet
	s.add(32767, 2)
	s.add(1<<32-1, 1)
	for block, want := range map[uint32]bool{32766: false, 32767: true, 32768: true, 32769: false,
		0: false, 1<<32 - 1: true, 1<<32 - 2: false} {
		if s.has(block) != want {
			t.Errorf("block %d: %t", block, !want)
		}
	}
	for page := range uint32(2 * maxPages) {
		s.add(page*setBits, 1)
	}
	if !s.has(5) || len(s.pages) > maxPages {
		t.Errorf("a set of %d pages has all blocks: %t", len(s.pages), s.has(5))
	}
}
