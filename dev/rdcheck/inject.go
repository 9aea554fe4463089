package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"fsward/dev/guestcheck"
	"fsward/explore/ramdisk"
)

// checkInject holds what rules do against what programs and the kernel report.
func checkInject(c *ramdisk.Control) error {
	d, err := c.Make(0, 16<<20)
	if err != nil {
		return err
	}
	f, err := direct(d)
	if err != nil {
		return err
	}
	for _, t := range []struct {
		name string
		run  func(c *ramdisk.Control, d *ramdisk.Disk, f int) error
	}{
		{"fail", injectFail}, {"tear", injectTear}, {"delay", injectDelay}, {"hurry", injectHurry}, {"meet", injectMeet}, {"flush", injectFlush},
		{"limits", injectLimits},
	} {
		if err := t.run(c, d, f); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		s, err := d.Stat()
		if err != nil {
			return err
		}
		if s.Rules != 0 {
			return fmt.Errorf("%s: %d rules have not fired", t.name, s.Rules)
		}
	}
	if err := unix.Close(f); err != nil {
		return err
	}
	if err := injectKernel(d); err != nil {
		return err
	}
	return d.Remove()
}

// fill makes a buffer of one byte.
func fill(b []byte, with byte) []byte {
	for i := range b {
		b[i] = with
	}
	return b
}

// injectFail: the n-th and those after it fail with the error that was chosen, the others do not, and what failed did nothing.
func injectFail(_ *ramdisk.Control, d *ramdisk.Disk, f int) error {
	b := alignedPage()
	rule := ramdisk.Rule{Action: ramdisk.Fail, Ops: []ramdisk.Op{ramdisk.Write}, Error: uint32(unix.ENOSPC), Nth: 2, Times: 1}
	if err := d.Inject(rule); err != nil {
		return err
	}
	for i, want := range []error{nil, unix.ENOSPC, nil} {
		if _, err := unix.Pwrite(f, fill(b, byte(i+1)), 0); !errors.Is(err, want) {
			return fmt.Errorf("write %d ends with %q, want %q", i+1, fmt.Sprint(err), fmt.Sprint(want))
		}
		if _, err := unix.Pread(f, b, 0); err != nil {
			return err
		}
		if held := []byte{1, 1, 3}[i]; b[0] != held || b[len(b)-1] != held {
			return fmt.Errorf("after write %d the disk holds %d, want %d", i+1, b[0], held)
		}
	}
	rule = ramdisk.Rule{Action: ramdisk.Fail, Ops: []ramdisk.Op{ramdisk.Read}, Error: uint32(unix.EIO), Nth: 3, Times: 2}
	if err := d.Inject(rule); err != nil {
		return err
	}
	for i, want := range []error{nil, nil, unix.EIO, unix.EIO, nil} {
		if _, err := unix.Pread(f, b, 4096); !errors.Is(err, want) {
			return fmt.Errorf("read %d ends with %q, want %q", i+1, fmt.Sprint(err), fmt.Sprint(want))
		}
	}
	return nil
}

// injectTear: a write takes effect up to a sector, whether it is said to fail or not.
func injectTear(_ *ramdisk.Control, d *ramdisk.Disk, f int) error {
	b := alignedPage()
	for _, want := range []error{nil, unix.EIO} {
		errno := uint32(0)
		if want != nil {
			errno = uint32(unix.EIO)
		}
		if _, err := unix.Pwrite(f, fill(b, 1), 8192); err != nil {
			return err
		}
		rule := ramdisk.Rule{Action: ramdisk.Tear, Ops: []ramdisk.Op{ramdisk.Write}, Error: errno, Nth: 1, Times: 1, Arg: 3}
		if err := d.Inject(rule); err != nil {
			return err
		}
		if _, err := unix.Pwrite(f, fill(b, 2), 8192); !errors.Is(err, want) {
			return fmt.Errorf("it ends with %q, want %q", fmt.Sprint(err), fmt.Sprint(want))
		}
		if _, err := unix.Pread(f, b, 8192); err != nil {
			return err
		}
		torn := append(bytes.Repeat([]byte{2}, 3*ramdisk.SectorSize), bytes.Repeat([]byte{1}, 5*ramdisk.SectorSize)...)
		if !bytes.Equal(b, torn) {
			return errors.New("the disk does not hold three new sectors and five old ones")
		}
	}
	return nil
}

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

