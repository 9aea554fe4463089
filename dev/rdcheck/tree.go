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

// image is what a disk holds, for small disks.
type image []byte

// page returns page number i.
func (m image) page(i int) []byte { return m[i*ramdisk.PageSize:][:ramdisk.PageSize] }

// compare reads the disk and checks that it holds the image.
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

// treePages is the size of the disk of checkTree.
const treePages = 96

// snapshotTree changes a disk at random, and keeps copies of all that the disk and its snapshots have to hold.
type snapshotTree struct {
	d        *ramdisk.Disk
	f        int // the disk, opened with O_DIRECT
	rnd      *rand.Rand
	buf      []byte
	now      image
	saved    map[string]image
	restores int
}

// checkTree makes, restores and drops snapshots at random, with writes, zeroes, discards and set pages between them, and
// compares the disk with copies of the whole.
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
	t := &snapshotTree{d: d, f: f, rnd: rand.New(rand.NewPCG(seed, 0)), buf: aligned(8 * ramdisk.SectorSize),
		now: make(image, treePages*ramdisk.PageSize), saved: make(map[string]image)}
	for step := range steps {
		if err := t.step(step); err != nil {
			return fmt.Errorf("step %d: %w", step, err)
		}
	}
	if err := t.now.compare(d); err != nil {
		return err
	}
	most := len(t.saved)
	if err := errors.Join(t.limit(), t.dropAll()); err != nil {
		return err
	}
	if err := treeIsGone(c, d); err != nil {
		return err
	}
	guestcheck.Fact("tree", "%d steps, %d restores, %d snapshots at the end: each exact", steps, t.restores, most)
	return errors.Join(unix.Close(f), d.Remove())
}

// step does one thing, writes most often.
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
	case op < 16 && len(t.saved) < ramdisk.MaxSnapshots:
		name := fmt.Sprint("s", step)
		t.saved[name] = slices.Clone(t.now)
		return t.d.Snapshot(name)
	case op < 18 && len(t.saved) > 0:
		return t.restore(t.pick())
	case len(t.saved) > 0 && t.rnd.IntN(2) > 0:
		return t.drop(t.pick())
	}
	return nil
}

// pick returns the name of a snapshot.
func (t *snapshotTree) pick() string {
	return slices.Sorted(maps.Keys(t.saved))[t.rnd.IntN(len(t.saved))]
}

// spot returns a place on the disk, in bytes, of 1 to most sectors.
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

// clear discards a range or makes it zeros; on this disk both read as zeros.
func (t *snapshotTree) clear(mode uint32) error {
	off, n := t.spot(40)
	clear(t.now[off : off+n])
	return unix.Fallocate(t.f, mode|unix.FALLOC_FL_KEEP_SIZE, int64(off), int64(n))
}

// setPage sets a page beside the block device, now and then to zeros.
func (t *snapshotTree) setPage(value byte) error {
	var page [ramdisk.PageSize]byte
	if t.rnd.IntN(3) > 0 {
		page[t.rnd.IntN(len(page))] = value
	}
	n := t.rnd.IntN(treePages)
	copy(t.now.page(n), page[:])
	return t.d.SetPage(uint64(n), &page)
}

// restore restores a snapshot, and checks before that the pages that differ from it are among those that the module lists.
func (t *snapshotTree) restore(name string) error {
	changed, err := t.d.Changed(name)
	if err != nil {
		return err
	}
	for i := range treePages {
		differs := !bytes.Equal(t.now.page(i), t.saved[name].page(i))
		if _, listed := slices.BinarySearch(changed, uint64(i)); differs && !listed {
			return fmt.Errorf("page %d differs from %s, and the module does not list it as changed", i, name)
		}
	}
	if _, err := t.d.Restore(name); err != nil {
		return err
	}
	t.now = slices.Clone(t.saved[name])
	t.restores++
	if err := t.now.compare(t.d); err != nil {
		return fmt.Errorf("restored %s: %w", name, err)
	}
	return nil
}

func (t *snapshotTree) drop(name string) error {
	delete(t.saved, name)
	return t.d.Drop(name)
}

// limit makes one snapshot more, which may be one too many.
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
	for _, name := range slices.Sorted(maps.Keys(t.saved)) {
		if _, err := t.d.Restore(name); err != nil {
			return err
		}
		if err := t.saved[name].compare(t.d); err != nil {
			return fmt.Errorf("at the end %s: %w", name, err)
		}
		if err := t.d.Drop(name); err != nil {
			return err
		}
	}
	return nil
}

// treeIsGone checks that nothing is left of dropped snapshots, and that one that does not exist is refused.
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
		return fmt.Errorf("all snapshots are dropped, and the module reports %+v, %+v", s, h)
	}
	if _, err := d.Restore("none"); !errors.Is(err, unix.ENOENT) {
		return errors.Join(errors.New("restoring a snapshot that does not exist does not fail with ENOENT"), err)
	}
	return nil
}
