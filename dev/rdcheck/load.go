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

// loadPages is the size of the disk of checkLoad in pages.
const loadPages = 512

// A logReplay replays a log. It has the contents that the disk and its snapshots must have.
type logReplay struct {
	now              image
	snapshots        map[string]image
	pending          map[uint64][]byte // data of bios that have not completed
	writes, restores int
}

// add replays a record.
func (p *logReplay) add(r *ramdisk.Record) error {
	switch r.Type {
	case ramdisk.Submit:
		p.pending[r.ID] = slices.Clone(r.Data)
	case ramdisk.Complete:
		if r.Op == ramdisk.Write {
			copy(p.now[r.Sector*ramdisk.SectorSize:], p.pending[r.ID][:r.Done])
			p.writes++
		}
		delete(p.pending, r.ID)
	case ramdisk.Snapshot:
		p.snapshots[string(r.Data)] = slices.Clone(p.now)
	case ramdisk.Restore:
		copy(p.now, p.snapshots[string(r.Data)])
		p.restores++
	case ramdisk.Lost:
		return fmt.Errorf("the log lost %d records", r.Len)
	}
	return nil
}

// checkLoad makes and restores snapshots during writes, and compares the disk and its snapshots
// with a replay of the log.
func checkLoad(c *ramdisk.Control) error {
	const rounds = 40
	d, err := c.Make(0, loadPages*ramdisk.PageSize)
	if err != nil {
		return err
	}
	p := logReplay{
		now:       make(image, loadPages*ramdisk.PageSize),
		snapshots: make(map[string]image),
		pending:   make(map[uint64][]byte),
	}
	err = readLog(c, func() error {
		return errors.Join(d.Log(true), snapshotsUnderLoad(c, d, rounds), d.Log(false))
	}, p.add)
	if err != nil {
		return err
	}
	if err := p.now.compare(d); err != nil {
		return fmt.Errorf("at the end: %w", err)
	}
	for name, want := range p.snapshots {
		if _, err := d.Restore(name); err != nil {
			return err
		}
		if err := want.compare(d); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	guestcheck.Fact("load", "%d snapshots and %d restores during %d writes, all exact",
		len(p.snapshots), p.restores, p.writes)
	if len(p.snapshots) != rounds || p.restores != rounds/2 || p.writes < rounds {
		return fmt.Errorf("want %d snapshots, %d restores and at least %d writes",
			rounds, rounds/2, rounds)
	}
	return d.Remove()
}

// snapshotsUnderLoad makes snapshots while three writers write. After every second snapshot it
// restores a random one.
func snapshotsUnderLoad(c *ramdisk.Control, d *ramdisk.Disk, rounds int) error {
	const writers = 3
	stop := make(chan struct{})
	failed := make(chan error, writers)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() { failed <- writer(c, d, uint64(w), stop) })
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
	return err
}

// writer writes random ranges until stop is closed. It waits while the log is more than half full,
// since three writers fill the log faster than it is read.
func writer(c *ramdisk.Control, d *ramdisk.Disk, seed uint64, stop <-chan struct{}) error {
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
		off := int64(rnd.IntN(loadPages*8-16) * ramdisk.SectorSize)
		if _, err := unix.Pwrite(f, buf[:n], off); err != nil {
			return err
		}
	}
}

// timePages is the number of pages that checkTime writes to each disk.
const timePages = 64 << 20 / ramdisk.PageSize

// checkTime measures the time of a restore. The aim is less than 5 ms for a disk of 64 MiB with 200
// changed pages.
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
		for i := range timePages * ramdisk.PageSize >> 20 {
			if _, err := unix.Pwrite(f, buf, int64(i)<<20); err != nil {
				return err
			}
		}
		whole := time.Since(begin)
		if err := d.Snapshot("base"); err != nil {
			return err
		}
		for _, change := range []int{0, 20, 200, 2000} {
			took, err := timeRestores(d, f, buf[:ramdisk.PageSize], change)
			if err != nil {
				return err
			}
			least, middle, most := took[0], took[len(took)/2], took[len(took)-1]
			guestcheck.Fact("time", "%d MiB, %d pages changed: restored in %d us at best,"+
				" %d us in the middle, %d us at worst of %d", mib, change, least.Microseconds(),
				middle.Microseconds(), most.Microseconds(), len(took))
		}
		guestcheck.Fact("time", "%d MiB: writing 64 MiB through the block device took %d us",
			mib, whole.Microseconds())
		if err := errors.Join(unix.Close(f), d.Remove()); err != nil {
			return err
		}
	}
	return nil
}

// timeRestores changes the given number of random pages and restores the disk, 15 times. It returns
// the times of the restores, sorted.
func timeRestores(d *ramdisk.Disk, f int, page []byte, change int) (
	took []time.Duration,
	err error,
) {
	for range 15 {
		for _, p := range rand.Perm(timePages)[:change] {
			if _, err := unix.Pwrite(f, page, int64(p)*ramdisk.PageSize); err != nil {
				return nil, err
			}
		}
		r, err := d.Restore("base")
		if err != nil {
			return nil, err
		}
		if r.Pages != uint64(change) {
			return nil, fmt.Errorf("the restore copied %d pages, want %d", r.Pages, change)
		}
		took = append(took, r.Took)
	}
	slices.Sort(took)
	return took, nil
}
