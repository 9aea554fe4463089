package main

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"fsward/dev/guestcheck"
	"fsward/explore/ramdisk"
)

// rateWrites is the number of writes of checkRate, of a page each. They fill about 25 MiB of the
// log of 32 MiB.
const rateWrites = 6000

// checkRate measures the rate at which the log can be read, as bytes and as decoded records. A
// mapped log would save the time for the bytes.
func checkRate(c *ramdisk.Control) error {
	d, err := c.Make(0, 32<<20)
	if err != nil {
		return err
	}
	f, err := direct(d)
	if err != nil {
		return err
	}
	defer unix.Close(f)
	log, err := ramdisk.OpenLog()
	if err != nil {
		return err
	}
	defer log.Close()

	bytes, err := fillLog(c, d, f)
	if err != nil {
		return err
	}
	piece := make([]byte, 1<<20)
	begin := time.Now()
	for got := uint64(0); got < bytes; {
		n, err := log.Read(piece)
		if err != nil {
			return err
		}
		got += uint64(n)
	}
	raw := time.Since(begin)

	if bytes, err = fillLog(c, d, f); err != nil {
		return err
	}
	r := ramdisk.NewReader(log)
	begin = time.Now()
	for range 2 * rateWrites {
		if _, err := r.Next(); err != nil {
			return err
		}
	}
	records := time.Since(begin)

	mbs := func(took time.Duration) float64 { return float64(bytes) / 1e6 / took.Seconds() }
	guestcheck.Fact("rate", "%d records, %d bytes: read at %.0f MB/s;"+
		" as records at %.0f MB/s, %.0f records/s",
		2*rateWrites, bytes, mbs(raw), mbs(records), 2*rateWrites/records.Seconds())
	return nil
}

// fillLog logs rateWrites writes and returns the size of the log in bytes.
func fillLog(c *ramdisk.Control, d *ramdisk.Disk, f int) (bytes uint64, err error) {
	if err := d.Log(true); err != nil {
		return 0, err
	}
	buf := alignedPage()
	for i := range int64(rateWrites) {
		if _, err := unix.Pwrite(f, buf, i*ramdisk.PageSize); err != nil {
			return 0, err
		}
	}
	if err := d.Log(false); err != nil {
		return 0, err
	}
	h, err := c.Hello()
	if err == nil && h.Lost > 0 {
		err = errors.New("the log is too small for the writes")
	}
	return h.LogUsed, err
}
