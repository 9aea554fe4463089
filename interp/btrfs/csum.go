package btrfs

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/crypto/blake2b"
)

// csumType is the checksum of a file system (enum btrfs_csum_type): that of its superblock, its metadata
// blocks and its data.
type csumType uint16

const (
	csumCRC32C csumType = iota
	csumXXHash
	csumSHA256
	csumBlake2b
	csumTypes // how many there are
)

// csumArea is the size of the field at the start of a superblock or a metadata block that holds the
// checksum of what follows it (BTRFS_CSUM_SIZE). What the checksum does not fill is zero.
const csumArea = 32

// size is the length of a checksum in bytes (btrfs_super_csum_size).
func (t csumType) size() int { return [csumTypes]int{4, 8, 32, 32}[t] }

// sum is btrfs_csum.
func (t csumType) sum(b []byte) (s [csumArea]byte) {
	switch t {
	case csumCRC32C:
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

// check holds the checksum at the start of a block against the rest. The error is text without a place.
func (t csumType) check(block []byte) error {
	want := t.sum(block[csumArea:])
	if have := block[:t.size()]; !bytes.Equal(have, want[:t.size()]) {
		return fmt.Errorf("checksum is %x, the contents have %x", have, want[:t.size()])
	}
	return nil
}

// seal makes the checksum at the start of a block right.
func (t csumType) seal(block []byte) {
	s := t.sum(block[csumArea:])
	copy(block, s[:])
}
