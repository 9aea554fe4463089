package ext3

import (
	"fmt"
	"io"

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
	jIncompat  = 40
	jSuperLen  = 1024

	tagFlagEscape   = 1
	tagFlagSameUUID = 2
	tagFlagLast     = 8
	tagLen          = 8 // journal_block_tag_t without the 64-bit and checksum features

	revokeHeader = 16 // header and r_count

	journalIncompatRevoke = 1
)

var journalFeatureNames = []string{"revoke", "64bit", "async_commit", "csum_v2", "csum_v3", "fast_commit"}

// A journalSuper is what the journal's superblock says.
type journalSuper struct {
	maxLen uint32 // blocks in the journal
	first  uint32 // first block of the log, counted in the journal
	seq    uint32 // of the oldest transaction that is needed, or of the next one
	start  uint32 // where that transaction begins, counted in the journal; 0: nothing is needed
}

// parseJournalSuper checks the journal's superblock. have is the number of blocks that the journal's
// inode maps. The errors are *interp.UnsupportedError and *interp.CorruptError.
func parseJournalSuper(b []byte, addr uint64, blockSize, have uint32) (journalSuper, error) {
	var js journalSuper
	if be32(b, 0) != journalMagic {
		return js, corrupt(addr, "the journal's superblock has magic %#x, want %#x", be32(b, 0), uint32(journalMagic))
	}
	switch t := be32(b, 4); t {
	case typeSuperV1:
	case typeSuperV2:
		for i := range 32 {
			if flag := be32(b, jIncompat) & (1 << i); flag&^journalIncompatRevoke != 0 {
				name := "unknown"
				if i < len(journalFeatureNames) {
					name = journalFeatureNames[i]
				}
				return js, &interp.UnsupportedError{FS: "ext3", Feature: fmt.Sprintf("journal feature %s (incompat flag %#x)", name, flag)}
			}
		}
	default:
		return js, corrupt(addr, "the journal's superblock is of type %d", t)
	}
	js = journalSuper{maxLen: be32(b, jMaxLen), first: be32(b, jFirst), seq: be32(b, jSequence), start: be32(b, jStart)}
	switch {
	case be32(b, jBlockSize) != blockSize:
		return js, corrupt(addr, "the journal has blocks of %d bytes, the file system of %d", be32(b, jBlockSize), blockSize)
	case js.maxLen > have || js.maxLen < 2:
		return js, corrupt(addr, "the journal claims %d blocks, its inode has %d", js.maxLen, have)
	case js.first == 0 || js.first >= js.maxLen:
		return js, corrupt(addr, "the log begins at block %d of the journal, which has %d", js.first, js.maxLen)
	case js.start != 0 && (js.start < js.first || js.start >= js.maxLen):
		return js, corrupt(addr, "the oldest transaction begins at block %d of the journal, want %d to %d", js.start, js.first, js.maxLen-1)
	}
	return js, nil
}

// A run is a piece of the journal that is in one piece on the device.
type run struct{ logical, block, n uint32 }

// A journal is the log's place.
type journal struct {
	geo  *geometry
	runs []run // by logical block, without a gap
	journalSuper
}

// block returns the block of the file system that holds a block of the journal, below maxLen.
func (j *journal) block(logical uint32) uint32 {
	lo, hi := 0, len(j.runs)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; j.runs[mid].logical <= logical {
			lo = mid
		} else {
			hi = mid
		}
	}
	return j.runs[lo].block + logical - j.runs[lo].logical
}

// logical is the inverse of block; ok is false for a block outside the journal.
func (j *journal) logical(block uint32) (logical uint32, ok bool) {
	for _, r := range j.runs {
		if block-r.block < r.n {
			l := r.logical + block - r.block
			return l, l < j.maxLen
		}
	}
	return 0, false
}

// next returns the block of the journal after one: the log wraps around.
func (j *journal) next(logical uint32) uint32 {
	if logical+1 >= j.maxLen {
		return j.first
	}
	return logical + 1
}

// A transaction is what the journal holds between two commit blocks.
type transaction struct {
	seq     uint32
	copies  map[uint32]copyPlace // by home block
	revoked map[uint32]bool
	start   uint32 // its first block, counted in the journal
	commit  uint32 // its commit block
	next    uint32 // the block after it
}

