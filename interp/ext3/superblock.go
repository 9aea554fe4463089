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
