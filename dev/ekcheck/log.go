package main

import (
	"errors"
	"fmt"
	"os"

	"fsward/dev/guestcheck"
	"fsward/explore/ekm"
	"fsward/explore/ramdisk"
)

// readLog enables the log of the module, calls do, and calls see for each record. It fails if the
// log has lost records or probes have missed hits.
func readLog(c *ekm.Control, what ekm.What, do func() error, see func(r *ekm.Record) error) error {
	log := guestcheck.Log[*ekm.Record]{
		Open: ekm.OpenLog,
		Next: func(f *os.File) func() (*ekm.Record, error) { return ekm.NewReader(f).Next },
		Mark: c.Mark,
		IsMark: func(r *ekm.Record, text string) bool {
			return r.Type == ekm.Mark && string(r.Data) == text
		},
	}
	err := log.During(func() error {
		if err := c.Log(what); err != nil {
			return err
		}
		return errors.Join(do(), c.Log(0))
	}, func(r *ekm.Record) error {
		if r.Type == ekm.Lost {
			return fmt.Errorf("the log lost %d records", r.Len)
		}
		return see(r)
	})
	h, e := c.Hello()
	if e == nil && h.Missed != 0 {
		e = fmt.Errorf("probes missed %d hits", h.Missed)
	}
	return errors.Join(err, e)
}

// readDiskLog enables the log of a disk's bios, calls do, and calls see for each record. It fails
// if the log has lost records.
func readDiskLog(rd *ramdisk.Control, d *ramdisk.Disk, do func() error,
	see func(r *ramdisk.Record) error) error {
	return guestcheck.DiskLog(rd).During(func() error {
		if err := d.Log(true); err != nil {
			return err
		}
		return errors.Join(do(), d.Log(false))
	}, func(r *ramdisk.Record) error {
		if r.Type == ramdisk.Lost {
			return fmt.Errorf("the log of bios lost %d records", r.Len)
		}
		return see(r)
	})
}
