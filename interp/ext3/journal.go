package ext3

import (
	"fmt"
	"io"
	"maps"

	"fsward/interp/ext3/ondisk"
)

// A run is a part of the journal that is contiguous on the device.
type run struct{ logical, Block, N uint32 }

// A Journal is the place of the log on the device, and the contents of its superblock.
type Journal struct {
	Geo     *ondisk.Geometry
	Runs    []run  // in the order of logical blocks, without a gap
	superAt uint32 // the block of the journal with its superblock
	// deviceBlocks is the size of the device in blocks.
	deviceBlocks uint64
	ondisk.JournalSuper
}

// Block returns the block of the file system that holds a block of the journal. logical is below
// MaxLen.
func (j *Journal) Block(logical uint32) uint32 {
	lo, hi := 0, len(j.Runs)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; j.Runs[mid].logical <= logical {
			lo = mid
		} else {
			hi = mid
		}
	}
	return j.Runs[lo].Block + logical - j.Runs[lo].logical
}

// superBlock returns the block that holds the journal's superblock.
func (j *Journal) superBlock() uint32 { return j.Block(j.superAt) }

// Logical is the inverse of block; ok is false for a block outside the journal.
func (j *Journal) Logical(block uint32) (logical uint32, ok bool) {
	for _, r := range j.Runs {
		if block-r.Block < r.N {
			l := r.logical + block - r.Block
			return l, l < j.MaxLen
		}
	}
	return 0, false
}

// Next returns the block of the journal after block n. The log wraps around.
func (j *Journal) Next(logical uint32) uint32 {
	if logical+1 >= j.MaxLen {
		return j.First
	}
	return logical + 1
}

// A transaction is the part of the journal between two commit blocks.
type transaction struct {
	seq     uint32
	Copies  map[uint32]copyPlace // by the block that is copied
	revoked numberSet
	start   uint32 // its first block, counted in the journal
	commit  uint32 // its commit block
	next    uint32 // the block after it
	// checksum over its descriptors and copies, if the journal has checksums of version 1
	sum uint32
}

// Apply makes the transaction part of a state that has copies in the journal.
func (t *transaction) Apply(copies map[uint32]copyPlace) {
	removeFrom(copies, &t.revoked)
	maps.Copy(copies, t.Copies)
}

// A chainError is the reason why there is no whole transaction at a place in the journal.
type chainError struct {
	check  check // checkJournalChain: all or a part of it is missing; else the check that it fails
	addr   uint64
	reason string
}

func (e *chainError) Error() string {
	return fmt.Sprintf("at device address %d: %s", e.addr, e.reason)
}

func chainFault(c check, addr uint64, format string, args ...any) *chainError {
	return &chainError{check: c, addr: addr, reason: fmt.Sprintf(format, args...)}
}

// Read reads the transaction with the number seq that begins at a block of the journal, as the
// kernel's do_one_pass does. The error is a *chainError if the transaction is missing, incomplete
// or damaged.
func (j *Journal) Read(dev io.ReaderAt, start, seq uint32) (*transaction, error) {
	t, b, err := j.collect(dev, start, seq)
	if err != nil {
		return nil, err
	}
	addr := j.Geo.Addr(j.Block(t.commit))
	switch {
	case !ondisk.OfTransaction(b, seq):
		return nil, chainFault(checkJournalChain, addr,
			"the journal's block %d is no part of transaction %d", t.commit, seq)
	case !ondisk.IsCommit(b, seq):
		return nil, chainFault(checkJournalChain, addr, "the journal's block %d is of type %d", t.commit,
			ondisk.JournalHeaderOf(b).Blocktype())
	case !j.CommitFits(b, t.sum):
		return nil, chainFault(checkJournalSum, addr,
			"the checksum in the commit block of transaction %d does not fit it", seq)
	}
	return t, nil
}

