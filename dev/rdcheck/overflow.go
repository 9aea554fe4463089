package main

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"fsward/blocktap/trace"
	"fsward/dev/guestcheck"
	"fsward/explore/ramdisk"
)

// overflowWrites is the number of writes of checkOverflow, of a page each. The log of 1 MiB holds
// about 250 of them.
const overflowWrites = 600

// checkOverflow checks that a full log has a record with the number of lost records in their place,
// and that the converter refuses such a log.
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
		return errors.Join(errors.New("to open the log a second time does not fail with EBUSY"), err)
	}
	r := ramdisk.NewReader(log)
	gaps, err := readGaps(r, h.Lost)
	if err != nil {
		return err
	}
	if err := expectResumed(r, f, buf); err != nil {
		return err
	}
	again, err := overflowAgain(c, r, f, buf, h.Lost)
	if err != nil {
		return err
	}
	guestcheck.Fact("overflow", "%d of %d records lost, reported in %d places; then %d more",
		h.Lost, 2*overflowWrites, gaps, again)
	return errors.Join(unix.Close(f), d.Remove())
}

// overfill does more writes than the log has room for.
func overfill(f int, buf []byte) error {
	for i := range overflowWrites {
		if _, err := unix.Pwrite(f, buf, int64(i*ramdisk.PageSize)); err != nil {
			return err
		}
	}
	return nil
}

// readGaps reads the records of all writes and returns the number of places with lost records. A
// write has two records, for its submission and its completion. If the first does not fit, the
// second, which is smaller, still may, so that there are gaps of one record.
func readGaps(r *ramdisk.Reader, counted uint64) (gaps int, err error) {
	conv := ramdisk.NewConverter(map[uint32]*trace.Writer{})
	kept, lost := uint64(0), uint64(0)
	for kept+lost < 2*overflowWrites {
		rec, err := r.Next() // fails if a sequence number is missing
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
		if !errors.Is(err, ramdisk.ErrIncomplete) {
			accepted := fmt.Errorf("the converter accepts a log that lacks %d records", rec.Len)
			return 0, errors.Join(accepted, err)
		}
	}
	if lost != counted || kept+lost != 2*overflowWrites {
		return 0, fmt.Errorf("of %d records %d are kept and %d lost; the module counts %d as lost",
			2*overflowWrites, kept, lost, counted)
	}
	return gaps, nil
}

// expectResumed checks that a new write is in the log after the gap, now that the log has room.
func expectResumed(r *ramdisk.Reader, f int, buf []byte) error {
	if _, err := unix.Pwrite(f, buf, 0); err != nil {
		return err
	}
	for _, want := range []ramdisk.Type{ramdisk.Submit, ramdisk.Complete} {
		if rec, err := r.Next(); err != nil || rec.Type != want || rec.Op != ramdisk.Write {
			return errors.Join(fmt.Errorf("the record after the gap is %+v", rec), err)
		}
	}
	return nil
}

// overflowAgain fills the log a second time and returns the number of lost records. It reads some
// records to make room for a mark; the log reports the lost records before the mark. before is the
// number of records that were lost the first time.
func overflowAgain(c *ramdisk.Control, r *ramdisk.Reader, f int, buf []byte,
	before uint64) (lost uint64, err error) {
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
		return 0, fmt.Errorf("the log reports %d lost records the second time; the module counts %d",
			lost, h.Lost-before)
	}
	return lost, nil
}