// A chainError says why no whole transaction was found at a place in the journal.
type chainError struct {
	addr   uint64
	reason string
	tag    bool // a block number in a descriptor is wrong
}

func (e *chainError) Error() string {
	return fmt.Sprintf("at device address %d: %s", e.addr, e.reason)
}

// read reads the transaction with a sequence number that begins at a block of the journal, as the
// kernel's do_one_pass does. *chainError: there is none, or not yet a whole one.
func (j *journal) read(dev io.ReaderAt, start, seq uint32) (*transaction, error) {
	t := &transaction{seq: seq, copies: make(map[uint32]copyPlace), revoked: make(map[uint32]bool), start: start}
	at := start
	for used := uint32(0); used < j.maxLen; used++ {
		block := j.block(at)
		addr := j.geo.addr(block)
		b, err := readBlock(dev, j.geo, block)
		if err != nil {
			return nil, err
		}
		if be32(b, 0) != journalMagic || be32(b, 8) != seq {
			return nil, &chainError{addr: addr, reason: fmt.Sprintf("the journal's block %d is no part of transaction %d", at, seq)}
		}
		switch kind := be32(b, 4); kind {
		case typeDescriptor:
			tags := parseTags(b)
			if uint64(used)+uint64(len(tags)) >= uint64(j.maxLen) {
				return nil, &chainError{addr: addr, reason: fmt.Sprintf("transaction %d is longer than the journal", seq)}
			}
			for _, tag := range tags {
				at = j.next(at)
				if err := j.checkHome(tag.block, addr); err != nil {
					return nil, err
				}
				t.copies[tag.block] = copyPlace{block: j.block(at), seq: seq, escaped: tag.flags&tagFlagEscape != 0}
			}
			used += uint32(len(tags))
		case typeRevoke:
			blocks, err := parseRevoke(b)
			if err != nil {
				return nil, &chainError{addr: addr, reason: err.Error()}
			}
			for _, r := range blocks {
				t.revoked[r] = true
			}
		case typeCommit:
			t.commit, t.next = at, j.next(at)
			for r := range t.revoked {
				delete(t.copies, r)
			}
			return t, nil
		default:
			return nil, &chainError{addr: addr, reason: fmt.Sprintf("the journal's block %d is of type %d", at, kind)}
		}
		at = j.next(at)
	}
	return nil, &chainError{addr: j.geo.addr(j.block(start)), reason: fmt.Sprintf("transaction %d does not end within the journal", seq)}
}

func (j *journal) checkHome(block uint32, addr uint64) error {
	if block >= j.geo.blocks {
		return &chainError{addr: addr, tag: true, reason: fmt.Sprintf("the journal holds a copy of block %d, the file system has %d", block, j.geo.blocks)}
	}
	if _, inside := j.logical(block); inside {
		return &chainError{addr: addr, tag: true, reason: fmt.Sprintf("the journal holds a copy of block %d, which is its own", block)}
	}
	return nil
}

// A tag says which block of the file system a block of the journal is a copy of.
type tag struct {
	block uint32
	flags uint16
}

// parseTags reads the tags of a descriptor block, up to the last one or the end of the block.
func parseTags(b []byte) []tag {
	var tags []tag
	for off := journalHeader; off+tagLen <= len(b); {
		t := tag{be32(b, off), uint16(be32(b, off+4))} // t_checksum, t_flags
		tags = append(tags, t)
		off += tagLen
		if t.flags&tagFlagSameUUID == 0 {
			off += 16
		}
		if t.flags&tagFlagLast != 0 {
			break
		}
	}
	return tags
}

// parseRevoke reads the block numbers of a revoke block.
func parseRevoke(b []byte) ([]uint32, error) {
	end := be32(b, journalHeader)
	if end < revokeHeader || uint64(end) > uint64(len(b)) {
		return nil, fmt.Errorf("a revoke block uses %d bytes of %d", end, len(b))
	}
	var blocks []uint32
	for off := revokeHeader; off+4 <= int(end); off += 4 {
		blocks = append(blocks, be32(b, off))
	}
	return blocks, nil
}

// isCommit tells whether a block is the commit block of a transaction.
func isCommit(b []byte, seq uint32) bool {
	return be32(b, 0) == journalMagic && be32(b, 4) == typeCommit && be32(b, 8) == seq
}
