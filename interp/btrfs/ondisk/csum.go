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

// CsumType is the checksum of a file system (enum btrfs_csum_type): that of its superblock, its
// metadata blocks and its data.
type CsumType uint16

const (
	CsumCRC32C CsumType = iota
	csumXXHash
	csumSHA256
	csumBlake2b
	CsumTypes // how many there are
)

// CsumArea is the size of the field at the start of a superblock or a metadata block that holds the
// checksum of what follows it (BTRFS_CSUM_SIZE). What the checksum does not fill is zero.
const CsumArea = 32

// Size is the length of a checksum in bytes (btrfs_super_csum_size).
func (t CsumType) Size() int { return [CsumTypes]int{4, 8, 32, 32}[t] }

// Sum is btrfs_csum.
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

// Check holds the checksum at the start of a block against the rest. The error is text without a
// place.
func (t CsumType) Check(block []byte) error {
	want := t.Sum(block[CsumArea:])
	if have := block[:t.Size()]; !bytes.Equal(have, want[:t.Size()]) {
		return fmt.Errorf("checksum is %x, the contents have %x", have, want[:t.Size()])
	}
	return nil
}

// Seal makes the checksum at the start of a block right.
func (t CsumType) Seal(block []byte) {
	s := t.Sum(block[CsumArea:])
	copy(block, s[:])
}
