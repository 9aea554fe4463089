package ext3

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"fsward/interp/ext3/ondisk"
)

// A Mounted is a mounted file system, the baseline that commits are compared with: the state that
// all commits so far define, the journal, and the roles of blocks.
type Mounted struct {
	Snapshot
	Log       Log
	Roles     *Roles
	Orphans   *OrphanList
	roleLimit uint64 // bound on roles, bytes; 0: none
	// expected is the number of change records that the next transaction gets room for at first.
	expected int
	// scratch has room for two blocks; nil until it is needed. Most crash states never need it.
	scratch []byte
}

// buffers returns two buffers of a block each, for blocks that are compared. The next call returns
// the same ones.
func (m *Mounted) buffers() (a, b []byte) {
	size := m.Geo.BlockSize
	if m.scratch == nil {
		m.scratch = make([]byte, 2*size)
	}
	return m.scratch[:size], m.scratch[size:]
}

// Mount reads a baseline. If the file system needs recovery, the baseline includes what its journal
// commits. size is the size of the device in bytes; behind it dev has the disk of an external
// journal (see devices). The error is interp.ErrNotFound, *interp.UnsupportedError,
// *interp.MissingDiskError, *interp.CorruptError, or that of a read.
func Mount(dev io.ReaderAt, size uint64) (*Mounted, error) {
	sb, err := readSuper(dev)
	if err != nil {
		return nil, err
	}
	geo, err := ondisk.ParseGeometry(sb, size)
	if err != nil {
		return nil, err
	}
	m := &Mounted{Snapshot: Snapshot{State: NewState(dev, geo, size)},
		Log: Log{starts: make(map[uint32]uint32)}}
	// The places of the group descriptors and the journal's inode do not change while the file
	// system is mounted, so that they can be read before the journal is replayed.
	if m.Layout, err = readLayout(geo, m.State.Block); err != nil {
		return nil, err
	}
	if !geo.HasJournal() {
		m.Log.idle = true
		return m, nil
	}
	if err := m.openJournal(size); err != nil {
		return nil, err
	}
	return m, m.begin(sb)
}

// begin replays the journal if the superblock says that recovery is needed.
func (m *Mounted) begin(sb []byte) error {
	recover := ondisk.NeedsRecovery(sb)
	m.Log.begin(recover)
	if !recover {
		return nil
	}
	return m.replay()
}

// ReadRoles completes the baseline for comparisons. It reads all inodes in use.
func (m *Mounted) ReadRoles() (err error) {
	if m.Roles, err = m.readRoles(m.roleLimit); err != nil {
		return err
	}
	m.Orphans, err = m.readOrphans()
	return err
}

// openJournal finds the journal's blocks and reads its superblock. size is the size of the device
// in bytes.
func (m *Mounted) openJournal(size uint64) error {
	geo := m.Geo
	if geo.External {
		return m.openExternal(size)
	}
	ino := geo.JournalInum
	i, err := m.Inode(ino)
	if err != nil {
		return err
	}
	addr := m.Layout.inodeAddr(ino)
	if i.Type() != ondisk.ModeRegular || i.Links() == 0 || i.Flags()&ondisk.FlagsForeign != 0 {
		return ondisk.Corrupt(addr, "the journal's inode %d is no file: mode %#o, %d links, flags %#x",
			ino, i.Mode(), i.Links(), i.Flags())
	}
	j := &m.Log.Journal
	j.Geo, j.deviceBlocks = geo, size/uint64(geo.BlockSize)
	have := uint32(0)
	visited := &Visits{}
	err = m.Walk(i, visited, func(level int, start uint64, block uint32) (bool, error) {
		if !geo.InRange(block) || m.Layout.FixedMeta(block) {
			return false, ondisk.Corrupt(addr, "the journal's inode names block %d", block)
		}
		if level > 0 {
			return visited.Enter(block), nil
		}
		if start != uint64(have) {
			return false, ondisk.Corrupt(addr, "the journal has no block %d", have)
		}
		if n := len(j.Runs); n > 0 && j.Runs[n-1].Block+j.Runs[n-1].N == block {
			j.Runs[n-1].N++
		} else {
			j.Runs = append(j.Runs, run{have, block, 1})
		}
		have++
		return false, nil
	})
	if err != nil {
		return err
	}
	if size := i.Size(); have < ondisk.MinJournal || size < ondisk.MinJournal*uint64(geo.BlockSize) ||
		size > uint64(have)*uint64(geo.BlockSize) {
		return ondisk.Corrupt(addr,
			"the journal has %d blocks and a size of %d, want %d blocks and as much as there are", have,
			size, ondisk.MinJournal)
	}
	return m.readJournalSuper()
}

