package ext3

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"fsward/interp/ext3/ondisk"
)

// countingReader counts the reads of a device, and their bytes. It cannot read the byte at bad.
type countingReader struct {
	io.ReaderAt
	reads, bytes int
	bad          int64 // 0: none
}

func (c *countingReader) ReadAt(p []byte, off int64) (int, error) {
	c.reads++
	c.bytes += len(p)
	if off <= c.bad && c.bad < off+int64(len(p)) && c.bad > 0 {
		return 0, io.ErrUnexpectedEOF
	}
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

// TestWindow compares a window with Block, for orders of blocks that are read ahead and for one
// that is not, and counts what is read.
func TestWindow(t *testing.T) {
	const size, blocks = 1024, 8192
	image := make([]byte, blocks*size)
	random := rand.New(rand.NewPCG(3, 4))
	for i := range image {
		image[i] = byte(random.IntN(256))
	}
	geo := &ondisk.Geometry{BlockSize: size, Blocks: blocks}
	every := func(step int) (list []uint32) {
		for b := 1; b < blocks; b += step {
			list = append(list, uint32(b))
		}
		return list
	}
	shuffled := every(1)
	random.Shuffle(len(shuffled), func(i, j int) {
		shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
	})
	elsewhere := map[uint32][]byte{130: image[3000*size:][:size],
		131: bytes.Repeat([]byte{7}, size), 500: bytes.Repeat([]byte{8}, size)}
	for _, tc := range []struct {
		name         string
		order        []uint32
		reads, bytes int // at most
	}{
		{"each", every(1), 100, 11 * blocks / 10 * size},
		{"every second", every(2), 100, 11 * blocks / 10 * size},
		{"shuffled", shuffled, blocks, 12 * blocks / 10 * size},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dev := &countingReader{ReaderAt: bytes.NewReader(image), bad: 4000*size + 7}
			s := NewState(dev, geo, blocks*size)
			s.Copies[130] = copyPlace{Block: 3000}
			s.kept = newKeptBlocks(1<<20, geo)
			s.kept.blocks[131], s.cache[500] = elsewhere[131], elsewhere[500]
			var w window
			for _, block := range tc.order {
				got, err := w.next(s, block)
				want, elsewhere := elsewhere[block]
				if !elsewhere {
					want = image[block*size:][:size]
				}
				if (err != nil) != (block == 4000) || err == nil && !bytes.Equal(got, want) {
					t.Fatalf("block %d: other contents, or error %v", block, err)
				}
			}
			if dev.reads > tc.reads || dev.bytes > tc.bytes {
				t.Errorf("%d reads of %d bytes, want at most %d of %d", dev.reads, dev.bytes, tc.reads,
					tc.bytes)
			}
			if len(s.cache) > 10 {
				t.Errorf("%d blocks are in the cache", len(s.cache))
			}
		})
	}
	var w window
	if _, err := w.next(NewState(bytes.NewReader(image), geo, blocks*size), blocks); err == nil {
		t.Error("a block after the end of the device is read")
	}
}
