package usermode

import (
	"errors"
	"fmt"
	"io"
	"os"

	"fsward/explore/agent"
	"fsward/explore/ramdisk"
	"fsward/explore/uml"
)

// A disk is a file that the kernel has as a disk, and a file with the contents of its snapshot. The
// host restores only the pages that it or the kernel has written, which takes time in proportion to
// these and not to the size.
type disk struct {
	file, base *os.File // base is nil until there is a snapshot
	bytes      uint64
	kept       string          // name of the snapshot; "": there is none
	written    map[uint64]bool // pages that the host has written since the last restore
}

// newDisk makes a disk of zeros.
func newDisk(path string, bytes uint64) (*disk, error) {
	d := &disk{bytes: bytes, written: make(map[uint64]bool)}
	var err error
	if d.file, err = os.Create(path); err != nil {
		return nil, err
	}
	return d, d.file.Truncate(int64(bytes))
}

// snapshot keeps the contents under a name.
func (d *disk) snapshot(name string) (err error) {
	path := d.file.Name() + ".base"
	if d.base, err = os.Create(path); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil { // only this process uses it
		return err
	}
	d.kept = name
	if err := d.base.Truncate(int64(d.bytes)); err != nil {
		return err
	}
	page := make([]byte, ramdisk.PageSize)
	for n := range d.written { // the rest is zeros
		if err := copyPage(d.base, d.file, n, page); err != nil {
			return err
		}
	}
	clear(d.written)
	return nil
}

// copyPage copies page n of a file. page is a buffer.
func copyPage(to io.WriterAt, from io.ReaderAt, n uint64, page []byte) error {
	at := int64(n * ramdisk.PageSize)
	if _, err := from.ReadAt(page, at); err != nil {
		return err
	}
	_, err := to.WriteAt(page, at)
	return err
}

// restore restores the contents of the snapshot. The kernel has written pages, and nothing may use
// the disk.
func (d *disk) restore(pages []uint64) error {
	for _, n := range pages {
		d.written[n] = true
	}
	page := make([]byte, ramdisk.PageSize)
	for n := range d.written {
		if err := copyPage(d.file, d.base, n, page); err != nil {
			return err
		}
	}
	clear(d.written)
	return nil
}

// write writes pages.
func (d *disk) write(pages []agent.Page) error {
	for _, p := range pages {
		if p.Number >= d.bytes/ramdisk.PageSize {
			return fmt.Errorf("page %d is outside the disk", p.Number)
		}
		if _, err := d.file.WriteAt(p.Data, int64(p.Number*ramdisk.PageSize)); err != nil {
			return err
		}
		d.written[p.Number] = true
	}
	return nil
}

// close closes the files.
func (d *disk) close() error {
	err := d.file.Close()
	if d.base != nil {
		err = errors.Join(err, d.base.Close())
	}
	return err
}

// Both agree in what a page is.
var _ = [1]struct{}{}[uml.PageBytes-ramdisk.PageSize]
