package btrfs_test

import (
	"testing"

	"fsward/interp"
	"fsward/interp/btrfs"
	"fsward/interp/btrfs/ondisk"
	"fsward/shareddata"
)

// A readsOf is a disk that records the addresses of reads.
type readsOf struct {
	*sparseDisk
	at []uint64
}

func (d *readsOf) ReadAt(p []byte, off int64) (int, error) {
	d.at = append(d.at, uint64(off))
	return d.sparseDisk.ReadAt(p, off)
}

// TestWrittenBlocksAreKept checks that the blocks that a commit has written are not read from the
// disk to judge it.
func TestWrittenBlocksAreKept(t *testing.T) {
	d := &readsOf{sparseDisk: openDisk(t, shareddata.Path(t, "logs/btrfs-single-4k.base.img.zst"))}
	f, err := btrfs.New(d)
	if err != nil {
		t.Fatal(err)
	}
	written, commits := map[uint64]bool{}, 0
	eachWrite(t, shareddata.Path(t, "logs/btrfs-single-4k.log.zst"), func(w interp.Write) bool {
		d.at = nil
		obs := f.Observe(w)
		if len(obs.Violations) > 0 || obs.Unknown != nil {
			t.Fatal(obs.Violations, obs.Unknown)
		}
		if obs.Point == interp.CommitPoint {
			commits++
			for _, at := range d.at {
				if written[at] {
					t.Fatalf("commit %d: the block at %d is read, although this commit wrote it",
						commits, at)
				}
			}
			clear(written)
		}
		d.apply(w)
		f.Settle(true)
		for at := uint64(0); at+pageSize <= w.Len && w.Data != nil; at += pageSize {
			written[w.Off+at] = !isSuper(w) && fsidIn(w.Data[at:]) == fsidOf(d.sparseDisk)
		}
		return true
	}, func(seq uint64) { f.Flushed(0, seq) })
	if commits != 21 {
		t.Errorf("%d commits", commits)
	}
}

// TestWrittenCopies checks that the cache keeps a block as whole only if both copies were last
// written with the same contents.
func TestWrittenCopies(t *testing.T) {
	d := madeDisk(t, "-n", "16384")
	f := follow(t, d)
	places, block := rootCopies(d)
	if len(places) != 2 {
		t.Fatalf("the root of the root tree is at %d", places)
	}
	for i, step := range []struct {
		at      uint64
		cut     uint64 // bytes at the end that are not written
		failed  bool
		whole   bool
		comment string
	}{
		{at: places[0], comment: "one copy"},
		{at: places[0], comment: "the same again"},
		{at: places[1], whole: true, comment: "the other copy"},
		{at: places[0], whole: true, comment: "the contents that the copy has already"},
		{at: places[1], cut: 4096, comment: "part of a copy"},
		{at: places[1], comment: "the whole copy"},
		{at: places[0], whole: true, comment: "the other copy too"},
		{at: places[1], failed: true, comment: "a write that failed"},
	} {
		data := block[:uint64(len(block))-step.cut]
		w := interp.Write{Off: step.at, Len: uint64(len(data)), Data: data}
		if obs := f.Observe(w); len(obs.Violations) > 0 || obs.Unknown != nil {
			t.Fatal(obs.Violations, obs.Unknown)
		}
		d.apply(w)
		f.Settle(!step.failed)
		if got := f.Whole(places[0]); got != step.whole {
			t.Errorf("step %d, %s: whole %t", i, step.comment, got)
		}
	}
}

// rootCopies returns the device addresses of the copies of the root of the root tree, and the
// block.
func rootCopies(d *sparseDisk) (places []uint64, block []byte) {
	sb := make([]byte, ondisk.SuperSize)
	_, _ = d.ReadAt(sb, primary)
	root, size := get64(sb, ondisk.SuperRootAt), get32(sb, ondisk.SuperNodesizeAt)
	for at := uint64(0); at < d.size; at += pageSize {
		b := make([]byte, size)
		_, _ = d.ReadAt(b, int64(at))
		if fsidIn(b) == fsidIn(sb) && get64(b, ondisk.HeaderBytenrAt) == root &&
			at != primary && at != mirror {
			places, block = append(places, at), b
		}
	}
	return places, block
}

// TestWrittenBlocksThatGo checks that a block that was written and then overwritten or discarded
// before its commit is reported as missing.
func TestWrittenBlocksThatGo(t *testing.T) {
	base := openDisk(t, shareddata.Path(t, "logs/btrfs-single-4k.base.img.zst"))
	for name, then := range map[string]func(root interp.Write) interp.Write{
		"discarded": func(root interp.Write) interp.Write {
			return interp.Write{Off: root.Off, Len: root.Len, Discard: true}
		},
		"zeros": func(root interp.Write) interp.Write {
			return interp.Write{Off: root.Off, Len: root.Len}
		},
		"its end written over": func(root interp.Write) interp.Write {
			return interp.Write{Off: root.Off + root.Len - 512, Len: 512, Data: make([]byte, 512)}
		},
		"another in its place": func(root interp.Write) interp.Write {
			b := append([]byte(nil), root.Data...)
			b[ondisk.HeaderLevelAt]++
			reseal(b)
			return interp.Write{Off: root.Off, Len: root.Len, Data: b}
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := base.clone()
			f := follow(t, d)
			super := make([]byte, ondisk.SuperSize)
			_, _ = d.ReadAt(super, primary)
			size := uint64(get32(super, ondisk.SuperNodesizeAt))
			done, found := false, 0
			eachWrite(t, shareddata.Path(t, "logs/btrfs-single-4k.log.zst"), func(w interp.Write) bool {
				show := func(w interp.Write) {
					w.Seq = 0
					obs := f.Observe(w)
					found += len(obs.Violations)
					d.apply(w)
					f.Settle(true)
				}
				show(w)
				if isSuper(w) || w.Data == nil {
					return found == 0 && (!done || w.Off != primary)
				}
				for at := uint64(0); !done && at+size <= w.Len; at += pageSize {
					if b := w.Data[at : at+size]; ofRootTree(d, b) {
						done = true
						show(then(interp.Write{Off: w.Off + at, Len: size, Data: b}))
					}
				}
				return found == 0 && (!done || w.Off != primary)
			}, func(seq uint64) { f.Flushed(0, seq) })
			if !done || found == 0 {
				t.Errorf("a root was written: %t, violations: %d", done, found)
			}
		})
	}
}
