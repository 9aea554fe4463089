package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/ramdisk"
)

// written is a write that another goroutine does.
func written(f int, with byte, off int64) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := unix.Pwrite(f, fill(alignedPage(), with), off)
		done <- err
	}()
	return done
}

// delayed adds a rule that delays the next write, begins one, and waits until the module has it.
func delayed(d *ramdisk.Disk, f int, ms uint64, with byte, off int64) (<-chan error, error) {
	if err := d.Inject(ramdisk.Rule{Action: ramdisk.Delay, Ops: []ramdisk.Op{ramdisk.Write}, Nth: 1, Times: 1, Arg: ms}); err != nil {
		return nil, err
	}
	before, err := d.Stat()
	if err != nil {
		return nil, err
	}
	done := written(f, with, off)
	for {
		s, err := d.Stat()
		if err != nil || s.Submitted > before.Submitted {
			return done, err
		}
		time.Sleep(time.Millisecond)
	}
}

// injectDelay: a write is done later than one that came after it, and not before its time.
func injectDelay(c *ramdisk.Control, d *ramdisk.Disk, f int) error {
	const ms, late, soon = 700, 4 * ramdisk.PageSize, 5 * ramdisk.PageSize
	if err := <-written(f, 1, late); err != nil {
		return err
	}
	var order []uint64 // sectors, as they completed
	var held byte      // at late, before it is done
	var took time.Duration
	err := logged(c, func() error {
		if err := d.Log(true); err != nil {
			return err
		}
		begin := time.Now()
		done, err := delayed(d, f, ms, 2, late)
		if err != nil {
			return err
		}
		if err := <-written(f, 3, soon); err != nil {
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
			err = fmt.Errorf("what was delayed holds %d at last", page[0])
		}
		return errors.Join(err, d.Log(false))
	}, func(r *ramdisk.Record) error {
		if r.Type == ramdisk.Complete && r.Op == ramdisk.Write {
			order = append(order, r.Sector)
			if r.Injected.Has(ramdisk.Delay) != (r.Sector*ramdisk.SectorSize == late) {
				return fmt.Errorf("the log says %#x of the write to sector %d", uint32(r.Injected), r.Sector)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if took < ms*time.Millisecond || held != 1 || !slices.Equal(order, []uint64{soon / ramdisk.SectorSize, late / ramdisk.SectorSize}) {
		return fmt.Errorf("a delay of %d ms took %v, held %d meanwhile, and completed in the order %v", ms, took, held, order)
	}
	return nil
}

// injectHurry: what is delayed is done before contents are restored, and a snapshot made before does not have it.
func injectHurry(_ *ramdisk.Control, d *ramdisk.Disk, f int) error {
	const off = 6 * ramdisk.PageSize
	if err := <-written(f, 1, off); err != nil {
		return err
	}
	begin := time.Now()
	done, err := delayed(d, f, ramdisk.MaxDelayMS, 2, off)
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
		return fmt.Errorf("a restore left the write waiting for %v", took)
	}
	var page [ramdisk.PageSize]byte
	if err := d.Page(off/ramdisk.PageSize, &page); err != nil {
		return err
	}
	if page[0] != 1 {
		return fmt.Errorf("restored, the page holds %d", page[0])
	}
	return d.Drop("s")
}

// injectMeet: contents are restored just when writes that were delayed are done. Each is done once.
func injectMeet(_ *ramdisk.Control, d *ramdisk.Disk, f int) error {
	const bytes = 1 << 20 // copying so much takes long enough for others to wait for it
	b, err := unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return err
	}
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
			if err := d.Inject(ramdisk.Rule{Action: ramdisk.Delay, Ops: []ramdisk.Op{ramdisk.Write}, Nth: uint64(n + 1), Times: 1, Arg: ms}); err != nil {
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
		if sub, com := s.Submitted-before.Submitted, s.Completed-before.Completed; sub != com {
			return fmt.Errorf("%d bios came and %d ended", sub, com)
		}
	}
	return errors.Join(d.Drop("s"), unix.Munmap(b))
}
