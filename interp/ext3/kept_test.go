package ext3

import (
	"bytes"
	"testing"

	"fsward/interp"
	"fsward/interp/ext3/ondisk"
	"fsward/shareddata"
)

// withoutKept returns an FS that reads everything from the device.
func withoutKept(t *testing.T, d interp.Disk) *FS {
	fs := newFS(t, d)
	fs.limits.Memory = 1
	if fs.m != nil {
		fs.m.State.kept = nil
	}
	return fs
}

// keptIsRight checks that the kept blocks have the contents of the last commit, and that the kept
// log equals that on the device. It returns the number of blocks of each.
func keptIsRight(t *testing.T, fs *FS) (blocks, log int) {
	t.Helper()
	if fs.m == nil {
		return 0, 0
	}
	fresh := *fs.m.State
	fresh.kept, fresh.cache = nil, make(map[uint32][]byte)
	for b, contents := range fs.m.State.kept.blocks {
		if want, err := fresh.fetch(b); err != nil || !bytes.Equal(contents, want) {
			t.Fatalf("block %d is kept with something else: %v", b, err)
		}
	}
	for b, contents := range fs.tail.blocks {
		if want, err := ReadBlock(fs.disk, fs.geo, b); err != nil || !bytes.Equal(contents, want) {
			t.Fatalf("block %d of the log is kept with something else: %v", b, err)
		}
	}
	return len(fs.m.State.kept.blocks), len(fs.tail.blocks)
}

func TestKeptBlocks(t *testing.T) {
	d := OpenImage(t, Unpack(t, shareddata.Path(t, "logs/ext3-default.base.img.zst")))
	fs := newFS(t, d)
	n, blocks, log := 0, 0, 0
	writes(t, Unpack(t, shareddata.Path(t, "logs/ext3-default.log.zst")), func(w interp.Write) {
		obs := fs.Observe(w)
		d.Apply(w)
		fs.Settle(true)
		if n++; n%64 == 0 || obs.Point == interp.CommitPoint {
			b, l := keptIsRight(t, fs)
			blocks, log = max(blocks, b), max(log, l)
		}
		if obs.Point != interp.CommitPoint || obs.Generation != 10 {
			return
		}
		// Writes that land whatever the verdict is.
		for block := range fs.m.State.kept.blocks {
			if block < 2 || block+2 > fs.geo.Blocks {
				continue // the superblock would be erased
			}
			was := present(t, fs, block)
			for _, w := range []interp.Write{
				{Off: was.Off, Len: was.Len, Data: bytes.Repeat([]byte{7}, int(was.Len))},
				{Off: was.Off - 4096, Len: 3 * 4096},
				{Off: was.Off + 100, Len: 8, Data: make([]byte, 8)},
			} {
				var before [3]interp.Write
				for i := range before {
					before[i] = present(t, fs, block+uint32(i)-1)
				}
				fs.Observe(w)
				d.Apply(w)
				fs.Settle(true)
				keptIsRight(t, fs)
				for _, w := range before {
					d.Apply(w)
				}
			}
		}
	})
	if blocks < 100 || log < 10 {
		t.Errorf("%d blocks were kept, %d of the log", blocks, log)
	}
}

// TestKeptBlocksAreBounded checks that the memory limit bounds the kept blocks.
func TestKeptBlocksAreBounded(t *testing.T) {
	k := &keptBlocks{blocks: make(map[uint32][]byte), most: 10}
	for b := range uint32(100) {
		k.put(b, []byte{byte(b)})
	}
	if len(k.blocks) != 10 || k.blocks[99] == nil {
		t.Errorf("%d blocks are kept, the last of them: %v", len(k.blocks), k.blocks[99])
	}
	if got := len(k.within(0, 1<<40)); got != 10 {
		t.Errorf("%d blocks are within all", got)
	}
	var l logTail
	j := &Journal{Geo: &ondisk.Geometry{BlockSize: 1024}, Runs: []run{{0, 100, 50}},
		JournalSuper: ondisk.JournalSuper{MaxLen: 50}}
	for n := range uint64(20) {
		l.wrote(interp.Write{Off: (101 + n) * 1024, Len: 1024, Data: make([]byte, 1024)}, j, 10<<10)
	}
	if len(l.blocks) != 10 {
		t.Errorf("%d blocks of the log are kept", len(l.blocks))
	}
}