// readJournalSuper reads the superblock of a journal whose place is known.
func (m *Mounted) readJournalSuper() error {
	j, geo := &m.Log.Journal, m.Geo
	b, err := ReadBlock(m.State.dev, geo, j.superBlock())
	if err != nil {
		return err
	}
	last := j.Runs[len(j.Runs)-1]
	j.JournalSuper, err = ondisk.ParseJournalSuper(b, geo.Addr(j.superBlock()), geo.BlockSize,
		last.logical+last.N)
	if err == nil && j.First <= j.superAt {
		return ondisk.Corrupt(geo.Addr(j.superBlock()), "the log begins at block %d of the journal,"+
			" its superblock is block %d", j.First, j.superAt)
	}
	return err
}

// replay applies the transactions in the log to the state, as recovery does: in order, up to the
// first incomplete one. It skips blocks that a later transaction revokes.
func (m *Mounted) replay() error {
	for total := uint32(0); !m.Log.idle; {
		t, err := m.Log.Read(m.State.dev, m.Log.head, m.Log.nextSeq)
		var chain *chainError
		if errors.As(err, &chain) {
			if chain.check != checkJournalChain {
				return ondisk.Corrupt(chain.addr, "%s", chain.reason)
			}
			break
		}
		if err != nil {
			return err
		}
		if total += uint32(len(t.Copies)) + 1; total > m.Log.MaxLen {
			break // the whole log has been read
		}
		m.commit(t)
	}
	m.State.forget()
	return nil
}

// commit makes a transaction part of the state.
func (m *Mounted) commit(t *transaction) {
	m.State.lends = false // the forecast has come true, or has been dropped
	t.Apply(m.State.Copies)
	m.Log.committed(t)
	m.State.forget()
}

// lost returns a block of a transaction before seq that is metadata now and whose contents are not
// in its place, if there is one. Under data=journal, Linux forgets a block that was freed without a
// revoke record. lost reads the place itself, since blocks may have been written there before the
// disk was attached.
func (m *Mounted) lost(dev io.ReaderAt, seq uint32) (block uint32, p copyPlace, found bool,
	err error) {
	var left []uint32
	for b, c := range m.State.Copies {
		if int32(c.Seq-seq) < 0 && m.metadata(b) {
			left = append(left, b)
		}
	}
	slices.Sort(left)
	was, placed := m.buffers()
	for _, b := range left {
		committed, err := m.State.read(b, was)
		if err != nil {
			return 0, p, false, err
		}
		if err := readInto(placed, dev, m.Geo, b); err != nil {
			return 0, p, false, err
		}
		if !bytes.Equal(committed, placed) {
			return b, m.State.Copies[b], true, nil
		}
		m.State.drop(b)
	}
	return 0, p, false, nil
}

// metadata reports whether fsward interprets a block. The superblock does not count: Linux also
// writes it without the journal, so that the journal's copies may be outdated.
func (m *Mounted) metadata(block uint32) bool {
	if block == m.Geo.SuperBlock() || !m.Geo.InRange(block) {
		return false
	}
	_, known := m.Roles.Get(block)
	return known || m.Layout.FixedMeta(block)
}

func (m *Mounted) describe() string {
	groups := "1 group"
	if m.Geo.Groups != 1 {
		groups = fmt.Sprintf("%d groups", m.Geo.Groups)
	}
	return fmt.Sprintf("%d blocks of %d bytes, %s, journal of %d blocks, %d blocks to checkpoint",
		m.Geo.Blocks, m.Geo.BlockSize, groups, m.Log.MaxLen, len(m.State.Copies))
}

// MetadataBlocks lists all blocks that fsward interprets.
func (m *Mounted) MetadataBlocks() []uint32 {
	l := m.Layout
	list := []uint32{l.Geo.SuperBlock()}
	for i := range l.Geo.DescBlocks {
		list = append(list, l.Geo.DescBlock(i))
	}
	for _, p := range l.Places {
		list = append(list, p.BlockBitmap, p.InodeBitmap)
		for k := range l.Geo.TableBlocks {
			list = append(list, p.InodeTable+k)
		}
	}
	for block := range m.Roles.All() {
		list = append(list, block)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
