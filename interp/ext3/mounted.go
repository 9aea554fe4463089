package ext3

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// A mounted file system is a baseline to compare commits with: where things are, the journal, the
// state that all commits so far define, and what its blocks are used for.
type mounted struct {
	layout  *layout
	journal journal
	state   *state
	roles   roles
	orphans *orphanList
	most    int // roles; 0: any number
	// The log: where the next transaction begins, and its number. If idle, the journal's superblock
	// says that nothing in the log is needed, and the next transaction begins with a write of it.
	idle bool
	// recovering: the log is being replayed by the guest, which may put what later transactions change again in
	// its place first. It ends with the next write of the journal's superblock.
	recovering bool
	head       uint32
	seq        uint32
	// starts holds where each transaction begins that the log still holds, by number.
	starts map[uint32]uint32
	// expected is for how many change records the next transaction begins with room.
	expected int
	// scratch is room for the contents of two blocks that are compared.
	scratch [2][maxBlockSize]byte
}

// mount reads a baseline. If the file system needs recovery, what its journal commits is part of it.
// The errors are interp.ErrNotFound, *interp.UnsupportedError, *interp.CorruptError, or of reading.
func mount(dev io.ReaderAt, size uint64) (*mounted, error) {
	sb, err := readSuper(dev)
	if err != nil {
		return nil, err
	}
	geo, err := readGeometry(sb, size)
	if err != nil {
		return nil, err
	}
	m := &mounted{state: newState(dev, geo, size), starts: make(map[uint32]uint32)}
	// The group descriptors' places and the journal's inode do not change while the file system is
	// mounted, so that they can be read before the journal is replayed.
	if m.layout, err = readLayout(geo, m.state.block); err != nil {
		return nil, err
	}
	if geo.journalInum == 0 {
		m.idle = true
		return m, nil
	}
	if err := m.openJournal(size); err != nil {
		return nil, err
	}
	return m, m.begin(sb)
}

// begin takes what the journal commits into the state, if the superblock says that recovery is needed.
func (m *mounted) begin(sb []byte) error {
	m.idle, m.head, m.seq = m.journal.start == 0, m.journal.start, m.journal.seq
	if !needsRecovery(sb) {
		m.idle = true
		return nil
	}
	m.recovering = !m.idle
	return m.replay()
}

// readRoles completes the baseline for comparing: it goes through the inodes in use.
func (m *mounted) readRoles() (err error) {
	if m.roles, err = m.layout.readRoles(m.state, m.most); err != nil {
		return err
	}
	m.orphans, err = m.layout.readOrphans(m.state)
	return err
}

// openJournal finds the journal's blocks and reads its superblock. size is the device's, bytes.
func (m *mounted) openJournal(size uint64) error {
	geo := m.layout.geo
	ino := geo.journalInum
	i, err := m.layout.inode(m.state, ino)
	if err != nil {
		return err
	}
	addr := m.layout.inodeAddr(ino)
	if i.typ() != modeRegular || i.links() == 0 || i.flags()&flagsForeign != 0 {
		return corrupt(addr, "the journal's inode %d is no file: mode %#o, %d links, flags %#x", ino, i.mode(), i.links(), i.flags())
	}
	j := &m.journal
	j.geo, j.deviceBlocks = geo, size/uint64(geo.blockSize)
	have := uint32(0)
	d := treeDiff{layout: m.layout, new: m.state, visited: &visits{}}
	d.added = func(level int, start uint64, block uint32) (bool, error) {
		if !geo.inRange(block) || m.layout.fixedMeta(block) {
			return false, corrupt(addr, "the journal's inode names block %d", block)
		}
		if level > 0 {
			return d.visited.new.add(block), nil
		}
		if start != uint64(have) {
			return false, corrupt(addr, "the journal has no block %d", have)
		}
		if n := len(j.runs); n > 0 && j.runs[n-1].block+j.runs[n-1].n == block {
			j.runs[n-1].n++
		} else {
			j.runs = append(j.runs, run{have, block, 1})
		}
		have++
		return false, nil
	}
	if err := d.inodes(nil, i); err != nil {
		return err
	}
	if size := i.size(); have < minJournal || size < minJournal*uint64(geo.blockSize) || size > uint64(have)*uint64(geo.blockSize) {
		return corrupt(addr, "the journal has %d blocks and a size of %d, want %d blocks and as much as there are", have, size, minJournal)
	}
	return m.readJournalSuper()
}

