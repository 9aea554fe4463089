package ondisk

import (
	"bytes"
	"fmt"
	"math/bits"

	"fsward/interp"
)

// The jbd2 format, big-endian throughout (include/linux/jbd2.h).
const (
	JournalMagic = 0xc03b3998

	TypeDescriptor = 1
	TypeCommit     = 2
	typeSuperV1    = 3
	typeSuperV2    = 4
	TypeRevoke     = 5

	JournalHeader = 12 // h_magic, h_blocktype, h_sequence

	jBlockSize      = 12
	jMaxLen         = 16
	jFirst          = 20
	JournalSequence = 24
	JournalStart    = 28
	jErrno          = 32
	jCompat         = 36
	jIncompat       = 40
	jROCompat       = 44
	jUUID           = 48
	jNrUsers        = 64
	jSumType        = 80
	jSum            = 252
	JournalSuperLen = 1024

	TagFlagEscape   = 1
	TagFlagSameUUID = 2
	TagFlagLast     = 8

	RevokeHeader = 16 // header and r_count

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

// MinJournal is the least number of blocks (JBD2_MIN_JOURNAL_BLOCKS).
const MinJournal = 1024

// A JournalSuper is what the journal's superblock says.
type JournalSuper struct {
	MaxLen uint32 // blocks in the journal
	First  uint32 // first block of the log, counted in the journal
	Seq    uint32 // of the oldest transaction that is needed, or of the next one
	Start  uint32 // where that transaction begins, counted in the journal; 0: nothing is needed
	Errno  uint32 // why Linux gave up the journal; 0: it did not

	Checksum    bool   // commit blocks hold a checksum of the transaction (version 1)
	CsumVersion int    // version of the checksums in all blocks of the log: 2, 3, or 0 for none
	Wide        bool   // block numbers have 64 bits
	seed        uint32 // of the checksums of versions 2 and 3
}

// ParseJournalSuper checks the journal's superblock. have is the number of blocks that the journal's
// Inode maps. The errors are *interp.UnsupportedError and *interp.CorruptError.
func ParseJournalSuper(b []byte, addr uint64, blockSize, have uint32) (JournalSuper, error) {
	var js JournalSuper
	if BE32(b, 0) != JournalMagic {
		return js, Corrupt(addr, "the journal's superblock has magic %#x, want %#x", BE32(b, 0), uint32(JournalMagic))
	}
	js = JournalSuper{MaxLen: BE32(b, jMaxLen), First: BE32(b, jFirst), Seq: BE32(b, JournalSequence), Start: BE32(b, JournalStart), Errno: BE32(b, jErrno)}
	switch t := BE32(b, 4); t {
	case typeSuperV1:
		if BE32(b, jCompat)|BE32(b, jIncompat)|BE32(b, jROCompat)|BE32(b, jNrUsers) != 0 {
			return js, Corrupt(addr, "the journal's superblock is of version 1 and has fields of version 2") // PR_0_CLEAR_V2_JOURNAL
		}
	case typeSuperV2:
		if err := js.features(b, addr); err != nil {
			return js, err
		}
	default:
		return js, Corrupt(addr, "the journal's superblock is of type %d", t)
	}
	switch {
	case BE32(b, jBlockSize) != blockSize:
		return js, Corrupt(addr, "the journal has blocks of %d bytes, the file system of %d", BE32(b, jBlockSize), blockSize)
	case js.MaxLen > have || js.MaxLen < 2:
		return js, Corrupt(addr, "the journal claims %d blocks, its inode has %d", js.MaxLen, have)
	case js.MaxLen > maxJournal:
		return js, &interp.UnsupportedError{FS: "ext3", Feature: fmt.Sprintf("a journal of %d blocks (more than %d)", js.MaxLen, maxJournal)}
	case js.First == 0 || js.First >= js.MaxLen:
		return js, Corrupt(addr, "the log begins at block %d of the journal, which has %d", js.First, js.MaxLen)
	case js.Start != 0 && (js.Start < js.First || js.Start >= js.MaxLen):
		return js, Corrupt(addr, "the oldest transaction begins at block %d of the journal, want %d to %d", js.Start, js.First, js.MaxLen-1)
	}
	return js, nil
}

// features reads the features of a superblock of version 2, and checks its checksum where it has one.
func (js *JournalSuper) features(b []byte, addr uint64) error {
	unknown := func(set, name string, flag uint32) error {
		return &interp.UnsupportedError{FS: "ext3", Feature: fmt.Sprintf("journal feature %s (%s flag %#x)", name, set, flag)}
	}
	incompat := BE32(b, jIncompat)
	if extra := incompat &^ supportedJournal; extra != 0 {
		i, name := bits.TrailingZeros32(extra), "unknown"
		if i < len(journalFeatureNames) {
			name = journalFeatureNames[i]
		}
		return unknown("incompat", name, 1<<i)
	}
	if extra := BE32(b, jCompat) &^ supportedJournalCompat; extra != 0 {
		return unknown("compat", "unknown", extra)
	}
	if extra := BE32(b, jROCompat); extra != 0 {
		return unknown("ro_compat", "unknown", extra)
	}
	if n := BE32(b, jNrUsers); n > 1 {
		return &interp.UnsupportedError{FS: "ext3", Feature: fmt.Sprintf("a journal of %d file systems", n)}
	}
	js.Checksum, js.Wide = BE32(b, jCompat)&journalCompatChecksum != 0, incompat&journalIncompat64Bit != 0
	switch incompat & (journalIncompatCsumV2 | journalIncompatCsumV3) {
	case 0:
		return nil
	case journalIncompatCsumV2:
		js.CsumVersion = 2
	case journalIncompatCsumV3:
		js.CsumVersion = 3
	default:
		return Corrupt(addr, "the journal has checksums of version 2 and of version 3")
	}
	if js.Checksum {
		return Corrupt(addr, "the journal has checksums of version 1 and of version %d", js.CsumVersion)
	}
	if b[jSumType] != sumCRC32C {
		return Corrupt(addr, "the journal has checksums of the type %d, want %d", b[jSumType], sumCRC32C)
	}
	sb := bytes.Clone(b[:JournalSuperLen])
	clear(sb[jSum : jSum+4])
	if sum := crc32c(^uint32(0), sb); sum != BE32(b, jSum) {
		return Corrupt(addr, "the checksum of the journal's superblock is %#x, want %#x", BE32(b, jSum), sum)
	}
	js.seed = crc32c(^uint32(0), b[jUUID:jUUID+16])
	return nil
}
