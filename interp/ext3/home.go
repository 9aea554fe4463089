package ext3

import (
	"bytes"
	"math"

	"fsward/interp"
)

// A metadata block goes to its place only as the last commit made it (jbd2 lets a buffer be written once the
// transaction that changed it is in the log, and not while the next one changes it). Blocks that are no
// metadata yet, or not any more, can be written at will, as can the superblock, which has checks of its own.

// observeHome looks at the blocks that a write puts into their places, and judges those that are metadata in the
// committed state. placed are those whose copies in the journal are the same: they are not needed any more. The
// superblock is written to its place without the journal as well: what is there is always newer. The error is of reading.
func (m *mounted) observeHome(w interp.Write, dev pending, judge bool, obs *interp.Observation) (placed []uint32, err error) {
	geo := m.layout.geo
	bs := uint64(geo.blockSize)
	for b := w.Off / bs; b <= (w.Off+w.Len-1)/bs && b < m.state.blocks; b++ {
		block := uint32(b)
		_, copied := m.state.copies[block]
		judged := judge && m.metadata(block)
		switch {
		case copied && block == geo.superBlock():
			placed = append(placed, block)
			continue
		case !copied && !judged:
			continue
		}
		committed, err := m.state.read(block, m.scratch[0][:geo.blockSize])
		if err != nil {
			return placed, err
		}
		written, err := dev.block(geo, block, m.scratch[1][:geo.blockSize])
		if err != nil {
			return placed, err
		}
		same := !w.Discard && bytes.Equal(committed, written)
		if copied && same {
			placed = append(placed, block)
		}
		if same || !judged || !w.Discard && geo.isSuperCopy(block) && sameSuper(committed, written, geo) {
			continue
		}
		what := "is written with something else than was committed"
		if w.Discard {
			what = "is discarded"
		}
		obs.Violations = append(obs.Violations, checkHome.at(geo.addr(block), "block %d, %s, %s", block, m.describeBlock(block), what))
		judge = false
	}
	return placed, nil
}

// isSuperCopy tells whether a block begins with a copy of the superblock. Linux takes those beyond the first two past the
// journal, when it has changed its superblock's label or the count of blocks that hold no data
// (ext4_update_superblocks_fn: EXT4_IOC_SETFSLABEL, EXT4_IOC_SETFSUUID, and ext4_update_overhead in mounting after resize2fs).
func (g *geometry) isSuperCopy(block uint32) bool {
	group := g.groupOf(block)
	return group > 0 && block == g.groupStart(group) && g.hasSuper(group)
}

// sameSuper tells whether a block that begins with a copy of the superblock still does, of the same file system, and
// differs in that copy alone. How large the file system is may differ: a copy can be older than the last resize2fs. One that
// differs in its UUID and nowhere else comes before the commit that gives the file system that UUID.
func sameSuper(committed, written []byte, geo *geometry) bool {
	copied, err := readGeometry(written[:superLen], math.MaxUint64)
	renamed := bytes.Equal(committed[:sUUID], written[:sUUID]) && bytes.Equal(committed[sUUID+uuidLen:superLen], written[sUUID+uuidLen:superLen])
	return err == nil && (renamed || copied.reshapedFrom(geo) == "") && bytes.Equal(committed[superLen:], written[superLen:])
}

// describeBlock says what a metadata block is.
func (m *mounted) describeBlock(block uint32) string {
	r, known := m.roles[block]
	switch {
	case !known:
		return "of fixed place"
	case r.level == roleDir:
		return "a directory's"
	case r.level == roleXattr:
		return "of extended attributes"
	}
	return "an indirect block"
}
