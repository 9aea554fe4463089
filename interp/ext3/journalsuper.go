package ext3

import (
	"bytes"
	"fmt"
	"math/bits"

	"fsward/interp"
)

// The jbd2 format, big-endian throughout (include/linux/jbd2.h).
const (
	journalMagic = 0xc03b3998

	typeDescriptor = 1
	typeCommit     = 2
	typeSuperV1    = 3
	typeSuperV2    = 4
	typeRevoke     = 5

	journalHeader = 12 // h_magic, h_blocktype, h_sequence

	jBlockSize = 12
	jMaxLen    = 16
	jFirst     = 20
	jSequence  = 24
	jStart     = 28
	jErrno     = 32
	jCompat    = 36
	jIncompat  = 40
	jROCompat  = 44
	jUUID      = 48
	jNrUsers   = 64
	jSumType   = 80
	jSum       = 252
	jSuperLen  = 1024

	tagFlagEscape   = 1
	tagFlagSameUUID = 2
	tagFlagLast     = 8

	revokeHeader = 16 // header and r_count

	journalCompatChecksum  = 0x1
	journalIncompatRevoke  = 0x1
	journalIncompat64Bit   = 0x2
	journalIncompatCsumV2  = 0x8
	journalIncompatCsumV3  = 0x10
	supportedJournalCompat = journalCompatChecksum
	supportedJournal       = journalIncompatRevoke | journalIncompat64Bit | journalIncompatCsumV2 | journalIncompatCsumV3
)

var journalFeatureNames = []string{"revoke", "64bit", "async_commit", "csum_v2", "csum_v3", "fast_commit"}

// maxJournal bounds the blocks of a journal: what it holds copies of is kept in memory. Programs make a tenth of it.
const maxJournal = 1 << 20

// minJournal is the least number of blocks (JBD2_MIN_JOURNAL_BLOCKS).
const minJournal = 1024

// A journalSuper is what the journal's superblock says.
type journalSuper struct {
	maxLen uint32 // blocks in the journal
	first  uint32 // first block of the log, counted in the journal
	seq    uint32 // of the oldest transaction that is needed, or of the next one
	start  uint32 // where that transaction begins, counted in the journal; 0: nothing is needed
	errno  uint32 // why Linux gave up the journal; 0: it did not

	checksum bool   // commit blocks hold a checksum of the transaction (version 1)
	csum     int    // version of the checksums in all blocks of the log: 2, 3, or 0 for none
	wide     bool   // block numbers have 64 bits
	seed     uint32 // of the checksums of versions 2 and 3
}

// parseJournalSuper checks the journal's superblock. have is the number of blocks that the journal's
// inode maps. The errors are *interp.UnsupportedError and *interp.CorruptError.
func parseJournalSuper(b []byte, addr uint64, blockSize, have uint32) (journalSuper, error) {
	var js journalSuper
	if be32(b, 0) != journalMagic {
		return js, corrupt(addr, "the journal's superblock has magic %#x, want %#x", be32(b, 0), uint32(journalMagic))
	}
	js = journalSuper{maxLen: be32(b, jMaxLen), first: be32(b, jFirst), seq: be32(b, jSequence), start: be32(b, jStart), errno: be32(b, jErrno)}
	switch t := be32(b, 4); t {
	case typeSuperV1:
		if be32(b, jCompat)|be32(b, jIncompat)|be32(b, jROCompat)|be32(b, jNrUsers) != 0 {
			return js, corrupt(addr, "the journal's superblock is of version 1 and has fields of version 2") // PR_0_CLEAR_V2_JOURNAL
		}
	case typeSuperV2:
		if err := js.features(b, addr); err != nil {
			return js, err
		}
	default:
		return js, corrupt(addr, "the journal's superblock is of type %d", t)
	}
	switch {
	case be32(b, jBlockSize) != blockSize:
		return js, corrupt(addr, "the journal has blocks of %d bytes, the file system of %d", be32(b, jBlockSize), blockSize)
	case js.maxLen > have || js.maxLen < 2:
		return js, corrupt(addr, "the journal claims %d blocks, its inode has %d", js.maxLen, have)
	case js.maxLen > maxJournal:
		return js, &interp.UnsupportedError{FS: "ext3", Feature: fmt.Sprintf("a journal of %d blocks (more than %d)", js.maxLen, maxJournal)}
	case js.first == 0 || js.first >= js.maxLen:
		return js, corrupt(addr, "the log begins at block %d of the journal, which has %d", js.first, js.maxLen)
	case js.start != 0 && (js.start < js.first || js.start >= js.maxLen):
		return js, corrupt(addr, "the oldest transaction begins at block %d of the journal, want %d to %d", js.start, js.first, js.maxLen-1)
	}
	return js, nil
}

// features reads the features of a superblock of version 2, and checks its checksum where it has one.
func (js *journalSuper) features(b []byte, addr uint64) error {
	unknown := func(set, name string, flag uint32) error {
		return &interp.UnsupportedError{FS: "ext3", Feature: fmt.Sprintf("journal feature %s (%s flag %#x)", name, set, flag)}
	}
	incompat := be32(b, jIncompat)
	if extra := incompat &^ supportedJournal; extra != 0 {
		i, name := bits.TrailingZeros32(extra), "unknown"
		if i < len(journalFeatureNames) {
			name = journalFeatureNames[i]
		}
		return unknown("incompat", name, 1<<i)
	}
	if extra := be32(b, jCompat) &^ supportedJournalCompat; extra != 0 {
		return unknown("compat", "unknown", extra)
	}
	if extra := be32(b, jROCompat); extra != 0 {
		return unknown("ro_compat", "unknown", extra)
	}
	if n := be32(b, jNrUsers); n > 1 {
		return &interp.UnsupportedError{FS: "ext3", Feature: fmt.Sprintf("a journal of %d file systems", n)}
	}
	js.checksum, js.wide = be32(b, jCompat)&journalCompatChecksum != 0, incompat&journalIncompat64Bit != 0
	switch incompat & (journalIncompatCsumV2 | journalIncompatCsumV3) {
	case 0:
		return nil
	case journalIncompatCsumV2:
		js.csum = 2
	case journalIncompatCsumV3:
		js.csum = 3
	default:
		return corrupt(addr, "the journal has checksums of version 2 and of version 3")
	}
	if js.checksum {
		return corrupt(addr, "the journal has checksums of version 1 and of version %d", js.csum)
	}
	if b[jSumType] != sumCRC32C {
		return corrupt(addr, "the journal has checksums of the type %d, want %d", b[jSumType], sumCRC32C)
	}
	sb := bytes.Clone(b[:jSuperLen])
	clear(sb[jSum : jSum+4])
	if sum := crc32c(^uint32(0), sb); sum != be32(b, jSum) {
		return corrupt(addr, "the checksum of the journal's superblock is %#x, want %#x", be32(b, jSum), sum)
	}
	js.seed = crc32c(^uint32(0), b[jUUID:jUUID+16])
	return nil
}
