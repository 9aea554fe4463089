package ondisk

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// SealTag puts the checksum of a copy into its tag (jbd2_block_tag_csum_set).
func (j *JournalSuper) SealTag(descriptor []byte, off int, seq uint32, data []byte) {
	sum := crc32c(crc32c(j.seed, binary.BigEndian.AppendUint32(nil, seq)), data)
	switch j.CsumVersion {
	case 2:
		tagSumOf(descriptor[off:]).SetChecksum(uint16(sum))
	case 3:
		tag3Of(descriptor[off:]).SetChecksum(sum)
	}
}

// SealTail puts the checksum at the end of a descriptor or revoke block
// (jbd2_descriptor_block_csum_set).
func (j *JournalSuper) SealTail(b []byte) {
	if j.CsumVersion != 0 {
		binary.BigEndian.PutUint32(b[len(b)-4:], j.withZeros(b, len(b)-4))
	}
}

// SealCommit puts the checksum into a commit block. sum is that of the transaction, for version 1.
func (j *JournalSuper) SealCommit(b []byte, sum uint32) {
	switch {
	case j.CsumVersion != 0:
		commitBlockOf(b).SetChksum(j.withZeros(b, CommitChksumAt))
	case j.Checksum && commitBlockOf(b).ChksumType() == sumCRC32:
		commitBlockOf(b).SetChksum(sum)
	}
}

// SealSuper puts the checksum into the journal's superblock (jbd2_superblock_csum_set).
func (j *JournalSuper) SealSuper(b []byte) {
	if j.CsumVersion != 0 {
		journalSuperblockOf(b).SetChecksum(superSum(b))
	}
}

// superSum returns the checksum of the journal's superblock.
func superSum(b []byte) uint32 {
	sb := bytes.Clone(b[:JournalSuperLen])
	journalSuperblockOf(sb).SetChecksum(0)
	return crc32c(^uint32(0), sb)
}

// Checksums in the journal. Version 1 (compat flag checksum) puts a checksum over the descriptors
// and copies of a transaction into its commit block. Versions 2 and 3 give every block of the log a
// checksum of its own.
const (
	sumCRC32  = 1 // JBD2_CRC32_CHKSUM
	sumCRC32C = 4 // JBD2_CRC32C_CHKSUM

	CrcBEStart = ^uint32(0)
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// crc32c is the kernel's crc32c, without the inversions before and after.
func crc32c(seed uint32, b []byte) uint32 { return ^crc32.Update(^seed, castagnoli, b) }

// crcBETable is the table of the kernel's crc32_be: the polynomial of CRC-32, highest bit first.
var crcBETable = func() (t [256]uint32) {
	for i := range t {
		c := uint32(i) << 24
		for range 8 {
			if c&(1<<31) != 0 {
				c = c<<1 ^ 0x04c11db7
			} else {
				c <<= 1
			}
		}
		t[i] = c
	}
	return t
}()

func crc32BE(sum uint32, b []byte) uint32 {
	for _, c := range b {
		sum = sum<<8 ^ crcBETable[byte(sum>>24)^c]
	}
	return sum
}

// AddBE adds bytes to the checksum of a transaction, if the journal has one (jbd2_checksum_data).
func (j *JournalSuper) AddBE(sum uint32, b []byte) uint32 {
	if !j.Checksum {
		return sum
	}
	return crc32BE(sum, b)
}

// TagBytes returns the size of a tag, bytes (journal_tag_bytes).
func (j *JournalSuper) TagBytes() int {
	n := 8
	switch j.CsumVersion {
	case 3:
		return 16 // journal_block_tag3_t
	case 2:
		n += 2
	}
	if j.Wide {
		n += 4
	}
	return n
}

// TailBytes returns the room that a checksum takes at the end of descriptors and revoke blocks,
// bytes (jbd2_journal_block_tail).
func (j *JournalSuper) TailBytes() int {
	if j.CsumVersion == 0 {
		return 0
	}
	return 4
}

// withZeros returns the checksum of a block as if the 4 bytes at off were zeros.
func (j *JournalSuper) withZeros(b []byte, off int) uint32 {
	sum := crc32c(j.seed, b[:off])
	sum = crc32c(sum, []byte{0, 0, 0, 0})
	return crc32c(sum, b[off+4:])
}

// TailFits reports whether the checksum at the end of a descriptor or revoke block is right.
func (j *JournalSuper) TailFits(b []byte) bool {
	return j.CsumVersion == 0 || j.withZeros(b, len(b)-4) == BE32(b, len(b)-4)
}

// TagFits reports whether a tag's checksum is that of the copy (jbd2_block_tag_csum_verify).
func (j *JournalSuper) TagFits(t Tag, seq uint32, data []byte) bool {
	if j.CsumVersion == 0 {
		return true
	}
	sum := crc32c(crc32c(j.seed, binary.BigEndian.AppendUint32(nil, seq)), data)
	if j.CsumVersion == 2 {
		return sum&0xffff == t.sum
	}
	return sum == t.sum
}

// CommitFits reports whether a commit block has the right checksum. With version 1, sum is that of
// the transaction, and a commit block without a checksum is accepted, as do_one_pass does.
func (j *JournalSuper) CommitFits(b []byte, sum uint32) bool {
	c := commitBlockOf(b)
	if j.CsumVersion != 0 {
		return j.withZeros(b, CommitChksumAt) == c.Chksum()
	}
	if !j.Checksum {
		return true
	}
	typ, size, found := c.ChksumType(), c.ChksumSize(), c.Chksum()
	return typ == sumCRC32 && size == 4 && found == sum || typ == 0 && size == 0 && found == 0
}
