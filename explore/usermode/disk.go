package usermode

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"

	"fsward/explore/agent"
	"fsward/explore/ramdisk"
	"fsward/explore/uml"
)

// A disk is a file that the kernel has as a disk, and a file with the contents of each snapshot.
// The host restores only the pages that it or the kernel has written, which takes time in
// proportion to these and not to the size.
type disk struct {
	file      *os.File
	bytes     uint64
	snapshots map[string]*snapshot
	from      *snapshot // what written counts from; nil: zeros
	written   pageSet   // pages that were written since from
}

// A snapshot is a file with the contents that a disk had.
type snapshot struct {
	file  *os.File
	pages pageSet // that may differ from zeros
}

// A pageSet has the numbers of pages.
type pageSet map[uint64]bool

// newDisk makes a disk of zeros.
func newDisk(path string, bytes uint64) (*disk, error) {
	d := &disk{bytes: bytes, snapshots: make(map[string]*snapshot), written: make(pageSet)}
	var err error
	if d.file, err = os.Create(path); err != nil {
		return nil, err
	}
	return d, d.file.Truncate(int64(bytes))
}

// used returns the pages that may differ from zeros.
func (d *disk) used() pageSet {
	out := maps.Clone(d.written)
	if d.from != nil {
		maps.Copy(out, d.from.pages)
	}
	return out
}

// snapshot keeps the contents under a name.
func (d *disk) snapshot(name string) (err error) {
	if d.snapshots[name] != nil {
		return fmt.Errorf("there is a snapshot %q", name)
	}
	path := d.file.Name() + ".base"
	s := &snapshot{pages: d.used()}
	if s.file, err = os.Create(path); err != nil {
		return err
	}
	d.snapshots[name] = s
	if err := os.Remove(path); err != nil { // only this process uses it
		return err
	}
	if err := s.file.Truncate(int64(d.bytes)); err != nil {
		return err
	}
	if err := copyPages(s.file, d.file, s.pages); err != nil {
		return err
	}
	d.from = s
	clear(d.written)
	return nil
}

// copyPages copies pages of a file.
func copyPages(to io.WriterAt, from io.ReaderAt, pages pageSet) error {
	page := make([]byte, ramdisk.PageSize)
	for n := range pages {
		at := int64(n * ramdisk.PageSize)
		if _, err := from.ReadAt(page, at); err != nil {
			return err
		}
		if _, err := to.WriteAt(page, at); err != nil {
			return err
		}
	}
	return nil
}

// restore restores the contents of a snapshot. Nothing may use the disk.
func (d *disk) restore(name string) error {
	s := d.snapshots[name]
	if s == nil {
		return fmt.Errorf("there is no snapshot %q", name)
	}
	pages := d.written
	if s != d.from {
		pages = d.used()
		maps.Copy(pages, s.pages)
	}
	if err := copyPages(d.file, s.file, pages); err != nil {
		return err
	}
	d.from = s
	clear(d.written)
	return nil
}

// drop removes a snapshot that the contents were not restored from last.
func (d *disk) drop(name string) error {
	s := d.snapshots[name]
	if s == nil || s == d.from {
		return fmt.Errorf("snapshot %q is in use, or is none", name)
	}
	delete(d.snapshots, name)
	return s.file.Close()
}

// read writes the contents to w, which has zeros.
func (d *disk) read(w io.WriterAt) error { return copyPages(w, d.file, d.used()) }

// note notes that the kernel has written pages.
func (d *disk) note(pages []uint64) {
	for _, n := range pages {
		d.written[n] = true
	}
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
	for s := range maps.Values(d.snapshots) {
		err = errors.Join(err, s.file.Close())
	}
	return err
}

// Both agree in what a page is.
var _ = [1]struct{}{}[uml.PageBytes-ramdisk.PageSize]
