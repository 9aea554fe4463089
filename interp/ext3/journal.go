package ext3

import (
	"fmt"
	"io"
)

// A run is a piece of the journal that is in one piece on the device.
type run struct{ logical, block, n uint32 }

// A journal is the log's place.
type journal struct {
	geo  *geometry
	runs []run // by logical block, without a gap
	// deviceBlocks is how many blocks the device has room for.
	deviceBlocks uint64
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
	sum     uint32 // of its descriptors and copies, where the journal has checksums of version 1
}

// A chainError says why no whole transaction was found at a place in the journal.
type chainError struct {
	check  check // checkJournalChain: it is not there, or not all of it; else what is wrong with it
	addr   uint64
	reason string
}

func (e *chainError) Error() string {
	return fmt.Sprintf("at device address %d: %s", e.addr, e.reason)
}

func chainFault(c check, addr uint64, format string, args ...any) *chainError {
	return &chainError{check: c, addr: addr, reason: fmt.Sprintf(format, args...)}
}

// read reads the transaction with a sequence number that begins at a block of the journal, as the
// kernel's do_one_pass does. *chainError: there is none, or not yet a whole one, or it is damaged.
func (j *journal) read(dev io.ReaderAt, start, seq uint32) (*transaction, error) {
	t, b, err := j.collect(dev, start, seq)
	if err != nil {
		return nil, err
	}
	addr := j.geo.addr(j.block(t.commit))
	switch {
	case !ofTransaction(b, seq):
		return nil, chainFault(checkJournalChain, addr, "the journal's block %d is no part of transaction %d", t.commit, seq)
	case !isCommit(b, seq):
		return nil, chainFault(checkJournalChain, addr, "the journal's block %d is of type %d", t.commit, be32(b, 4))
	case !j.commitFits(b, t.sum):
		return nil, chainFault(checkJournalSum, addr, "the checksum in the commit block of transaction %d does not fit it", seq)
	}
	return t, nil
}

// collect reads a transaction up to the block that is neither a descriptor of it nor a block of revokes: the one
// where its commit block is, or goes, which is returned as well.
func (j *journal) collect(dev io.ReaderAt, start, seq uint32) (t *transaction, last []byte, err error) {
	t = &transaction{seq: seq, copies: make(map[uint32]copyPlace), revoked: make(map[uint32]bool), start: start, sum: crcBEStart}
	at := start
	for used := uint32(0); used < j.maxLen; used++ {
		block := j.block(at)
		addr := j.geo.addr(block)
		b, err := readBlock(dev, j.geo, block)
		if err != nil {
			return nil, nil, err
		}
		kind := be32(b, 4)
		if !ofTransaction(b, seq) || kind != typeDescriptor && kind != typeRevoke {
			t.commit, t.next = at, j.next(at)
			for r := range t.revoked {
				delete(t.copies, r)
			}
			return t, b, nil
		}
		if kind == typeRevoke {
			if !j.tailFits(b) {
				return nil, nil, chainFault(checkJournalSum, addr, "the checksum of a revoke block of transaction %d does not fit it", seq)
			}
			blocks, err := j.parseRevoke(b)
			if err != nil {
				return nil, nil, chainFault(checkJournalChain, addr, "%v", err)
			}
			for _, r := range blocks {
				t.revoked[r] = true
			}
			at = j.next(at)
			continue
		}
		if !j.tailFits(b) {
			return nil, nil, chainFault(checkJournalSum, addr, "the checksum of a descriptor of transaction %d does not fit it", seq)
		}
		tags := j.parseTags(b)
		if uint64(used)+uint64(len(tags)) >= uint64(j.maxLen) {
			return nil, nil, chainFault(checkJournalChain, addr, "transaction %d is longer than the journal", seq)
		}
		t.sum = j.addBE(t.sum, b)
		for _, tag := range tags {
			at = j.next(at)
			if err := j.checkHome(tag, addr); err != nil {
				return nil, nil, err
			}
			t.copies[tag.block] = copyPlace{block: j.block(at), seq: seq, escaped: tag.flags&tagFlagEscape != 0}
			if !j.checksum && j.csum == 0 {
				continue
			}
			data, err := readBlock(dev, j.geo, j.block(at))
			if err != nil {
				return nil, nil, err
			}
			if t.sum = j.addBE(t.sum, data); !j.tagFits(tag, seq, data) {
				return nil, nil, chainFault(checkJournalSum, j.geo.addr(j.block(at)),
					"the checksum of the copy of block %d in transaction %d does not fit it", tag.block, seq)
			}
		}
		used += uint32(len(tags))
		at = j.next(at)
	}
	return nil, nil, chainFault(checkJournalChain, j.geo.addr(j.block(start)), "transaction %d does not end within the journal", seq)
}

// checkHome judges where a copy belongs. A transaction may hold blocks beyond the end of the file system:
// the kernel sets up new groups before it grows into them (setup_new_flex_group_blocks).
func (j *journal) checkHome(t tag, addr uint64) error {
	if t.high != 0 || uint64(t.block) >= j.deviceBlocks {
		return chainFault(checkJournalTag, addr, "the journal holds a copy of block %d, the device has %d", uint64(t.high)<<32|uint64(t.block), j.deviceBlocks)
	}
	if _, inside := j.logical(t.block); inside {
		return chainFault(checkJournalTag, addr, "the journal holds a copy of block %d, which is its own", t.block)
	}
	return nil
}

// A tag says which block of the file system a block of the journal is a copy of.
type tag struct {
	block, high uint32
	flags       uint16
	sum         uint32 // checksum; of the low 16 bits with csum_v2
}

// parseTags reads the tags of a descriptor block, up to the last one or the end of the block.
func (j *journal) parseTags(b []byte) []tag {
	var tags []tag
	size := j.tagBytes()
	for off, end := journalHeader, len(b)-j.tailBytes(); off+size <= end; {
		t := tag{block: be32(b, off), flags: uint16(be32(b, off+4)), sum: be32(b, off+4) >> 16}
		if j.wide {
			t.high = be32(b, off+8)
		}
		if j.csum == 3 {
			t.high, t.sum = be32(b, off+8), be32(b, off+12)
		}
		tags = append(tags, t)
		off += size
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
func (j *journal) parseRevoke(b []byte) ([]uint32, error) {
	end, width := be32(b, journalHeader), 4
	if j.wide {
		width = 8
	}
	if end < revokeHeader || uint64(end) > uint64(len(b)-j.tailBytes()) {
		return nil, fmt.Errorf("a revoke block uses %d bytes of %d", end, len(b)-j.tailBytes())
	}
	var blocks []uint32
	for off := revokeHeader; off+width <= int(end); off += width {
		if width == 8 && be32(b, off) != 0 {
			continue // no block of this file system
		}
		blocks = append(blocks, be32(b, off+width-4))
	}
	return blocks, nil
}

// ofTransaction tells whether a block of the journal begins with the header of a transaction's blocks.
func ofTransaction(b []byte, seq uint32) bool { return be32(b, 0) == journalMagic && be32(b, 8) == seq }

// isCommit tells whether a block is the commit block of a transaction.
func isCommit(b []byte, seq uint32) bool { return ofTransaction(b, seq) && be32(b, 4) == typeCommit }
