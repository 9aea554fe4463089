package main

import (
	"errors"
	"fmt"

	"fsward/explore/ekm"
	"fsward/explore/ramdisk"
)

// endMark is the last record of a log that a check reads.
const endMark = "ekcheck end"

// logged has the module log while do runs, and gives each record to see.
func logged(c *ekm.Control, what ekm.What, do func() error, see func(r *ekm.Record) error) error {
	f, err := ekm.OpenLog()
	if err != nil {
		return err
	}
	defer f.Close()
	if err := c.Log(what); err != nil {
		return err
	}
	read := make(chan error, 1)
	go func() {
		r := ekm.NewReader(f)
		var seen error // the log is read on, lest it be full
		for {
			rec, err := r.Next()
			if err != nil {
				read <- err
				return
			}
			if rec.Type == ekm.Mark && string(rec.Data) == endMark {
				read <- seen
				return
			}
			if seen == nil && rec.Type == ekm.Lost {
				seen = fmt.Errorf("%d records are lost", rec.Len)
			}
			if seen == nil {
				seen = see(rec)
			}
		}
	}()
	err = do()
	err = errors.Join(err, c.Log(0), c.Mark(endMark), <-read)
	h, e := c.Hello()
	if e == nil && h.Missed != 0 {
		e = fmt.Errorf("probes missed %d hits", h.Missed)
	}
	return errors.Join(err, e)
}

// diskLogged has the disk log its bios while do runs, and gives each record to see.
func diskLogged(rd *ramdisk.Control, d *ramdisk.Disk, do func() error, see func(r *ramdisk.Record) error) error {
	f, err := ramdisk.OpenLog()
	if err != nil {
		return err
	}
	defer f.Close()
	if err := d.Log(true); err != nil {
		return err
	}
	read := make(chan error, 1)
	go func() {
		r := ramdisk.NewReader(f)
		var seen error
		for {
			rec, err := r.Next()
			if err != nil {
				read <- err
				return
			}
			if rec.Type == ramdisk.Mark && string(rec.Data) == endMark {
				read <- seen
				return
			}
			if seen == nil && rec.Type == ramdisk.Lost {
				seen = fmt.Errorf("%d records of bios are lost", rec.Len)
			}
			if seen == nil {
				seen = see(rec)
			}
		}
	}()
	err = do()
	return errors.Join(err, d.Log(false), rd.Mark(endMark), <-read)
}
