package main

import (
	"errors"
	"fmt"

	"fsward/dev/guestcheck"
	"fsward/explore/ekm"
)

// checkOverflow checks that a full log has a record with the number of lost records in their place.
func checkOverflow(c *ekm.Control) error {
	if err := c.Log(0); err != nil {
		return err
	}
	const marks = 12000 // of 112 bytes each; the log of 1 MiB holds fewer
	for range marks {
		if err := c.Mark("x"); err != nil {
			return err
		}
	}
	h, err := c.Hello()
	if err != nil {
		return err
	}
	if h.LogBytes != 1<<20 || h.LogUsed > h.LogBytes || h.Lost == 0 || h.Lost >= marks {
		return fmt.Errorf("after %d marks: %+v", marks, h)
	}
	f, err := ekm.OpenLog()
	if err != nil {
		return err
	}
	defer f.Close()
	r := ekm.NewReader(f)
	kept, lost := uint64(0), uint64(0)
	for kept+lost < marks {
		rec, err := r.Next() // fails if a sequence number is missing
		if err != nil {
			return err
		}
		if rec.Type == ekm.Lost {
			lost += rec.Len
		} else {
			kept++
		}
	}
	if lost != h.Lost || kept+lost != marks {
		return fmt.Errorf("of %d records %d are kept and %d lost; the module counts %d as lost",
			marks, kept, lost, h.Lost)
	}
	if err := c.Mark("after"); err != nil {
		return err
	}
	if rec, err := r.Next(); err != nil || string(rec.Data) != "after" {
		return errors.Join(errors.New("the record after the gap is missing"), err)
	}
	guestcheck.Fact("overflow", "%d of %d records lost, and reported", lost, marks)
	return nil
}
