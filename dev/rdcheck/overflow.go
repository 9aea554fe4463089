package main

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"fsward/blocktap/trace"
	"fsward/dev/guestcheck"
	"fsward/explore/ramdisk"
)

// overflowWrites is how many writes checkOverflow does, of a page each. The log of 1 MiB holds some 250 of them.
const overflowWrites = 600

// checkOverflow checks that the log reports how many records did not fit, in the place of these, and that the converter refuses
// the rest.
func checkOverflow(c *ramdisk.Control) error {
	d, err := c.Make(0, 16<<20)
	if err != nil {
		return err
	}
	if err := d.Log(true); err != nil {
		return err
	}
	f, err := direct(d)
	if err != nil {
		return err
	}
	buf := alignedPage()
	if err := overfill(f, buf); err != nil {
		return err
	}
	h, err := c.Hello()
	if err != nil {
		return err
	}
	if h.LogBytes != 1<<20 || h.LogUsed > h.LogBytes || h.Lost == 0 || h.Lost >= 2*overflowWrites {
		return fmt.Errorf("after %d writes: %+v", overflowWrites, h)
	}
	log, err := ramdisk.OpenLog()
	if err != nil {
		return err
	}
	defer log.Close()
	if second, err := ramdisk.OpenLog(); !errors.Is(err, unix.EBUSY) {
		_ = second.Close()
		return errors.Join(errors.New("opening the log a second time does not fail with EBUSY"), err)
	}
	r := ramdisk.NewReader(log)
	gaps, err := readGaps(r, h.Lost)
	if err != nil {
		return err
	}
	if err := goesOn(r, f, buf); err != nil {
		return err
	}
	again, err := overflowAgain(c, r, f, buf, h.Lost)
	if err != nil {
		return err
	}
	guestcheck.Fact("overflow", "%d of %d records lost, told in %d places; then %d more", h.Lost, 2*overflowWrites, gaps, again)
	return errors.Join(unix.Close(f), d.Remove())
}

// overfill writes more than the log holds.
func overfill(f int, buf []byte) error {
	for i := range overflowWrites {
		if _, err := unix.Pwrite(f, buf, int64(i*ramdisk.PageSize)); err != nil {
			return err
		}
	}
	return nil
}

// readGaps reads all records of the writes, and returns in how many places the log reports lost ones: the write and its end
// are a record each, and where the write does not fit its end may, so that there are gaps of one.
func readGaps(r *ramdisk.Reader, counted uint64) (gaps int, err error) {
	conv := ramdisk.NewConverter(map[uint32]*trace.Writer{})
	kept, lost := uint64(0), uint64(0)
	for kept+lost < 2*overflowWrites {
		rec, err := r.Next() // checks that no number is missing
		if err != nil {
			return 0, err
		}
		err = conv.Add(rec)
		if rec.Type != ramdisk.Lost {
			kept++
			continue
		}
		lost += rec.Len
		gaps++
		if !errors.Is(err, ramdisk.ErrNotWhole) {
			return 0, errors.Join(fmt.Errorf("the converter accepts a log that lacks %d records", rec.Len), err)
		}
	}
	if lost != counted || kept+lost != 2*overflowWrites {
		return 0, fmt.Errorf("%d records kept and %d lost of %d; the module counts %d", kept, lost, 2*overflowWrites, counted)
	}
	return gaps, nil
}

// goesOn checks that the log goes on after the gap, now that there is room.
func goesOn(r *ramdisk.Reader, f int, buf []byte) error {
	if _, err := unix.Pwrite(f, buf, 0); err != nil {
		return err
	}
	for _, want := range []ramdisk.Type{ramdisk.Submit, ramdisk.Complete} {
		if rec, err := r.Next(); err != nil || rec.Type != want || rec.Op != ramdisk.Write {
			return errors.Join(fmt.Errorf("after the gap comes %+v", rec), err)
		}
	}
	return nil
}

// overflowAgain fills the log a second time, and returns how many records were lost: the log reports them before the mark, for
// which reading makes room. before is how many were lost the first time.
func overflowAgain(c *ramdisk.Control, r *ramdisk.Reader, f int, buf []byte, before uint64) (lost uint64, err error) {
	if err := overfill(f, buf); err != nil {
		return 0, err
	}
	for range 10 {
		if _, err := r.Next(); err != nil {
			return 0, err
		}
	}
	if err := c.Mark("room"); err != nil {
		return 0, err
	}
	h, err := c.Hello()
	if err != nil {
		return 0, err
	}
	for {
		rec, err := r.Next()
		if err != nil {
			return 0, err
		}
		if rec.Type == ramdisk.Mark {
			break
		}
		if rec.Type == ramdisk.Lost {
			lost += rec.Len
		}
	}
	if lost == 0 || lost != h.Lost-before {
		return 0, fmt.Errorf("%d records lost the second time; the module counts %d", lost, h.Lost-before)
	}
	return lost, nil
}
