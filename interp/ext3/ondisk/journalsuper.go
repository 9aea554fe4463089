package ondisk

import (
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

	TagFlagEscape   = 1
	TagFlagSameUUID = 2
	TagFlagLast     = 8

	journalCompatChecksum  = 0x1
	journalIncompatRevoke  = 0x1
	journalIncompat64Bit   = 0x2
	journalIncompatCsumV2  = 0x8
	journalIncompatCsumV3  = 0x10
	supportedJournalCompat = journalCompatChecksum
	supportedJournal       = journalIncompatRevoke | journalIncompat64Bit |
		journalIncompatCsumV2 | journalIncompatCsumV3
)

var journalFeatureNames = []string{"revoke", "64bit", "async_commit", "csum_v2", "csum_v3",
	"fast_commit"}

// maxJournal is the maximum number of blocks of a journal, since the places of its copies are kept
// in memory. Programs make journals of a tenth of it.
const maxJournal = 1 << 20

// MinJournal is the minimum number of blocks of a journal (JBD2_MIN_JOURNAL_BLOCKS).
const MinJournal = 1024

// A JournalSuper holds the numbers in the journal's superblock.
type JournalSuper struct {
	MaxLen uint32 // blocks in the journal
	First  uint32 // first block of the log, counted in the journal
	Seq    uint32 // number of the oldest transaction that is needed, or of the next one
	Start  uint32 // block of the journal where that transaction begins; 0: nothing is needed
	Errno  uint32 // error for which Linux gave up the journal; 0: none

	Checksum    bool   // commit blocks hold a checksum of the transaction (version 1)
	CsumVersion int    // version of the checksums in all blocks of the log: 2, 3, or 0 for none
	Wide        bool   // block numbers have 64 bits
	seed        uint32 // of the checksums of versions 2 and 3
}

// ParseJournalSuper reads and checks the journal's superblock. have is the number of blocks that
// the journal's inode maps. The errors are *interp.UnsupportedError and *interp.CorruptError.
func ParseJournalSuper(b []byte, addr uint64, blockSize, have uint32) (JournalSuper, error) {
	var js JournalSuper
	v := journalSuperblockOf(b)
	if v.Magic() != JournalMagic {
		return js, Corrupt(addr, "the journal's superblock has magic %#x, want %#x", v.Magic(),
			uint32(JournalMagic))
	}
	js = JournalSuper{MaxLen: v.Maxlen(), First: v.First(), Seq: v.Sequence(), Start: v.Start(),
		Errno: v.Errno()}
	switch t := v.Blocktype(); t {
	case typeSuperV1:
		if v.FeatureCompat()|v.FeatureIncompat()|v.FeatureROCompat()|v.NrUsers() != 0 {
			// PR_0_CLEAR_V2_JOURNAL
			return js, Corrupt(addr, "the journal's superblock is of version 1 and has fields of version 2")
		}
	case typeSuperV2:
		if err := js.features(b, v, addr); err != nil {
			return js, err
		}
	default:
		return js, Corrupt(addr, "the journal's superblock is of type %d", t)
	}
	switch {
	case v.Blocksize() != blockSize:
		return js, Corrupt(addr, "the journal has blocks of %d bytes, the file system of %d",
			v.Blocksize(), blockSize)
	case js.MaxLen > have || js.MaxLen < 2:
		return js, Corrupt(addr, "the journal claims %d blocks, its inode has %d", js.MaxLen, have)
	case js.MaxLen > maxJournal:
		return js, &interp.UnsupportedError{FS: "ext3",
			Feature: fmt.Sprintf("a journal of %d blocks (more than %d)", js.MaxLen, maxJournal)}
	case js.First == 0 || js.First >= js.MaxLen:
		return js, Corrupt(addr, "the log begins at block %d of the journal, which has %d", js.First,
			js.MaxLen)
	case js.Start != 0 && (js.Start < js.First || js.Start >= js.MaxLen):
		return js, Corrupt(addr,
			"the oldest transaction begins at block %d of the journal, want %d to %d", js.Start, js.First,
			js.MaxLen-1)
	}
	return js, nil
}

// features reads the features of a superblock of version 2, and checks its checksum if it has one.
func (js *JournalSuper) features(b []byte, v journalSuperblock, addr uint64) error {
	unknown := func(set, name string, flag uint32) error {
		return &interp.UnsupportedError{FS: "ext3",
			Feature: fmt.Sprintf("journal feature %s (%s flag %#x)", name, set, flag)}
	}
	incompat := v.FeatureIncompat()
	if extra := incompat &^ supportedJournal; extra != 0 {
		i, name := bits.TrailingZeros32(extra), "unknown"
		if i < len(journalFeatureNames) {
			name = journalFeatureNames[i]
		}
		return unknown("incompat", name, 1<<i)
	}
	if extra := v.FeatureCompat() &^ supportedJournalCompat; extra != 0 {
		return unknown("compat", "unknown", extra)
	}
	if extra := v.FeatureROCompat(); extra != 0 {
		return unknown("ro_compat", "unknown", extra)
	}
	if n := v.NrUsers(); n > 1 {
		return &interp.UnsupportedError{FS: "ext3", Feature: fmt.Sprintf("a journal of %d file systems",
			n)}
	}
	js.Checksum, js.Wide = v.FeatureCompat()&journalCompatChecksum != 0,
		incompat&journalIncompat64Bit != 0
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
	if v.ChecksumType() != sumCRC32C {
		return Corrupt(addr, "the journal has checksums of the type %d, want %d", v.ChecksumType(),
			sumCRC32C)
	}
	if sum := superSum(b); sum != v.Checksum() {
		return Corrupt(addr, "the checksum of the journal's superblock is %#x, want %#x", v.Checksum(),
			sum)
	}
	js.seed = crc32c(^uint32(0), v.UUID())
	return nil
}