// readJournalSuper reads the superblock of a journal whose place is known.
func (m *mounted) readJournalSuper() error {
	j, geo := &m.journal, m.layout.geo
	b, err := m.state.block(j.block(0))
	if err != nil {
		return err
	}
	last := j.runs[len(j.runs)-1]
	j.journalSuper, err = parseJournalSuper(b, geo.addr(j.block(0)), geo.blockSize, last.logical+last.n)
	return err
}

// replay takes what the log commits into the state, as recovery does: transactions in order, up to the
// first that is not whole; a block that a later transaction revokes is left as it is.
func (m *mounted) replay() error {
	for total := uint32(0); !m.idle; {
		t, err := m.journal.read(m.state.dev, m.head, m.seq)
		var chain *chainError
		if errors.As(err, &chain) {
			if chain.check != checkJournalChain {
				return corrupt(chain.addr, "%s", chain.reason)
			}
			break
		}
		if err != nil {
			return err
		}
		if total += uint32(len(t.copies)) + 1; total > m.journal.maxLen {
			break // the log has been gone round once
		}
		m.commit(t)
	}
	m.state.forget()
	return nil
}

// commit makes a transaction part of the state.
func (m *mounted) commit(t *transaction) {
	m.state.lends = false // the commit that was judged ahead is this one, or has been dropped
	for b := range t.revoked {
		delete(m.state.copies, b)
	}
	for b, p := range t.copies {
		m.state.copies[b] = p
	}
	m.starts[t.seq] = t.start
	m.head, m.seq = t.next, t.seq+1
	m.state.forget()
}

// lost returns a block of a transaction before seq that is metadata now and not in its place, if there is
// one. Under data=journal, a block that was freed is forgotten without a revoke record. What was written to its place before
// the disk was attached is found there: nobody has seen it go.
func (m *mounted) lost(dev io.ReaderAt, seq uint32) (block uint32, p copyPlace, found bool, err error) {
	var left []uint32
	for b, c := range m.state.copies {
		if int32(c.seq-seq) < 0 && m.metadata(b) {
			left = append(left, b)
		}
	}
	slices.Sort(left)
	for _, b := range left {
		committed, err := m.state.read(b, m.scratch[0][:m.layout.geo.blockSize])
		if err != nil {
			return 0, p, false, err
		}
		placed := m.scratch[1][:m.layout.geo.blockSize]
		if err := readInto(placed, dev, m.layout.geo, b); err != nil {
			return 0, p, false, err
		}
		if !bytes.Equal(committed, placed) {
			return b, m.state.copies[b], true, nil
		}
		m.state.drop(b)
	}
	return 0, p, false, nil
}

// metadata tells whether a block is one that is interpreted. The superblock is written without the
// journal as well, so that its copies there say nothing.
func (m *mounted) metadata(block uint32) bool {
	if block == m.layout.geo.superBlock() || !m.layout.geo.inRange(block) {
		return false
	}
	_, known := m.roles[block]
	return known || m.layout.fixedMeta(block)
}

func (m *mounted) describe() string {
	return fmt.Sprintf("%d blocks of %d bytes, %d groups, journal of %d blocks, %d blocks to be written home",
		m.layout.geo.blocks, m.layout.geo.blockSize, m.layout.geo.groups, m.journal.maxLen, len(m.state.copies))
}
