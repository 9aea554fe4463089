package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"fsward/dev/guestcheck"
	"fsward/explore/ramdisk"
)

// checkLoad makes and restores snapshots while writers write, with the log on. The log says what the disk has to hold at
// each of them.
func checkLoad(c *ramdisk.Control) error {
	const pages, writers, rounds = 512, 3, 40
	d, err := c.Make(0, pages*ramdisk.PageSize)
	if err != nil {
		return err
	}
	now := make(image, pages*ramdisk.PageSize)
	saved := make(map[string]image)
	held := make(map[uint64][]byte)
	writes, restores := 0, 0
	err = logged(c, func() error {
		if err := d.Log(true); err != nil {
			return err
		}
		stop := make(chan struct{})
		failed := make(chan error, writers)
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() { failed <- writer(c, d, pages, uint64(w), stop) })
		}
		var err error
		for i := 0; i < rounds && err == nil; i++ {
			time.Sleep(10 * time.Millisecond)
			if err = d.Snapshot(fmt.Sprint("s", i)); err == nil && i%2 == 1 {
				time.Sleep(10 * time.Millisecond)
				_, err = d.Restore(fmt.Sprint("s", rand.IntN(i+1)))
			}
		}
		close(stop)
		all.Wait()
		for range writers {
			err = errors.Join(err, <-failed)
		}
		return errors.Join(err, d.Log(false))
	}, func(r *ramdisk.Record) error {
		switch r.Type {
		case ramdisk.Submit:
			held[r.ID] = slices.Clone(r.Data)
		case ramdisk.Complete:
			if r.Op == ramdisk.Write {
				copy(now[r.Sector*ramdisk.SectorSize:], held[r.ID][:r.Done])
				writes++
			}
			delete(held, r.ID)
		case ramdisk.Snapshot:
			saved[string(r.Data)] = slices.Clone(now)
		case ramdisk.Restore:
			copy(now, saved[string(r.Data)])
			restores++
		case ramdisk.Lost:
			return fmt.Errorf("%d records are lost", r.Len)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := now.compare(d); err != nil {
		return fmt.Errorf("at the end: %w", err)
	}
	for name, want := range saved {
		if _, err := d.Restore(name); err != nil {
			return err
		}
		if err := want.compare(d); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	guestcheck.Fact("load", "%d snapshots and %d restores among %d writes: each exact", len(saved), restores, writes)
	if len(saved) != rounds || restores != rounds/2 || writes < rounds {
		return errors.New("that is not what was done")
	}
	return d.Remove()
}

// writer writes at random until it is stopped. It waits for who reads the log: three writers fill it faster than it is read.
func writer(c *ramdisk.Control, d *ramdisk.Disk, pages int, seed uint64, stop <-chan struct{}) error {
	f, err := direct(d)
	if err != nil {
		return err
	}
	defer unix.Close(f)
	rnd := rand.New(rand.NewPCG(seed, 1))
	buf := aligned(4 * ramdisk.PageSize)
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		if h, err := c.Hello(); err != nil {
			return err
		} else if h.LogUsed > h.LogBytes/2 {
			time.Sleep(time.Millisecond)
			continue
		}
		n := (1 + rnd.IntN(16)) * ramdisk.SectorSize
		for i := 0; i < n; i += 8 {
			buf[i] = byte(rnd.Uint32())
		}
		if _, err := unix.Pwrite(f, buf[:n], int64(rnd.IntN(pages*8-16)*ramdisk.SectorSize)); err != nil {
			return err
		}
	}
}

// checkTime measures restoring. The aim is a disk of 64 MiB with 200 changed pages in less than 5 ms.
func checkTime(c *ramdisk.Control) error {
	for n, mib := range []uint64{64, 1024} {
		d, err := c.Make(uint32(n), mib<<20)
		if err != nil {
			return err
		}
		f, err := direct(d)
		if err != nil {
			return err
		}
		buf := aligned(1 << 20)
		for i := range buf {
			buf[i] = byte(i)
		}
		begin := time.Now()
		for i := range 64 { // the first 64 MiB of either
			if _, err := unix.Pwrite(f, buf, int64(i)<<20); err != nil {
				return err
			}
		}
		whole := time.Since(begin)
		if err := d.Snapshot("base"); err != nil {
			return err
		}
		for _, change := range []int{0, 20, 200, 2000} {
			var took []time.Duration
			for range 15 {
				for _, p := range rand.Perm(64 << 20 / ramdisk.PageSize)[:change] {
					if _, err := unix.Pwrite(f, buf[:ramdisk.PageSize], int64(p)*ramdisk.PageSize); err != nil {
						return err
					}
				}
				r, err := d.Restore("base")
				if err != nil {
					return err
				}
				if r.Pages != uint64(change) {
					return fmt.Errorf("%d pages put back of %d", r.Pages, change)
				}
				took = append(took, r.Took)
			}
			slices.Sort(took)
			guestcheck.Fact("time", "%d MiB, %d pages changed: restored in %d us at best, %d us in the middle, %d us at worst of %d",
				mib, change, took[0].Microseconds(), took[len(took)/2].Microseconds(), took[len(took)-1].Microseconds(), len(took))
		}
		guestcheck.Fact("time", "%d MiB: writing 64 MiB through the block device took %d us", mib, whole.Microseconds())
		if err := errors.Join(unix.Close(f), d.Remove()); err != nil {
			return err
		}
	}
	return nil
}
