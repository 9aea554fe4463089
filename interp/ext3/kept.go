package ext3

import (
	"bytes"
	"io"
	"slices"
	"sync"

	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// Someone waits for the verdict on a commit. So what it is compared with is kept in memory, as is
// the log from when it was written: a commit of a few hundred blocks reads less from the device
// than the kernel's own flush takes.

// keptBytes bounds each of the two, where a disk may use as much memory as by default.
const keptBytes = 16 << 20

// maxKept is how many bytes of each are kept within limits: a sixteenth of the disk's memory.
func maxKept(limits interp.Limits) int {
	if limits.Memory == 0 {
		return keptBytes
	}
	return int(min(keptBytes, limits.Memory/16))
}

// keptBlocks are contents of blocks as the last commit left them, by their numbers. Safe for
// concurrent use; nil holds nothing.
type keptBlocks struct {
	mu     sync.Mutex
	blocks map[uint32][]byte
	most   int
}

func newKeptBlocks(bytes int, geo *ondisk.Geometry) *keptBlocks {
	return &keptBlocks{blocks: make(map[uint32][]byte), most: bytes / int(geo.BlockSize)}
}

// get returns the contents of a block, which the caller must not change; nil if they are not kept.
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

// within lists the blocks from first to last that are kept.
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

// committed takes over what was read to compare a transaction, which is committed now.
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

// put adds a block, in the place of any other where there are too many.
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

// stale lists the blocks that are kept and that a write makes something else of. placed are those,
// in order, that it writes as the last commit made them.
func (s *State) stale(w interp.Write, placed []uint32) []uint32 {
	bs := uint64(s.geo.BlockSize)
	return slices.DeleteFunc(s.kept.within(w.Off/bs, (w.Off+w.Len-1)/bs), func(b uint32) bool {
		_, same := slices.BinarySearch(placed, b)
		return same && b != s.geo.SuperBlock()
	})
}

// A logTail holds blocks of the log as they were written since the last commit.
type logTail struct {
	blocks map[uint32][]byte // by block of the file system
	bytes  int
}

// wrote is told of a write, and takes a copy of what of it is in the log, up to most bytes in all.
// It has no data where it may not be on the device as a whole.
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
		if logical, inside := j.Logical(uint32(b)); !inside || logical == 0 {
			continue // the journal's superblock is none of it
		}
		if at := b * bs; data != nil && at >= w.Off && at+bs <= w.Off+w.Len {
			l.blocks[uint32(b)] = data[at-w.Off:][:bs:bs]
		} else {
			delete(l.blocks, uint32(b))
		}
	}
}

// A memoryReader is a device of which some blocks are in memory.
type memoryReader interface {
	io.ReaderAt
	// contents returns a block, which the caller must not change; nil if it has to be read.
	contents(g *ondisk.Geometry, block uint32) ([]byte, error)
}
