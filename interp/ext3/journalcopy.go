package ext3

import (
	"bytes"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// The superblock can keep a copy of the block pointers of the journal's inode. e2fsck uses it to
// find the journal when the inode is damaged. mke2fs and e2fsck write it, Linux does not. After
// tune2fs -I, which moves blocks, it is out of date until e2fsck runs. e2fsck does not take this
// for a fault, so that only a write that changes the copy is judged.

const journalCopyBlocks = 1 // s_jnl_backup_type (EXT3_JNL_BACKUP_BLOCKS)

// journalCopyFault checks the copy in a superblock if it is not that in the former one.
func (s Snapshot) journalCopyFault(before, sb []byte) (*change.Violation, error) {
	copied := func(b []byte) []byte {
		return b[ondisk.SuperJnlBlocksAt : ondisk.SuperJnlBlocksAt+4*ondisk.NPointers]
	}
	same := before[ondisk.SuperJnlBackupTypeAt] == sb[ondisk.SuperJnlBackupTypeAt] &&
		bytes.Equal(copied(before), copied(sb))
	if s.Geo.JournalInum == 0 || sb[ondisk.SuperJnlBackupTypeAt] != journalCopyBlocks || same {
		return nil, nil
	}
	i, err := s.Inode(s.Geo.JournalInum)
	if err != nil || bytes.Equal(copied(sb),
		i[ondisk.InodeBlock0At:ondisk.InodeBlock0At+4*ondisk.NPointers]) {
		return nil, err
	}
	v := on(checkJournalCopy.at(ondisk.SuperOff+ondisk.SuperJnlBlocksAt,
		"it has %d as the first block of the journal, inode %d has %d",
		ondisk.LE32(copied(sb), 0), s.Geo.JournalInum, i.Pointer(0)), ondisk.KindSuperblock, 0)
	return &v, nil
}

// copyFault checks the copy in a superblock that is written in place.
func (m *Mounted) copyFault(sb []byte, obs *interp.Observation) error {
	before, err := readSuper(m.State.dev)
	if err != nil {
		return err
	}
	fault, err := m.journalCopyFault(before, sb)
	if fault != nil {
		obs.Violations = append(obs.Violations, *fault)
	}
	return err
}
