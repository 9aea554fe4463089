package ondisk

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/crypto/blake2b"
)

// CsumType is a checksum algorithm (enum btrfs_csum_type). A file system uses one for its
// superblock, its metadata blocks and its data.
type CsumType uint16

const (
	CsumCRC32C CsumType = iota
	csumXXHash
	csumSHA256
	csumBlake2b
	CsumTypes // the number of algorithms
)

// CsumArea is the size in bytes of the checksum field at the start of a superblock or a metadata
// block (BTRFS_CSUM_SIZE). The checksum covers the bytes after the field. Zeros follow a checksum
// that is shorter than the field.
const CsumArea = 32

// Size is the length of a checksum in bytes (btrfs_super_csum_size).
func (t CsumType) Size() int { return [CsumTypes]int{4, 8, 32, 32}[t] }

// Sum returns the checksum of b, padded with zeros (btrfs_csum). t must be below CsumTypes.
func (t CsumType) Sum(b []byte) (s [CsumArea]byte) {
	switch t {
	case CsumCRC32C:
		binary.LittleEndian.PutUint32(s[:], crc32.Checksum(b, castagnoli))
	case csumXXHash:
		binary.LittleEndian.PutUint64(s[:], xxhash.Sum64(b))
	case csumSHA256:
		s = sha256.Sum256(b)
	case csumBlake2b:
		s = blake2b.Sum256(b)
	}
	return s
}

// Check compares the checksum at the start of a block with the contents. The error names no block.
func (t CsumType) Check(block []byte) error {
	want := t.Sum(block[CsumArea:])
	if have := block[:t.Size()]; !bytes.Equal(have, want[:t.Size()]) {
		return fmt.Errorf("checksum is %x, the contents have %x", have, want[:t.Size()])
	}
	return nil
}

// Seal recomputes the checksum at the start of a block.
func (t CsumType) Seal(block []byte) {
	s := t.Sum(block[CsumArea:])
	copy(block, s[:])
}
