package ext3

import (
	"encoding/binary"
	"hash/crc32"
)

// Checksums in the journal. Version 1 (compat flag checksum) puts a sum over the descriptors and copies of
// a transaction into its commit block. Versions 2 and 3 give every block of the log a sum of its own.
const (
	sumCRC32  = 1 // JBD2_CRC32_CHKSUM
	sumCRC32C = 4 // JBD2_CRC32C_CHKSUM

	commitSumType = 12 // h_chksum_type, one byte
	commitSumSize = 13 // h_chksum_size, one byte
	commitSum     = 16 // h_chksum[0]

	crcBEStart = ^uint32(0)
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// crc32c is the kernel's: without the inversions before and after.
func crc32c(seed uint32, b []byte) uint32 { return ^crc32.Update(^seed, castagnoli, b) }

// crcBETable is for the kernel's crc32_be: the polynomial of CRC-32, highest bit first.
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

// addBE goes on with the sum of a transaction, where the journal has one (jbd2_checksum_data).
func (j *journalSuper) addBE(sum uint32, b []byte) uint32 {
	if !j.checksum {
		return sum
	}
	return crc32BE(sum, b)
}

// tagBytes is the size of a tag (journal_tag_bytes).
func (j *journalSuper) tagBytes() int {
	n := 8
	switch j.csum {
	case 3:
		return 16 // journal_block_tag3_t
	case 2:
		n += 2
	}
	if j.wide {
		n += 4
	}
	return n
}

// tailBytes is what a checksum takes from the end of descriptors and revoke blocks (jbd2_journal_block_tail).
func (j *journalSuper) tailBytes() int {
	if j.csum == 0 {
		return 0
	}
	return 4
}

// withZeros is the sum of a block as if the 4 bytes at off were zeros.
func (j *journalSuper) withZeros(b []byte, off int) uint32 {
	sum := crc32c(j.seed, b[:off])
	sum = crc32c(sum, []byte{0, 0, 0, 0})
	return crc32c(sum, b[off+4:])
}

// tailFits tells whether the checksum at the end of a descriptor or revoke block is right.
func (j *journalSuper) tailFits(b []byte) bool {
	return j.csum == 0 || j.withZeros(b, len(b)-4) == be32(b, len(b)-4)
}

// tagFits tells whether a tag's checksum is that of the copy (jbd2_block_tag_csum_verify).
func (j *journalSuper) tagFits(t tag, seq uint32, data []byte) bool {
	if j.csum == 0 {
		return true
	}
	sum := crc32c(crc32c(j.seed, binary.BigEndian.AppendUint32(nil, seq)), data)
	if j.csum == 2 {
		return sum&0xffff == t.sum
	}
	return sum == t.sum
}

// commitFits tells whether a commit block has the checksum that it should. With version 1, sum is that of
// the transaction; a commit block without one is taken as it is, as do_one_pass does.
func (j *journalSuper) commitFits(b []byte, sum uint32) bool {
	if j.csum != 0 {
		return j.withZeros(b, commitSum) == be32(b, commitSum)
	}
	if !j.checksum {
		return true
	}
	typ, size, found := b[commitSumType], b[commitSumSize], be32(b, commitSum)
	return typ == sumCRC32 && size == 4 && found == sum || typ == 0 && size == 0 && found == 0
}
