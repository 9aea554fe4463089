package main

import (
	"errors"
	"fmt"

	"fsward/dev/guestcheck"
	"fsward/explore/ekm"
	"fsward/explore/ramdisk"
)

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
	end := func(r *ekm.Record) bool { return r.Type == ekm.Mark && string(r.Data) == guestcheck.EndMark }
	read := guestcheck.Read(ekm.NewReader(f).Next, end, func(r *ekm.Record) error {
		if r.Type == ekm.Lost {
			return fmt.Errorf("%d records are lost", r.Len)
		}
		return see(r)
	})
	err = do()
	err = errors.Join(err, c.Log(0), c.Mark(guestcheck.EndMark), <-read)
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
	end := func(r *ramdisk.Record) bool { return r.Type == ramdisk.Mark && string(r.Data) == guestcheck.EndMark }
	read := guestcheck.Read(ramdisk.NewReader(f).Next, end, func(r *ramdisk.Record) error {
		if r.Type == ramdisk.Lost {
			return fmt.Errorf("%d records of bios are lost", r.Len)
		}
		return see(r)
	})
	err = do()
	return errors.Join(err, d.Log(false), rd.Mark(guestcheck.EndMark), <-read)
}
