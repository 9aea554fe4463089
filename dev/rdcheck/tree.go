package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"fsward/dev/guestcheck"
	"fsward/explore/ramdisk"
)

// An image has the contents of a small disk.
type image []byte

// page returns page number i.
func (m image) page(i int) []byte { return m[i*ramdisk.PageSize:][:ramdisk.PageSize] }

// compare reads the disk and checks that its contents are the image.
func (m image) compare(d *ramdisk.Disk) error {
	var page [ramdisk.PageSize]byte
	for i := range len(m) / ramdisk.PageSize {
		if err := d.Page(uint64(i), &page); err != nil {
			return err
		}
		if !bytes.Equal(page[:], m.page(i)) {
			return fmt.Errorf("page %d of the disk has the wrong contents", i)
		}
	}
	return nil
}

// treePages is the size of the disk of checkTree in pages.
const treePages = 96

// A snapshotTree changes a disk at random. It keeps the contents that the disk and its snapshots
// must have.
type snapshotTree struct {
	d         *ramdisk.Disk
	f         int // the disk, opened with O_DIRECT
	rnd       *rand.Rand
	buf       []byte
	now       image
	snapshots map[string]image
	restores  int
}

// checkTree makes, restores and drops snapshots at random, with writes, zeros, discards and set
// pages between them, and compares the disk with a model that copies the whole disk.
func checkTree(c *ramdisk.Control) error {
	const steps = 1000
	d, err := c.Make(0, treePages*ramdisk.PageSize)
	if err != nil {
		return err
	}
	f, err := direct(d)
	if err != nil {
		return err
	}
	seed := uint64(time.Now().UnixNano())
	guestcheck.Fact("tree", "seed %d", seed)
	t := &snapshotTree{
		d:         d,
		f:         f,
		rnd:       rand.New(rand.NewPCG(seed, 0)),
		buf:       aligned(8 * ramdisk.SectorSize),
		now:       make(image, treePages*ramdisk.PageSize),
		snapshots: make(map[string]image),
	}
	for step := range steps {
		if err := t.step(step); err != nil {
			return fmt.Errorf("step %d: %w", step, err)
		}
	}
	if err := t.now.compare(d); err != nil {
		return err
	}
	last := len(t.snapshots)
	if err := errors.Join(t.limit(), t.dropAll()); err != nil {
		return err
	}
	if err := treeIsGone(c, d); err != nil {
		return err
	}
	guestcheck.Fact("tree", "%d steps, %d restores, %d snapshots at the end: all exact",
		steps, t.restores, last)
	return errors.Join(unix.Close(f), d.Remove())
}

// step does one random operation; more than half of them are writes.
func (t *snapshotTree) step(step int) error {
	switch op := t.rnd.IntN(20); {
	case op < 11:
		return t.write()
	case op < 12:
		return t.clear(unix.FALLOC_FL_PUNCH_HOLE)
	case op < 13:
		return t.clear(unix.FALLOC_FL_ZERO_RANGE)
	case op < 14:
		return t.setPage(byte(step))
	case op < 16 && len(t.snapshots) < ramdisk.MaxSnapshots:
		name := fmt.Sprint("s", step)
		t.snapshots[name] = slices.Clone(t.now)
		return t.d.Snapshot(name)
	case op < 18 && len(t.snapshots) > 0:
		return t.restore(t.pick())
	case len(t.snapshots) > 0 && t.rnd.IntN(2) > 0:
		return t.drop(t.pick())
	}
	return nil
}

// pick returns the name of a random snapshot.
func (t *snapshotTree) pick() string {
	return slices.Sorted(maps.Keys(t.snapshots))[t.rnd.IntN(len(t.snapshots))]
}

// spot returns the offset and the length in bytes of a random range of 1 to most sectors.
func (t *snapshotTree) spot(most int) (off, n int) {
	n = (1 + t.rnd.IntN(most)) * ramdisk.SectorSize
	return t.rnd.IntN((len(t.now)-n)/ramdisk.SectorSize+1) * ramdisk.SectorSize, n
}

func (t *snapshotTree) write() error {
	off, n := t.spot(8)
	for i := range n {
		t.buf[i] = byte(t.rnd.Uint32())
	}
	copy(t.now[off:], t.buf[:n])
	_, err := unix.Pwrite(t.f, t.buf[:n], int64(off))
	return err
}

// clear discards a range or writes zeros to it. Discarded ranges of this disk read as zeros.
func (t *snapshotTree) clear(mode uint32) error {
	off, n := t.spot(40)
	clear(t.now[off : off+n])
	return unix.Fallocate(t.f, mode|unix.FALLOC_FL_KEEP_SIZE, int64(off), int64(n))
}

// setPage sets a page through the module, bypassing the block device. A third of the pages are
// zeros.
func (t *snapshotTree) setPage(value byte) error {
	var page [ramdisk.PageSize]byte
	if t.rnd.IntN(3) > 0 {
		page[t.rnd.IntN(len(page))] = value
	}
	n := t.rnd.IntN(treePages)
	copy(t.now.page(n), page[:])
	return t.d.SetPage(uint64(n), &page)
}

// restore restores a snapshot. Before that it checks that the module's list of changed pages
// contains all pages that differ from the snapshot.
func (t *snapshotTree) restore(name string) error {
	changed, err := t.d.Changed(name)
	if err != nil {
		return err
	}
	for i := range treePages {
		differs := !bytes.Equal(t.now.page(i), t.snapshots[name].page(i))
		if _, listed := slices.BinarySearch(changed, uint64(i)); differs && !listed {
			return fmt.Errorf("the module's list of pages that differ from %s lacks page %d", name, i)
		}
	}
	if _, err := t.d.Restore(name); err != nil {
		return err
	}
	t.now = slices.Clone(t.snapshots[name])
	t.restores++
	if err := t.now.compare(t.d); err != nil {
		return fmt.Errorf("restored %s: %w", name, err)
	}
	return nil
}

func (t *snapshotTree) drop(name string) error {
	delete(t.snapshots, name)
	return t.d.Drop(name)
}

// limit makes and drops one more snapshot, which may exceed the maximum number.
func (t *snapshotTree) limit() error {
	if err := t.d.Snapshot("limit"); err != nil && !errors.Is(err, unix.ENOSPC) {
		return err
	}
	if err := t.d.Drop("limit"); err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	return nil
}

// dropAll restores each snapshot a last time and drops it.
func (t *snapshotTree) dropAll() error {
	for _, name := range slices.Sorted(maps.Keys(t.snapshots)) {
		if _, err := t.d.Restore(name); err != nil {
			return err
		}
		if err := t.snapshots[name].compare(t.d); err != nil {
			return fmt.Errorf("restored %s at the end: %w", name, err)
		}
		if err := t.d.Drop(name); err != nil {
			return err
		}
	}
	return nil
}

// treeIsGone checks that dropped snapshots leave no pages, and that the module refuses to restore a
// snapshot that does not exist.
func treeIsGone(c *ramdisk.Control, d *ramdisk.Disk) error {
	s, err := d.Stat()
	if err != nil {
		return err
	}
	h, err := c.Hello()
	if err != nil {
		return err
	}
	if s.Kept != 0 || s.Snapshots != 0 || int64(s.Pages) != h.Pages || s.Pages > treePages {
		return fmt.Errorf("after all snapshots are dropped, the module reports %+v, %+v", s, h)
	}
	if _, err := d.Restore("none"); !errors.Is(err, unix.ENOENT) {
		return errors.Join(errors.New("to restore a snapshot that does not exist does not fail with"+
			" ENOENT"), err)
	}
	return nil
}
