package btrfs_test

import (
	"encoding/binary"
	"testing"

	"fsward/interp"
	"fsward/interp/btrfs"
	"fsward/shareddata"
)

// readsOf is a disk that notes where blocks are read.
type readsOf struct {
	*sparseDisk
	at []uint64
}

func (d *readsOf) ReadAt(p []byte, off int64) (int, error) {
	d.at = append(d.at, uint64(off))
	return d.sparseDisk.ReadAt(p, off)
}

// What a commit has written is not read from the disk to judge it.
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
					t.Fatalf("commit %d: the block at %d is read, and was written in this commit", commits, at)
				}
			}
			clear(written)
		}
		d.apply(w)
		f.Settle(true)
		for at := uint64(0); at+4096 <= w.Len && w.Data != nil; at += 4096 {
			written[w.Off+at] = w.Off != primary && w.Off != mirror && namesItself(d.sparseDisk, w.Data[at:])
		}
		return true
	}, func(seq uint64) { f.Flushed(0, seq) })
	if commits != 21 {
		t.Errorf("%d commits", commits)
	}
}

// Of two copies both have to be written, alike and last.
func TestWrittenCopies(t *testing.T) {
	d := madeDisk(t, "-n", "16384")
	f := follow(t, d)
	sb := make([]byte, 4096)
	_, _ = d.ReadAt(sb, primary)
	var places []uint64
	block := make([]byte, 16384)
	for at := uint64(0); at < d.size; at += pageSize {
		b := make([]byte, len(block))
		_, _ = d.ReadAt(b, int64(at))
		if namesItself(d, b) && string(b[48:56]) == string(sb[80:88]) && at != primary && at != mirror {
			places, block = append(places, at), b
		}
	}
	if len(places) != 2 {
		t.Fatalf("the root of the root tree is at %d", places)
	}
	for i, step := range []struct {
		at      uint64
		cut     uint64 // bytes that are not written of it
		failed  bool
		whole   bool
		comment string
	}{
		{at: places[0], comment: "one copy"},
		{at: places[0], comment: "the same again"},
		{at: places[1], whole: true, comment: "the other"},
		{at: places[0], whole: true, comment: "what is there already"},
		{at: places[1], cut: 4096, comment: "a part of one"},
		{at: places[1], comment: "that one as a whole"},
		{at: places[0], whole: true, comment: "and the other"},
		{at: places[1], failed: true, comment: "a write that failed"},
	} {
		w := interp.Write{Off: step.at, Len: uint64(len(block)) - step.cut, Data: block[:uint64(len(block))-step.cut]}
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

// namesItself reports whether a block of metadata begins there.
func namesItself(d *sparseDisk, b []byte) bool { return [16]byte(b[32:48]) == [16]byte(fsidOf(d)) }

// A block that was written well and is not there any more when its commit comes is missed, whatever
// became of it.
func TestWrittenBlocksThatGo(t *testing.T) {
	base := openDisk(t, shareddata.Path(t, "logs/btrfs-single-4k.base.img.zst"))
	for name, then := range map[string]func(root interp.Write) interp.Write{
		"discarded": func(root interp.Write) interp.Write { return interp.Write{Off: root.Off, Len: root.Len, Discard: true} },
		"zeros":     func(root interp.Write) interp.Write { return interp.Write{Off: root.Off, Len: root.Len} },
		"its end written over": func(root interp.Write) interp.Write {
			return interp.Write{Off: root.Off + root.Len - 512, Len: 512, Data: make([]byte, 512)}
		},
		"another in its place": func(root interp.Write) interp.Write {
			b := append([]byte(nil), root.Data...)
			b[100]++ // its level
			reseal(b)
			return interp.Write{Off: root.Off, Len: root.Len, Data: b}
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := base.clone()
			f := follow(t, d)
			super := make([]byte, 4096)
			_, _ = d.ReadAt(super, primary)
			size := uint64(binary.LittleEndian.Uint32(super[148:]))
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
				for at := uint64(0); !done && w.Off != primary && w.Off != mirror && w.Data != nil && at+size <= w.Len; at += 4096 {
					if b := w.Data[at : at+size]; namesItself(d, b) && binary.LittleEndian.Uint64(b[88:]) == 1 {
						done = true
						show(then(interp.Write{Off: w.Off + at, Len: size, Data: b}))
					}
				}
				return found == 0 && (!done || w.Off != primary)
			}, func(seq uint64) { f.Flushed(0, seq) })
			if !done || found == 0 {
				t.Errorf("a root was written %t, violations %d", done, found)
			}
		})
	}
}
