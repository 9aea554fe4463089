package ext3

import (
	"bytes"
	"math"

	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// jbd2 writes a metadata block to its place only once the transaction that changed it is in the
// log, and not while the next transaction changes it. So a write to the place of a metadata block
// has the contents of the last commit. jbd2 can write blocks that are not metadata yet, or not any
// more, at any time. The same holds for the superblock, which has its own checks.

// observeCheckpoint checks the blocks that a write puts into their places, if they are metadata in
// the committed state. placed lists the blocks that now equal their copies in the journal, so that
// these copies are not needed any more. The superblock in its place is always newer than its copy,
// since the kernel also writes it without the journal. An error comes from a read.
func (m *Mounted) observeCheckpoint(w interp.Write, dev PendingDevice, judge bool,
	obs *interp.Observation) (placed []uint32, err error) {
	geo := m.Geo
	bs := uint64(geo.BlockSize)
	for b := w.Off / bs; b <= (w.Off+w.Len-1)/bs && b < m.State.blocks; b++ {
		block := uint32(b)
		_, copied := m.State.Copies[block]
		judged := judge && m.metadata(block)
		switch {
		case copied && block == geo.SuperBlock():
			placed = append(placed, block)
			continue
		case !copied && !judged:
			continue
		}
		was, now := m.buffers()
		committed, err := m.State.read(block, was)
		if err != nil {
			return placed, err
		}
		written, err := dev.block(geo, block, now)
		if err != nil {
			return placed, err
		}
		same := !w.Discard && bytes.Equal(committed, written)
		if copied && same {
			placed = append(placed, block)
		}
		if same || !judged || !w.Discard && geo.IsSuperCopy(block) && sameSuper(committed, written, geo) {
			continue
		}
		what := "is written with something else than was committed"
		if w.Discard {
			what = "is discarded"
		}
		obs.Violations = append(obs.Violations, checkHome.at(geo.Addr(block), "block %d, %s, %s", block,
			m.describeBlock(block), what))
		judge = false
	}
	return placed, nil
}

// sameSuper reports whether a block that begins with a copy of the superblock still begins with one
// of the same file system and differs nowhere else. The size may differ: a copy can be older than
// the last resize2fs. A copy may differ in the UUID alone: the kernel writes it before the commit
// that sets the UUID.
func sameSuper(committed, written []byte, geo *ondisk.Geometry) bool {
	copied, err := ondisk.ParseGeometry(written[:ondisk.SuperLen], math.MaxUint64)
	renamed := bytes.Equal(committed[:ondisk.SuperUUIDAt], written[:ondisk.SuperUUIDAt]) &&
		bytes.Equal(committed[ondisk.SuperUUIDAt+ondisk.UUIDLen:ondisk.SuperLen],
			written[ondisk.SuperUUIDAt+ondisk.UUIDLen:ondisk.SuperLen])
	return err == nil && (renamed || copied.ReshapedFrom(geo) == "") &&
		bytes.Equal(committed[ondisk.SuperLen:], written[ondisk.SuperLen:])
}

// describeBlock describes the use of a metadata block.
func (m *Mounted) describeBlock(block uint32) string {
	r, known := m.Roles.Get(block)
	switch {
	case !known:
		return "of fixed place"
	case r.Level == RoleDir:
		return "a directory's"
	case r.Level == RoleXattr:
		return "of extended attributes"
	}
	return "an indirect block"
}
