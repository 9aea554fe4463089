package tree

import (
	"encoding/binary"
	"errors"

	"github.com/cespare/xxhash/v2"

	"fsward/interp"
)

// contents hashes the data of a file: its blocks that are not zero, with their numbers. So a hole
// is equal to zeros, and a sparse file costs what its blocks cost.
type contents struct {
	hash *xxhash.Digest
	size uint64 // of the file, bytes
}

func newContents(size uint64) *contents { return &contents{xxhash.New(), size} }

// add adds block n of the file.
func (c *contents) add(n uint64, b []byte) {
	at := n * uint64(len(b))
	if at >= c.size {
		return
	}
	b = b[:min(uint64(len(b)), c.size-at)]
	for _, x := range b {
		if x != 0 {
			_, _ = c.hash.Write(binary.LittleEndian.AppendUint64(nil, n))
			_, _ = c.hash.Write(b)
			return
		}
	}
}

// A budget is the bytes that may still be read from files. In a sound file system no two of them
// share a block, so that they have no more bytes than the disk.
type budget uint64

// budgetOf returns the budget of a disk. A directory is read twice.
func budgetOf(disk interp.Disk) budget { return budget(2 * disk.Size()) }

// spend returns an error if n bytes are too many.
func (b *budget) spend(n uint64) error {
	if n > uint64(*b) {
		return errors.New("the files have more blocks than the disk")
	}
	*b -= budget(n)
	return nil
}
