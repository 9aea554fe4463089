package ext3

import (
	"bytes"
	"io"
	"slices"
	"sync"

	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// A guest waits for the verdict on a commit. So fsward keeps two stores in memory: the blocks that
// the next commit is compared with, and the new blocks of the log. For a commit of a few hundred
// blocks, the reads from the device then take less time than the kernel's own flush.

// keptBytes is the bound on each of the two stores in bytes, if the disk has the default bound on
// memory.
const keptBytes = 16 << 20

// maxKept returns the bound on each store within limits, bytes: a sixteenth of the disk's memory.
func maxKept(limits interp.Limits) int {
	if limits.Memory == 0 {
		return keptBytes
	}
	return int(min(keptBytes, limits.Memory/16))
}

// keptBlocks holds contents of blocks as the last commit left them, by block number. It is safe for
// concurrent use. A nil keptBlocks holds nothing.
type keptBlocks struct {
	mu     sync.Mutex
	blocks map[uint32][]byte
	most   int
}

func newKeptBlocks(bytes int, geo *ondisk.Geometry) *keptBlocks {
	return &keptBlocks{blocks: make(map[uint32][]byte), most: bytes / int(geo.BlockSize)}
}

// get returns the contents of a block, nil if they are not kept. The caller must not change them.
func (k *keptBlocks) get(block uint32) []byte {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.blocks[block]
}

func (k *keptBlocks) drop(blocks ...uint32) {
	if k == nil || len(blocks) == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, b := range blocks {
		delete(k.blocks, b)
	}
}

// within lists the kept blocks from first to last.
func (k *keptBlocks) within(first, last uint64) (blocks []uint32) {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if last-first >= uint64(len(k.blocks)) {
		for b := range k.blocks {
			if uint64(b) >= first && uint64(b) <= last {
				blocks = append(blocks, b)
			}
		}
		return blocks
	}
	for b := first; b <= last; b++ {
		if _, has := k.blocks[uint32(b)]; has {
			blocks = append(blocks, uint32(b))
		}
	}
	return blocks
}

// committed keeps the blocks that the comparison of a transaction has read. The transaction is
// committed now.
func (k *keptBlocks) committed(c comparison) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for b := range c.delta.rewritten {
		delete(k.blocks, b)
	}
	for b, contents := range c.delta.old.cache {
		if !c.delta.rewritten[b] {
			k.put(b, contents)
		}
	}
	for b, contents := range c.delta.new.cache {
		k.put(b, contents)
	}
}

// put adds a block. If there are too many blocks, it replaces another.
func (k *keptBlocks) put(block uint32, contents []byte) {
	if len(k.blocks) >= k.most {
		for other := range k.blocks {
			delete(k.blocks, other)
			break
		}
	}
	if len(k.blocks) < k.most {
		k.blocks[block] = contents
	}
}

// stale lists the kept blocks whose contents a write changes. placed lists, in order, the blocks to
// which the write gives the contents of the last commit.
func (s *State) stale(w interp.Write, placed []uint32) []uint32 {
	bs := uint64(s.geo.BlockSize)
	return slices.DeleteFunc(s.kept.within(w.Off/bs, (w.Off+w.Len-1)/bs), func(b uint32) bool {
		_, same := slices.BinarySearch(placed, b)
		return same && b != s.geo.SuperBlock()
	})
}

// A logTail holds the blocks of the log that were written since the last commit.
type logTail struct {
	blocks map[uint32][]byte // by block of the file system
	bytes  int
}

// wrote takes a copy of the part of a write that is in the log, up to most bytes in all. A write
// without data may have reached the device in part.
func (l *logTail) wrote(w interp.Write, j *Journal, most int) {
	bs := uint64(j.Geo.BlockSize)
	var data []byte
	if l.bytes+len(w.Data) <= most {
		data = bytes.Clone(w.Data)
		l.bytes += len(data)
	}
	if l.blocks == nil {
		l.blocks = make(map[uint32][]byte)
	}
	for b := w.Off / bs; b*bs < w.Off+w.Len; b++ {
		if logical, inside := j.Logical(uint32(b)); !inside || logical <= j.superAt {
			continue // the journal's superblock is no part of the log
		}
		if at := b * bs; data != nil && at >= w.Off && at+bs <= w.Off+w.Len {
			l.blocks[uint32(b)] = data[at-w.Off:][:bs:bs]
		} else {
			delete(l.blocks, uint32(b))
		}
	}
}

// A memoryReader is a device that has some blocks in memory.
type memoryReader interface {
	io.ReaderAt
	// contents returns a block, nil if it has to be read. The caller must not change it.
	contents(g *ondisk.Geometry, block uint32) ([]byte, error)
}
