package main

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"fsward/dev/guestcheck"
	"fsward/explore/ramdisk"
)

// checkRate measures how fast a log is read out: the bytes alone, which is what a log that is mapped would save, and taken apart.
func checkRate(c *ramdisk.Control) error {
	const writes = 6000 // of a page each: some 25 of 32 MiB
	d, err := c.Make(0, 32<<20)
	if err != nil {
		return err
	}
	f, err := direct(d)
	if err != nil {
		return err
	}
	defer unix.Close(f)
	buf := alignedPage()
	fillLog := func() (bytes uint64, err error) {
		if err := d.Log(true); err != nil {
			return 0, err
		}
		for i := range int64(writes) {
			if _, err := unix.Pwrite(f, buf, i*ramdisk.PageSize); err != nil {
				return 0, err
			}
		}
		if err := d.Log(false); err != nil {
			return 0, err
		}
		h, err := c.Hello()
		if err == nil && h.Lost > 0 {
			err = errors.New("the log is too small for what is measured")
		}
		return h.LogUsed, err
	}
	log, err := ramdisk.OpenLog()
	if err != nil {
		return err
	}
	defer log.Close()
	mbs := func(bytes uint64, took time.Duration) float64 { return float64(bytes) / 1e6 / took.Seconds() }

	bytes, err := fillLog()
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

	if bytes, err = fillLog(); err != nil {
		return err
	}
	r := ramdisk.NewReader(log)
	begin = time.Now()
	for range 2 * writes {
		if _, err := r.Next(); err != nil {
			return err
		}
	}
	records := time.Since(begin)

	guestcheck.Fact("rate", "%d records, %d bytes: read at %.0f MB/s; as records at %.0f MB/s, %.0f records/s",
		2*writes, bytes, mbs(bytes, raw), mbs(bytes, records), 2*writes/records.Seconds())
	return nil
}
