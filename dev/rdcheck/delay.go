package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/ramdisk"
)

// startWrite writes a page of one byte value in another goroutine. The channel gets the result.
func startWrite(f int, with byte, off int64) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := unix.Pwrite(f, fill(alignedPage(), with), off)
		done <- err
	}()
	return done
}

// delayNth returns a rule that delays the n-th write from now on.
func delayNth(n, ms uint64) ramdisk.Rule {
	return ramdisk.Rule{
		Action: ramdisk.Delay, Ops: []ramdisk.Op{ramdisk.Write}, Nth: n, Times: 1, Arg: ms,
	}
}

// startDelayedWrite adds a rule that delays the next write by ms milliseconds, starts a write, and
// waits until the module has its bio.
func startDelayedWrite(d *ramdisk.Disk, f int, ms uint64,
	with byte, off int64) (<-chan error, error) {
	if err := d.Inject(delayNth(1, ms)); err != nil {
		return nil, err
	}
	before, err := d.Stat()
	if err != nil {
		return nil, err
	}
	done := startWrite(f, with, off)
	for {
		s, err := d.Stat()
		if err != nil || s.Submitted > before.Submitted {
			return done, err
		}
		time.Sleep(time.Millisecond)
	}
}

// injectDelay checks that a delayed write completes after a write that started later, and not
// before its delay has passed.
func injectDelay(c *ramdisk.Control, d *ramdisk.Disk, f int) error {
	const ms, late, soon = 700, 4 * ramdisk.PageSize, 5 * ramdisk.PageSize
	if err := <-startWrite(f, 1, late); err != nil {
		return err
	}
	var order []uint64 // sectors of the writes in the order of completion
	var held byte      // contents at late while the write is delayed
	var took time.Duration
	err := readLog(c, func() error {
		if err := d.Log(true); err != nil {
			return err
		}
		begin := time.Now()
		done, err := startDelayedWrite(d, f, ms, 2, late)
		if err != nil {
			return err
		}
		if err := <-startWrite(f, 3, soon); err != nil {
			return err
		}
		var page [ramdisk.PageSize]byte
		if err := d.Page(late/ramdisk.PageSize, &page); err != nil {
			return err
		}
		held = page[0]
		err = <-done
		took = time.Since(begin)
		if err == nil {
			err = d.Page(late/ramdisk.PageSize, &page)
		}
		if err == nil && page[0] != 2 {
			err = fmt.Errorf("after the delayed write the page holds %d, want 2", page[0])
		}
		return errors.Join(err, d.Log(false))
	}, func(r *ramdisk.Record) error {
		if r.Type == ramdisk.Complete && r.Op == ramdisk.Write {
			order = append(order, r.Sector)
			if r.Injected.Has(ramdisk.Delay) != (r.Sector*ramdisk.SectorSize == late) {
				return fmt.Errorf("the write to sector %d has the wrong injected actions %#x",
					r.Sector, uint32(r.Injected))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	want := []uint64{soon / ramdisk.SectorSize, late / ramdisk.SectorSize}
	if took < ms*time.Millisecond || held != 1 || !slices.Equal(order, want) {
		return fmt.Errorf("a write with a delay of %d ms took %v; the page held %d meanwhile, want 1;"+
			" the writes completed in the order %v, want %v", ms, took, held, order, want)
	}
	return nil
}

// injectHurry checks that a restore completes delayed writes first, and that a snapshot made during
// the delay does not contain them.
func injectHurry(_ *ramdisk.Control, d *ramdisk.Disk, f int) error {
	const off = 6 * ramdisk.PageSize
	if err := <-startWrite(f, 1, off); err != nil {
		return err
	}
	begin := time.Now()
	done, err := startDelayedWrite(d, f, ramdisk.MaxDelayMS, 2, off)
	if err != nil {
		return err
	}
	if err := d.Snapshot("s"); err != nil {
		return err
	}
	if _, err := d.Restore("s"); err != nil {
		return err
	}
	if err := <-done; err != nil {
		return err
	}
	if took := time.Since(begin); took > ramdisk.MaxDelayMS/2*time.Millisecond {
		return fmt.Errorf("the restore did not end the delay of a write, which took %v", took)
	}
	var page [ramdisk.PageSize]byte
	if err := d.Page(off/ramdisk.PageSize, &page); err != nil {
		return err
	}
	if page[0] != 1 {
		return fmt.Errorf("after the restore the page holds %d, want 1", page[0])
	}
	return d.Drop("s")
}

// injectMeet checks that a restore at the moment when delays end completes each delayed write
// exactly once.
func injectMeet(_ *ramdisk.Control, d *ramdisk.Disk, f int) error {
	b := aligned(1 << 20) // a copy of this size takes so long that other writes wait for it
	if err := d.Snapshot("s"); err != nil {
		return err
	}
	for i := range 40 {
		const ms = 30
		before, err := d.Stat()
		if err != nil {
			return err
		}
		done := make(chan error, ramdisk.MaxRules)
		for n := range ramdisk.MaxRules {
			if err := d.Inject(delayNth(uint64(n+1), ms)); err != nil {
				return err
			}
		}
		for range ramdisk.MaxRules {
			go func() {
				_, err := unix.Pwrite(f, b, 0)
				done <- err
			}()
		}
		time.Sleep((ms + time.Duration(i)) * time.Millisecond)
		if _, err := d.Restore("s"); err != nil {
			return err
		}
		for range ramdisk.MaxRules {
			if err := <-done; err != nil {
				return err
			}
		}
		s, err := d.Stat()
		if err != nil {
			return err
		}
		submitted, completed := s.Submitted-before.Submitted, s.Completed-before.Completed
		if submitted != completed {
			return fmt.Errorf("%d bios submitted and %d completed", submitted, completed)
		}
	}
	return errors.Join(d.Drop("s"), unix.Munmap(b))
}