// injectFlush: a flush that is dropped succeeds and the log says so; one that fails does not.
func injectFlush(c *ramdisk.Control, d *ramdisk.Disk, f int) error {
	var dropped []bool
	err := logged(c, func() error {
		if err := d.Log(true); err != nil {
			return err
		}
		if err := d.Inject(ramdisk.Rule{Action: ramdisk.DropFlush, Nth: 2, Times: 1}); err != nil {
			return err
		}
		for range 3 {
			if err := unix.Fsync(f); err != nil {
				return err
			}
		}
		return d.Log(false)
	}, func(r *ramdisk.Record) error {
		if r.Type == ramdisk.Complete && r.Op == ramdisk.Flush {
			dropped = append(dropped, r.Injected.Has(ramdisk.DropFlush))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !slices.Equal(dropped, []bool{false, true, false}) {
		return fmt.Errorf("the log says %v of three flushes of which the second is dropped", dropped)
	}
	rule := ramdisk.Rule{Action: ramdisk.Fail, Ops: []ramdisk.Op{ramdisk.Flush}, Error: uint32(unix.EIO), Nth: 1, Times: 1}
	if err := d.Inject(rule); err != nil {
		return err
	}
	if err := unix.Fsync(f); !errors.Is(err, unix.EIO) {
		return errors.Join(errors.New("a flush that is to fail with EIO does not"), err)
	}
	return unix.Fsync(f)
}

// injectLimits: rules that make no sense, and more than there is room for, are refused.
func injectLimits(c *ramdisk.Control, d *ramdisk.Disk, _ int) error {
	w := []ramdisk.Op{ramdisk.Write}
	for _, r := range []ramdisk.Rule{
		{},
		{Action: ramdisk.Fail, Ops: w, Nth: 1, Times: 1},
		{Action: ramdisk.Fail, Ops: w, Error: 5, Times: 1},
		{Action: ramdisk.Fail, Ops: w, Error: 5, Nth: 1},
		{Action: ramdisk.Fail, Ops: []ramdisk.Op{0}, Error: 5, Nth: 1, Times: 1},
		{Action: ramdisk.Delay, Ops: w, Nth: 1, Times: 2, Arg: 1},
		{Action: ramdisk.Delay, Ops: w, Nth: 1, Times: 1, Arg: ramdisk.MaxDelayMS + 1},
		{Action: ramdisk.Tear, Ops: []ramdisk.Op{ramdisk.Read}, Nth: 1, Times: 1},
		{Action: ramdisk.DropFlush, Ops: w, Nth: 1, Times: 1},
		{Action: 9, Ops: w, Nth: 1, Times: 1},
	} {
		if err := d.Inject(r); !errors.Is(err, unix.EINVAL) {
			return errors.Join(fmt.Errorf("%+v is not refused as invalid", r), err)
		}
	}
	never := ramdisk.Rule{Action: ramdisk.Fail, Ops: w, Error: 5, Nth: math.MaxUint64, Times: math.MaxUint64}
	for range ramdisk.MaxRules {
		if err := d.Inject(never); err != nil {
			return err
		}
	}
	if err := d.Inject(never); !errors.Is(err, unix.ENOSPC) {
		return errors.Join(errors.New("one rule too many is not refused as it should be"), err)
	}
	if _, err := c.Make(ramdisk.MaxDisks, 4096); !errors.Is(err, unix.EINVAL) {
		return errors.Join(errors.New("one disk too many is not refused as it should be"), err)
	}
	if _, err := c.Make(0, 4096); !errors.Is(err, unix.EEXIST) {
		return errors.Join(errors.New("a disk that is there is not refused as it should be"), err)
	}
	if err := d.Remove(); !errors.Is(err, unix.EBUSY) {
		return errors.Join(errors.New("a disk that is open is not refused to be removed as busy"), err)
	}
	return d.ClearRules()
}

// kernelLog is what the kernel has said.
func kernelLog() (string, error) {
	const readAll = 3 // SYSLOG_ACTION_READ_ALL
	b := make([]byte, 1<<20)
	n, err := unix.Klogctl(readAll, b)
	return string(b[:max(n, 0)]), err
}

// injectKernel: ext3 on a disk whose writes fail aborts its journal, and the kernel says on which disk.
func injectKernel(d *ramdisk.Disk) error {
	if err := guestcheck.Mkfs("ext3", d.Path()); err != nil {
		return err
	}
	err := guestcheck.Mounted("ext3", d.Path(), "", func(dir string) error {
		if err := d.Inject(ramdisk.Rule{Action: ramdisk.Fail, Ops: []ramdisk.Op{ramdisk.Write}, Error: uint32(unix.EIO), Nth: 1,
			Times: math.MaxUint64}); err != nil {
			return err
		}
		f, err := os.Create(filepath.Join(dir, "file"))
		if err != nil {
			return err
		}
		defer f.Close()
		if err := f.Sync(); err == nil {
			return errors.New("fsync of a new file succeeds though nothing can be written")
		}
		if _, err := os.Create(filepath.Join(dir, "second")); !errors.Is(err, unix.EROFS) {
			return errors.Join(errors.New("a file is made in a file system with an aborted journal, or fails otherwise"), err)
		}
		return d.ClearRules()
	})
	if err != nil {
		return err
	}
	text, err := kernelLog()
	if err != nil {
		return err
	}
	for _, want := range []string{"Buffer I/O error on dev fswrd0", "Aborting journal on device fswrd0"} {
		if !strings.Contains(text, want) {
			return fmt.Errorf("the kernel does not say %q", want)
		}
	}
	return nil
}
