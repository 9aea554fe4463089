package ext3

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// Steps of a judgment, in the time that rules take to look at a record or an object.
const (
	fetchSteps = 100 // to read a block that is not in the cache
	namesSteps = 30  // to go through the names in a block of a directory
)

// cacheBytes bounds the blocks that a state keeps in memory.
const cacheBytes = 16 << 20

// A copyPlace is the place of a copy in the journal.
type copyPlace struct {
	Block   uint32 // of the file system
	Seq     uint32 // of the transaction
	Escaped bool   // the block begins with the journal's magic, which the copy has replaced with zeros
}

// A State is the file system after a sequence of commits. Its blocks are in their places, or in the
// journal if they were committed and not written to their places since.
type State struct {
	dev    io.ReaderAt
	geo    *ondisk.Geometry
	blocks uint64               // of the device, which can be longer than the file system: it may grow
	Copies map[uint32]copyPlace // by the block that is copied
	// over and revoked are the changes of one more transaction. They come before Copies. Both can
	// be nil.
	over    map[uint32]copyPlace
	revoked *numberSet
	cache   map[uint32][]byte
	// recent holds the last used blocks of the cache, each at its number modulo recentBlocks.
	recent [recentBlocks]recentBlock
	// the cache of the state that this one was forked from; it does not grow meanwhile
	lender     map[uint32][]byte
	kept       *keptBlocks      // nil: nothing is kept
	watch      *watch           // of a forecast; nil: none
	meter      change.WorkMeter // of the judgment that reads the state
	lends      bool             // another state reads Copies as well: see lent
	readBuffer []byte           // the buffer of eachBlock; nil until it is needed
}

// recentBlocks is the number of blocks that are found without the map. They are those that several
// inodes in sequence need.
const recentBlocks = 64

type recentBlock struct {
	block    uint32
	contents []byte // nil: none
}

func NewState(dev io.ReaderAt, geo *ondisk.Geometry, size uint64) *State {
	return &State{dev: dev, geo: geo, blocks: size / uint64(geo.BlockSize),
		Copies: make(map[uint32]copyPlace), cache: make(map[uint32][]byte)}
}

// with returns the state after a transaction. It reads from dev.
func (s *State) with(dev io.ReaderAt, t *transaction) *State {
	return &State{dev: dev, geo: s.geo, blocks: s.blocks, Copies: s.Copies, over: t.Copies,
		revoked: &t.revoked, kept: s.kept, watch: s.watch, cache: make(map[uint32][]byte)}
}

// lent returns the present state for another goroutine. It reads from dev, and later commits do not
// change it.
func (s *State) lent(dev watched) *State {
	s.lends = true
	return &State{dev: dev, geo: s.geo, blocks: s.blocks, Copies: s.Copies, kept: s.kept,
		watch: dev.watch, cache: make(map[uint32][]byte)}
}

// fork returns the state for another goroutine. Nobody may read s until that goroutine ends.
func (s *State) fork() *State {
	f := *s
	f.cache, f.recent, f.readBuffer = make(map[uint32][]byte), [recentBlocks]recentBlock{}, nil
	f.meter = s.meter.Fork()
	if s.lender == nil {
		f.lender = s.cache
	}
	return &f
}

// drop forgets the copy of a block.
func (s *State) drop(block uint32) {
	if s.lends {
		s.Copies, s.lends = maps.Clone(s.Copies), false
	}
	delete(s.Copies, block)
}

// Place returns where the present contents of a block are, and whether that is in the journal.
func (s *State) Place(block uint32) (copyPlace, bool) {
	if p, ok := s.over[block]; ok {
		return p, true
	}
	if s.revoked.contains(block) {
		return copyPlace{}, false
	}
	p, ok := s.Copies[block]
	return p, ok
}

// Block returns the contents of a block of the device. The caller must not change them.
func (s *State) Block(block uint32) ([]byte, error) {
	if s.watch != nil && s.watch.stopped.Load() {
		return nil, errStopped
	}
	if err := s.meter.Spend(1); err != nil {
		return nil, err
	}
	recent := &s.recent[block%recentBlocks]
	if recent.block == block && recent.contents != nil {
		return recent.contents, nil
	}
	b, ok := s.cache[block]
	if !ok {
		b, ok = s.lender[block]
	}
	if !ok {
		err := s.meter.Spend(fetchSteps)
		if err == nil {
			b, err = s.fetch(block)
		}
		if err != nil {
			return nil, err
		}
		s.enter(block, b)
	}
	*recent = recentBlock{block, b}
	return b, nil
}

