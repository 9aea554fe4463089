package usermode

import (
	"bytes"
	"path/filepath"
	"testing"

	"fsward/explore/agent"
	"fsward/explore/ramdisk"
)

// page returns a page of one letter.
func page(n uint64, letter byte) agent.Page {
	return agent.Page{Number: n, Data: bytes.Repeat([]byte{letter}, ramdisk.PageSize)}
}

// letters returns the first byte of each page of a disk.
func letters(t *testing.T, d *disk) (out string) {
	t.Helper()
	for n := range d.bytes / ramdisk.PageSize {
		b := make([]byte, 1)
		if _, err := d.file.ReadAt(b, int64(n*ramdisk.PageSize)); err != nil {
			t.Fatal(err)
		}
		if b[0] == 0 {
			b[0] = '.'
		}
		out += string(b)
	}
	return out
}

// A restore undoes what the host has written, and what the kernel reports.
func TestDisk(t *testing.T) {
	d, err := newDisk(filepath.Join(t.TempDir(), "disk"), 6*ramdisk.PageSize)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.close(); err != nil {
			t.Error(err)
		}
	}()
	step := func(err error, want string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if got := letters(t, d); got != want {
			t.Errorf("the disk is %s, not %s", got, want)
		}
	}
	step(d.write([]agent.Page{page(1, 'a'), page(2, 'b')}), ".ab...")
	step(d.snapshot("s"), ".ab...")
	step(d.write([]agent.Page{page(2, 'x'), page(5, 'y')}), ".ax..y")
	step(d.restore("s"), ".ab...")
	// The kernel writes pages 0 and 1.
	for _, p := range []agent.Page{page(0, 'k'), page(1, 'k')} {
		if _, err := d.file.WriteAt(p.Data, int64(p.Number*ramdisk.PageSize)); err != nil {
			t.Fatal(err)
		}
	}
	step(d.write([]agent.Page{page(3, 'z')}), "kkbz..")
	d.note([]uint64{0, 1})
	step(d.restore("s"), ".ab...")
	// Another snapshot, and the first one again.
	step(d.write([]agent.Page{page(4, 'c'), page(1, 'd')}), ".db.c.")
	step(d.snapshot("other"), ".db.c.")
	step(d.restore("s"), ".ab...")
	step(d.write([]agent.Page{page(0, 'e')}), "eab...")
	step(d.restore("other"), ".db.c.")
	copied, err := newDisk(filepath.Join(t.TempDir(), "copy"), d.bytes)
	if err != nil {
		t.Fatal(err)
	}
	step(d.read(copied.file), ".db.c.")
	if got := letters(t, copied); got != ".db.c." {
		t.Errorf("the copy is %s", got)
	}
	step(copied.close(), ".db.c.")
	if d.drop("other") == nil || d.drop("none") == nil || d.snapshot("s") == nil ||
		d.restore("none") == nil {
		t.Error("a snapshot is dropped or made that cannot be")
	}
	step(d.drop("s"), ".db.c.")
	if d.write([]agent.Page{page(6, 'x')}) == nil {
		t.Error("a page outside the disk is written")
	}
}
