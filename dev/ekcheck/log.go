package main

import (
	"errors"
	"fmt"
	"os"

	"fsward/dev/guestcheck"
	"fsward/explore/ekm"
	"fsward/explore/ramdisk"
)

// logged has the module log while do runs, and gives each record to see.
func logged(c *ekm.Control, what ekm.What, do func() error, see func(r *ekm.Record) error) error {
	log := guestcheck.Log[*ekm.Record]{
		Open:   ekm.OpenLog,
		Next:   func(f *os.File) func() (*ekm.Record, error) { return ekm.NewReader(f).Next },
		Mark:   c.Mark,
		IsMark: func(r *ekm.Record, text string) bool { return r.Type == ekm.Mark && string(r.Data) == text },
	}
	err := log.During(func() error {
		if err := c.Log(what); err != nil {
			return err
		}
		return errors.Join(do(), c.Log(0))
	}, func(r *ekm.Record) error {
		if r.Type == ekm.Lost {
			return fmt.Errorf("%d records are lost", r.Len)
		}
		return see(r)
	})
	h, e := c.Hello()
	if e == nil && h.Missed != 0 {
		e = fmt.Errorf("probes missed %d hits", h.Missed)
	}
	return errors.Join(err, e)
}

// diskLogged has the disk log its bios while do runs, and gives each record to see.
func diskLogged(rd *ramdisk.Control, d *ramdisk.Disk, do func() error, see func(r *ramdisk.Record) error) error {
	return guestcheck.DiskLog(rd).During(func() error {
		if err := d.Log(true); err != nil {
			return err
		}
		return errors.Join(do(), d.Log(false))
	}, func(r *ramdisk.Record) error {
		if r.Type == ramdisk.Lost {
			return fmt.Errorf("%d records of bios are lost", r.Len)
		}
		return see(r)
	})
}