// fetch reads a block that is not in the cache.
func (s *State) fetch(block uint32) ([]byte, error) {
	p, err := s.where(block)
	if err != nil {
		return nil, err
	}
	if _, over := s.over[block]; !over && !s.revoked.contains(block) {
		if b := s.kept.get(block); b != nil {
			return b, s.watch.reads(s.geo.Addr(p.Block), uint64(s.geo.BlockSize))
		}
	}
	b, err := ReadBlock(s.dev, s.geo, p.Block)
	if err == nil && p.Escaped {
		b = bytes.Clone(b)
		binary.BigEndian.PutUint32(b, ondisk.JournalMagic)
	}
	return b, err
}

// forget empties the cache.
func (s *State) forget() {
	clear(s.cache)
	clear(s.recent[:])
}

// read is Block for a caller that has a buffer and does not need the block again.
func (s *State) read(block uint32, b []byte) ([]byte, error) {
	if kept := s.kept.get(block); kept != nil {
		return kept, nil
	}
	p, err := s.where(block)
	if err != nil {
		return nil, err
	}
	if err := readInto(b, s.dev, s.geo, p.Block); err != nil {
		return nil, err
	}
	if p.Escaped {
		binary.BigEndian.PutUint32(b, ondisk.JournalMagic)
	}
	return b, nil
}

// where returns the place from which a block is read. It checks that the block is on the device.
func (s *State) where(block uint32) (copyPlace, error) {
	if uint64(block) >= s.blocks {
		return copyPlace{}, ondisk.Corrupt(s.geo.Addr(block),
			"block %d lies outside the device of %d blocks", block, s.blocks)
	}
	p, copied := s.Place(block)
	if !copied {
		p = copyPlace{Block: block}
	}
	return p, nil
}

// ReadBlock returns a block of a device. The caller must not change it.
func ReadBlock(dev io.ReaderAt, g *ondisk.Geometry, block uint32) ([]byte, error) {
	if m, ok := dev.(memoryReader); ok {
		if b, err := m.contents(g, block); b != nil || err != nil {
			return b, err
		}
	}
	b := make([]byte, g.BlockSize)
	return b, readInto(b, dev, g, block)
}

func readInto(b []byte, dev io.ReaderAt, g *ondisk.Geometry, block uint32) error {
	if n, err := dev.ReadAt(b, int64(g.Addr(block))); n < len(b) {
		return fmt.Errorf("ext3: cannot read the block at device address %d: %w", g.Addr(block), err)
	}
	return nil
}

// A PendingDevice is the device as it will be after a write.
type PendingDevice struct {
	io.ReaderAt
	W interp.Write
}

func (d PendingDevice) ReadAt(p []byte, off int64) (int, error) {
	n, err := d.ReaderAt.ReadAt(p, off)
	start, end := uint64(off), uint64(off)+uint64(n)
	lo, hi := max(start, d.W.Off), min(end, d.W.Off+d.W.Len)
	switch {
	case lo >= hi:
	case d.W.Data == nil:
		clear(p[lo-start : hi-start])
	default:
		copy(p[lo-start:hi-start], d.W.Data[lo-d.W.Off:hi-d.W.Off])
	}
	return n, err
}

// contents returns a block that is in memory, nil if it is not or if the write changes it.
func (d PendingDevice) contents(g *ondisk.Geometry, block uint32) ([]byte, error) {
	m, ok := d.ReaderAt.(memoryReader)
	if !ok || touches(d.W, g.Addr(block), uint64(g.BlockSize)) {
		return nil, nil
	}
	return m.contents(g, block)
}

// block returns a block as it will be: the data of the write if it covers the block, else read into
// b.
func (d PendingDevice) block(g *ondisk.Geometry, block uint32, b []byte) ([]byte, error) {
	if at := g.Addr(block); d.W.Data != nil && at >= d.W.Off &&
		at+uint64(g.BlockSize) <= d.W.Off+d.W.Len {
		return d.W.Data[at-d.W.Off:][:g.BlockSize], nil
	}
	return b, readInto(b, d, g, block)
}

// touches reports whether a write changes any of n bytes at off.
func touches(w interp.Write, off, n uint64) bool { return w.Off < off+n && off < w.Off+w.Len }
