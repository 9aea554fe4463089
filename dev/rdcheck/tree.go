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

func (m image) compare(d *ramdisk.Disk) error {
	var page [ramdisk.PageSize]byte
	for i := range len(m) / ramdisk.PageSize {
		if err := d.Page(uint64(i), &page); err != nil {
			return err
		}
		if !bytes.Equal(page[:], m[i*ramdisk.PageSize:][:ramdisk.PageSize]) {
			return fmt.Errorf("page %d is not what it should be", i)
		}
	}
	return nil
}

// checkTree makes, restores and drops snapshots at random, with writes, zeroes, discards and pages set between, and holds
// the disk against copies of the whole.
func checkTree(c *ramdisk.Control) error {
	const pages, steps = 96, 1000
	d, err := c.Make(0, pages*ramdisk.PageSize)
	if err != nil {
		return err
	}
	f, err := direct(d)
	if err != nil {
		return err
	}
	buf := aligned(8 * ramdisk.SectorSize)
	now := make(image, pages*ramdisk.PageSize)
	saved := make(map[string]image)
	seed := uint64(time.Now().UnixNano())
	guestcheck.Fact("tree", "seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	pick := func() string { return slices.Sorted(maps.Keys(saved))[rnd.IntN(len(saved))] }
	restores := 0
	for step := range steps {
		switch op := rnd.IntN(20); {
		case op < 11:
			n := (1 + rnd.IntN(8)) * ramdisk.SectorSize
			off := rnd.IntN((len(now)-n)/ramdisk.SectorSize+1) * ramdisk.SectorSize
			for i := range n {
				buf[i] = byte(rnd.Uint32())
			}
			if _, err := unix.Pwrite(f, buf[:n], int64(off)); err != nil {
				return err
			}
			copy(now[off:], buf[:n])
		case op < 13:
			n := (1 + rnd.IntN(40)) * ramdisk.SectorSize
			off := rnd.IntN((len(now)-n)/ramdisk.SectorSize+1) * ramdisk.SectorSize
			mode := uint32(unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE)
			if op == 12 {
				mode = unix.FALLOC_FL_ZERO_RANGE | unix.FALLOC_FL_KEEP_SIZE
			}
			if err := unix.Fallocate(f, mode, int64(off), int64(n)); err != nil {
				return err
			}
			clear(now[off : off+n])
		case op < 14:
			var page [ramdisk.PageSize]byte
			if rnd.IntN(3) > 0 {
				page[rnd.IntN(len(page))] = byte(step)
			}
			n := rnd.IntN(pages)
			if err := d.SetPage(uint64(n), &page); err != nil {
				return err
			}
			copy(now[n*ramdisk.PageSize:], page[:])
		case op < 16 && len(saved) < ramdisk.MaxSnapshots:
			name := fmt.Sprint("s", step)
			if err := d.Snapshot(name); err != nil {
				return err
			}
			saved[name] = slices.Clone(now)
		case op < 18 && len(saved) > 0:
			name := pick()
			changed, err := d.Changed(name)
			if err != nil {
				return err
			}
			for i := range pages {
				differs := !bytes.Equal(now[i*ramdisk.PageSize:][:ramdisk.PageSize], saved[name][i*ramdisk.PageSize:][:ramdisk.PageSize])
				if _, listed := slices.BinarySearch(changed, uint64(i)); differs && !listed {
					return fmt.Errorf("step %d: page %d differs from %s and is not among the changed", step, i, name)
				}
			}
			if _, err := d.Restore(name); err != nil {
				return err
			}
			now = slices.Clone(saved[name])
			restores++
			if err := now.compare(d); err != nil {
				return fmt.Errorf("step %d: restored %s: %w", step, name, err)
			}
		case len(saved) > 0 && rnd.IntN(2) > 0:
			name := pick()
			if err := d.Drop(name); err != nil {
				return err
			}
			delete(saved, name)
		}
	}
	if err := now.compare(d); err != nil {
		return err
	}
	if err := d.Snapshot("limit"); err != nil && !errors.Is(err, unix.ENOSPC) {
		return err
	}
	if err := d.Drop("limit"); err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	most := len(saved)
	for _, name := range slices.Sorted(maps.Keys(saved)) {
		if _, err := d.Restore(name); err != nil {
			return err
		}
		if err := saved[name].compare(d); err != nil {
			return fmt.Errorf("at the end %s: %w", name, err)
		}
		if err := d.Drop(name); err != nil {
			return err
		}
	}
	s, err := d.Stat()
	if err != nil {
		return err
	}
	h, err := c.Hello()
	if err != nil {
		return err
	}
	if s.Kept != 0 || s.Snapshots != 0 || int64(s.Pages) != h.Pages || s.Pages > pages {
		return fmt.Errorf("when all snapshots are dropped: %+v, %+v", s, h)
	}
	if _, err := d.Restore("none"); !errors.Is(err, unix.ENOENT) {
		return errors.Join(errors.New("a snapshot that is none is not refused"), err)
	}
	guestcheck.Fact("tree", "%d steps, %d restores, %d snapshots at the end: each exact", steps, restores, most)
	return errors.Join(unix.Close(f), d.Remove())
}
