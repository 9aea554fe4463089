package ext3

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"fsward/interp/ext3/ondisk"
)

// countingReader counts the reads of a device.
type countingReader struct {
	io.ReaderAt
	reads int
}

func (c *countingReader) ReadAt(p []byte, off int64) (int, error) {
	c.reads++
	return c.ReaderAt.ReadAt(p, off)
}

// TestEachBlock compares eachBlock with Block for blocks on the device, in the cache, in memory and
// in the journal, and counts the reads.
func TestEachBlock(t *testing.T) {
	const size, blocks, n = 1024, 4096, 2000
	image := make([]byte, blocks*size)
	random := rand.New(rand.NewPCG(1, 2))
	for block := range blocks {
		if random.IntN(4) == 0 { // the others are zeros
			image[block*size+random.IntN(size)] = byte(1 + random.IntN(255))
		}
	}
	geo := &ondisk.Geometry{BlockSize: size, Blocks: blocks}
	state := func() (*State, *countingReader) {
		dev := &countingReader{ReaderAt: bytes.NewReader(image)}
		s := NewState(dev, geo, blocks*size)
		s.Copies[130] = copyPlace{Block: 3000}
		s.kept = newKeptBlocks(1<<20, geo)
		s.kept.blocks[131] = bytes.Repeat([]byte{7}, size)
		s.cache[500] = bytes.Repeat([]byte{8}, size)
		return s, dev
	}
	s, dev := state()
	want, _ := state()
	next := uint32(100)
	err := s.eachBlock(next, n, func(block uint32, contents []byte) error {
		b, err := want.Block(block)
		if err != nil || block != next || !bytes.Equal(contents, b) {
			t.Fatalf("block %d, want %d: other contents than those of Block (%v)", block, next, err)
		}
		next++
		return nil
	})
	if err != nil || next != 100+n {
		t.Fatalf("ended before block %d: %v", next, err)
	}
	if most := n*size/aheadBytes + 5; dev.reads > most {
		t.Errorf("%d reads, want at most %d", dev.reads, most)
	}
	for block, b := range s.cache {
		if c, err := want.Block(block); err != nil || !bytes.Equal(b, c) {
			t.Errorf("block %d is in the cache with other contents (%v)", block, err)
		}
		if bytes.Equal(b, zeros[:size]) && block != 130 {
			t.Errorf("block %d of zeros is in the cache", block)
		}
	}
	if err := s.eachBlock(blocks-10, 20, func(uint32, []byte) error { return nil }); err == nil {
		t.Error("blocks after the end of the device are read")
	}
}
