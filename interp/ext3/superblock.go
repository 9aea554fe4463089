package ext3

import (
	"errors"
	"io"

	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// readSuper reads the superblock's bytes from a device.
func readSuper(d io.ReaderAt) ([]byte, error) {
	b := make([]byte, ondisk.SuperLen)
	if n, err := d.ReadAt(b, ondisk.SuperOff); n < ondisk.SuperLen {
		if err == nil || errors.Is(err, io.EOF) {
			return nil, interp.ErrNotFound
		}
		return nil, err
	}
	return b, nil
}

// Detect reports whether a disk has the superblock of an ext2, ext3 or ext4. An external journal is
// none.
func Detect(d interp.Disk) bool {
	b, err := readSuper(d)
	return err == nil && ondisk.SuperOf(b).Magic() == ondisk.Magic && !ondisk.IsJournalDevice(b)
}

// Backup returns the device address of the copy of the superblock in group 1, where mke2fs puts it
// by default: after as many blocks as a block has bits. ok is false if there is none.
func Backup(d interp.Disk) (at uint64, ok bool) {
	for size := uint64(ondisk.MinBlockSize); size <= ondisk.MaxBlockSize; size *= 2 {
		at := 8 * size * size
		if size == ondisk.MinBlockSize {
			at += size // the first block of group 0 is block 1
		}
		b := make([]byte, ondisk.SuperLen)
		if _, err := d.ReadAt(b, int64(at)); err != nil {
			continue
		}
		if ondisk.SuperOf(b).Magic() == ondisk.Magic && ondisk.BackupGroup(b) == 1 {
			return at, true
		}
	}
	return 0, false
}
