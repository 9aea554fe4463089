package btrfs_test

import (
	"encoding/binary"
	"hash/crc32"

	"fsward/interp/btrfs/ondisk"
)

// Helpers for raw superblocks and metadata blocks.

func get32(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
func get64(b []byte, at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }

func put16(off int, v uint16) func(b []byte) {
	return func(b []byte) { binary.LittleEndian.PutUint16(b[off:], v) }
}

func put32(off int, v uint32) func(b []byte) {
	return func(b []byte) { binary.LittleEndian.PutUint32(b[off:], v) }
}

func put64(off int, v uint64) func(b []byte) {
	return func(b []byte) { binary.LittleEndian.PutUint64(b[off:], v) }
}

// reseal recomputes the CRC-32C checksum of a superblock or metadata block.
func reseal(b []byte) { binary.LittleEndian.PutUint32(b, crc32c(b)) }

// crc32c returns the checksum of the contents of a superblock or metadata block.
func crc32c(b []byte) uint32 {
	return crc32.Checksum(b[ondisk.CsumArea:], crc32.MakeTable(crc32.Castagnoli))
}

// fsidIn returns the fsid of a superblock or metadata block, which have it at the same offset.
func fsidIn(b []byte) [16]byte { return [16]byte(b[ondisk.HeaderFSIDAt:]) }

// itemCount returns the number of items or pointers of a metadata block.
func itemCount(b []byte) int { return int(get32(b, ondisk.HeaderNrItemsAt)) }

// headAt returns the offset of the header of item i in a leaf.
func headAt(i int) int { return ondisk.HeaderSize + i*ondisk.ItemSize }

// itemHead returns the header of item i in a leaf.
func itemHead(leaf []byte, i int) []byte { return leaf[headAt(i):headAt(i+1)] }

// itemData returns the data of item i in a leaf.
func itemData(leaf []byte, i int) []byte {
	head := itemHead(leaf, i)
	off := ondisk.HeaderSize + get32(head, ondisk.ItemOffsetAt)
	return leaf[off : off+get32(head, ondisk.ItemSizeAt)]
}

// itemKey returns the key of item i in a leaf.
func itemKey(leaf []byte, i int) ondisk.Key {
	head := itemHead(leaf, i)
	return ondisk.Key{
		ObjectID: get64(head, ondisk.DiskKeyObjectIDAt),
		Type:     head[ondisk.DiskKeyTypeAt],
		Offset:   get64(head, ondisk.DiskKeyOffsetAt),
	}
}