// collect reads a transaction up to the first block that is neither a descriptor nor a revoke block
// of it: the place of its commit block. last holds that block.
func (j *Journal) collect(dev io.ReaderAt, start, seq uint32) (t *transaction, last []byte,
	err error) {
	t = &transaction{seq: seq, Copies: make(map[uint32]copyPlace), start: start,
		sum: ondisk.CrcBEStart}
	at := start
	for used := uint32(0); used < j.MaxLen; used++ {
		block := j.Block(at)
		addr := j.Geo.Addr(block)
		b, err := ReadBlock(dev, j.Geo, block)
		if err != nil {
			return nil, nil, err
		}
		kind := ondisk.JournalHeaderOf(b).Blocktype()
		if !ondisk.OfTransaction(b, seq) || kind != ondisk.TypeDescriptor && kind != ondisk.TypeRevoke {
			t.commit, t.next = at, j.Next(at)
			removeFrom(t.Copies, &t.revoked)
			return t, b, nil
		}
		if kind == ondisk.TypeRevoke {
			if err := j.addRevoked(t, b, addr); err != nil {
				return nil, nil, err
			}
			at = j.Next(at)
			continue
		}
		copies, err := j.addCopies(t, dev, b, at, used)
		if err != nil {
			return nil, nil, err
		}
		used += copies
		for range copies + 1 {
			at = j.Next(at)
		}
	}
	return nil, nil, chainFault(checkJournalChain, j.Geo.Addr(j.Block(start)),
		"transaction %d does not end within the journal", seq)
}

// addRevoked adds the blocks of a revoke block to a transaction.
func (j *Journal) addRevoked(t *transaction, b []byte, addr uint64) error {
	if !j.TailFits(b) {
		return chainFault(checkJournalSum, addr,
			"the checksum of a revoke block of transaction %d does not fit it", t.seq)
	}
	blocks, err := j.ParseRevoke(b)
	if err != nil {
		return chainFault(checkJournalChain, addr, "%v", err)
	}
	for _, r := range blocks {
		t.revoked.add(r)
	}
	return nil
}

// addCopies adds the copies that follow the descriptor b at a block of the journal to a
// transaction, and returns their number. used is the number of blocks of the journal that the
// transaction has before them.
func (j *Journal) addCopies(t *transaction, dev io.ReaderAt, b []byte, at, used uint32) (uint32,
	error) {
	addr := j.Geo.Addr(j.Block(at))
	if !j.TailFits(b) {
		return 0, chainFault(checkJournalSum, addr,
			"the checksum of a descriptor of transaction %d does not fit it", t.seq)
	}
	tags := j.ParseTags(b)
	if uint64(used)+uint64(len(tags)) >= uint64(j.MaxLen) {
		return 0, chainFault(checkJournalChain, addr, "transaction %d is longer than the journal", t.seq)
	}
	t.sum = j.AddBE(t.sum, b)
	for _, tag := range tags {
		at = j.Next(at)
		if err := j.checkHome(tag, addr); err != nil {
			return 0, err
		}
		t.Copies[tag.Block] = copyPlace{Block: j.Block(at), Seq: t.seq,
			Escaped: tag.Flags&ondisk.TagFlagEscape != 0}
		if !j.Checksum && j.CsumVersion == 0 {
			continue
		}
		data, err := ReadBlock(dev, j.Geo, j.Block(at))
		if err != nil {
			return 0, err
		}
		if t.sum = j.AddBE(t.sum, data); !j.TagFits(tag, t.seq, data) {
			return 0, chainFault(checkJournalSum, j.Geo.Addr(j.Block(at)),
				"the checksum of the copy of block %d in transaction %d does not fit it", tag.Block, t.seq)
		}
	}
	return uint32(len(tags)), nil
}

// checkHome checks the block that a tag copies. A transaction may hold blocks beyond the end of the
// file system: the kernel sets up new groups before it grows into them
// (setup_new_flex_group_blocks).
func (j *Journal) checkHome(t ondisk.Tag, addr uint64) error {
	if t.High != 0 || uint64(t.Block) >= j.deviceBlocks {
		return chainFault(checkJournalTag, addr,
			"the journal holds a copy of block %d, the device has %d", uint64(t.High)<<32|uint64(t.Block),
			j.deviceBlocks)
	}
	if _, inside := j.Logical(t.Block); inside {
		return chainFault(checkJournalTag, addr, "the journal holds a copy of block %d, which is its own",
			t.Block)
	}
	return nil
}
