package btrfs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// A pointer is the reference to a metadata block in its parent, in a root item or in a superblock.
type pointer struct {
	logical, generation uint64
	level               uint8
	chunkTree           bool // the block belongs to the chunk tree and lies in a SYSTEM chunk
}

// A reader reads the metadata blocks of one state of a file system through a cache. All states
// share the cache.
type reader struct {
	disk   interp.Disk
	rules  nodeRules
	chunks *chunkMap
	cache  *nodeCache
	recent *recentNodes // of a View; nil for others

	work    *change.Work // of a View; nil for others
	stopped *atomic.Bool // set once nobody needs the result; nil: reads are never stopped
}

func (r *reader) isStopped() bool { return r.stopped != nil && r.stopped.Load() }

var errStopped = errors.New("stopped")

// node returns the block that a pointer leads to. It has checked the block by itself and against
// the pointer. If all is set, it reads every copy, and the copies must be the same; otherwise the
// first sound copy suffices. A *structureError is a fault of the block; any other error means that
// it could not read the block.
func (r *reader) node(p pointer, all bool) (*ondisk.Node, error) {
	if r.recent == nil || all {
		return r.readNode(p, all)
	}
	recent := r.recent.at(p.logical)
	if recent.node != nil && recent.pointer == p && !r.isStopped() {
		return recent.node, nil
	}
	n, err := r.readNode(p, false)
	if err == nil {
		*recent = recentNode{p, n}
	}
	return n, err
}

// readNode is node without the recent nodes.
func (r *reader) readNode(p pointer, all bool) (*ondisk.Node, error) {
	types := uint64(ondisk.GroupMetadata)
	if p.chunkTree {
		types = ondisk.GroupSystem
	}
	n, err := r.block(p.logical, types, all)
	if err != nil {
		return nil, err
	}
	if n.Level() != p.level {
		return nil, violatedAt(levelRule, n.Addr(), "block %d: level is %d, its parent says %d",
			p.logical, n.Level(), p.level)
	}
	if n.Generation() != p.generation {
		return nil, violatedAt(generationRule, n.Addr(),
			"block %d: generation is %d, its parent says %d", p.logical, n.Generation(), p.generation)
	}
	return n, nil
}

// block returns the block at a logical address, which must lie in a chunk of one of the types. It
// has checked the block by itself.
func (r *reader) block(logical, types uint64, all bool) (*ondisk.Node, error) {
	if logical%uint64(r.rules.sectorSize) != 0 {
		return nil, violated(pointerRule,
			"a pointer leads to %d, which is not a multiple of sectorsize", logical)
	}
	addrs, count, err := r.chunks.copies(logical, uint64(r.rules.nodeSize), types)
	if err != nil {
		return nil, err
	}
	if r.isStopped() {
		return nil, errStopped
	}
	n, whole := r.cache.get(addrs[:count])
	if n == nil || all && !whole || n.Logical() != logical {
		return r.fetch(logical, slices.Clone(addrs[:count]), all) // a cache hit allocates nothing
	}
	return n, nil
}

// fetch reads a block from the disk into the cache. A block that is rebuilt from parity differs
// from what is in its place.
func (r *reader) fetch(logical uint64, addrs []uint64, all bool) (*ondisk.Node, error) {
	if err := r.work.Spend(fetchSteps); err != nil {
		return nil, err
	}
	reading := r.cache.begin(addrs)
	n, err := r.load(logical, addrs, all)
	whole := all || len(addrs) == 1
	if err != nil && (!all || isLost(addrs[0])) {
		n, err = r.rebuild(logical, err)
		whole = false
	}
	r.cache.end(reading, n, whole)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// load reads a block from the disk and checks it by itself: all copies, or the first sound one.
func (r *reader) load(logical uint64, addrs []uint64, all bool) (*ondisk.Node, error) {
	var first *ondisk.Node
	var firstErr error
	for _, addr := range addrs {
		var b []byte
		if first == nil {
			b = make([]byte, r.rules.nodeSize)
		} else {
			buf := r.cache.borrow()
			defer r.cache.giveBack(buf)
			b = *buf
		}
		if err := readFull(r.disk, b, addr); err != nil {
			if all {
				return nil, err
			}
			firstErr = errors.Join(firstErr, err)
			continue
		}
		if first != nil && bytes.Equal(first.Bytes(), b) {
			continue
		}
		n, err := checkNode(disk.NewRegion(b, addr), logical, r.rules)
		switch {
		case err != nil && all:
			return nil, err
		case err != nil:
			if firstErr == nil {
				firstErr = err
			}
			continue
		case !all:
			return n, nil
		case first != nil:
			return nil, violatedAt(copiesRule, addr, "block %d differs from its copy at %s",
				logical, addressText(first.Addr()))
		}
		first = n
	}
	if first == nil {
		return nil, firstErr
	}
	return first, nil
}

// readFull reads len(b) bytes at a device address.
func readFull(d io.ReaderAt, b []byte, addr uint64) error {
	if addr > 1<<63-1 {
		return fmt.Errorf("cannot read at device address %d", addr)
	}
	n, err := d.ReadAt(b, int64(addr))
	if n < len(b) {
		return fmt.Errorf("cannot read %d bytes at device address %s: %w",
			len(b), addressText(addr), shortRead(err))
	}
	return nil
}

// shortRead returns the error of a short read, which may have come without one.
func shortRead(err error) error {
	if err == nil {
		return io.ErrUnexpectedEOF
	}
	return err
}
