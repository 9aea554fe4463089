package ext3

import (
	"bytes"

	"fsward/change"
	"fsward/interp"
)

// The superblock can keep a copy of what the journal's inode points to, from which e2fsck finds the journal when the
// inode is damaged. mke2fs and e2fsck write it, Linux does not.

const journalCopyBlocks = 1 // s_jnl_backup_type (EXT3_JNL_BACKUP_BLOCKS)

// journalCopyFault judges the copy in a superblock. before is the superblock that was there, in which the copy may
// have been wrong, nil if there was none.
func (l *layout) journalCopyFault(s *state, before, sb []byte) (*change.Violation, error) {
	copied := func(b []byte) []byte { return b[sJournalBlocks : sJournalBlocks+4*nPointers] }
	same := before != nil && before[sJournalBackup] == sb[sJournalBackup] && bytes.Equal(copied(before), copied(sb))
	if l.geo.journalInum == 0 || sb[sJournalBackup] != journalCopyBlocks || same {
		return nil, nil
	}
	i, err := l.inode(s, l.geo.journalInum)
	if err != nil || bytes.Equal(copied(sb), i[iBlock:iBlock+4*nPointers]) {
		return nil, err
	}
	v := on(checkJournalCopy.at(superOff+sJournalBlocks, "it has %d as the first block of the journal, inode %d has %d",
		le32(copied(sb), 0), l.geo.journalInum, i.pointer(0)), kindSuperblock, 0)
	return &v, nil
}

// copyFault judges the copy in a superblock that is written in place.
func (m *mounted) copyFault(sb []byte, obs *interp.Observation) error {
	before, err := readSuper(m.state.dev)
	if err != nil {
		return err
	}
	fault, err := m.layout.journalCopyFault(m.state, before, sb)
	if fault != nil {
		obs.Violations = append(obs.Violations, *fault)
	}
	return err
}
