package minix

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// FuzzRead reads any image: no panic, and no more blocks than the disk has.
func FuzzRead(f *testing.F) {
	for _, magic := range []struct{ at, value uint16 }{{16, 0x137f}, {16, 0x2478}, {24, 0x4d5a}} {
		b := make([]byte, 16<<10)
		binary.LittleEndian.PutUint16(b[BlockSize+int(magic.at):], magic.value)
		binary.LittleEndian.PutUint16(b[BlockSize:], 16)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		fs, err := Open(bytes.NewReader(b), uint64(len(b)))
		if err != nil {
			return
		}
		for n := range min(fs.inodes, 64) {
			i, err := fs.Inode(n + 1)
			if err != nil {
				continue
			}
			blocks := 0
			_ = fs.Blocks(i, func(_, _ uint64) { blocks++ }, func(uint64) {})
			if blocks > len(b)/BlockSize+1 {
				t.Fatalf("%d blocks of a disk of %d bytes", blocks, len(b))
			}
			_, _ = fs.Entries(i)
		}
	})
}
