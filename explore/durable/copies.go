package durable

import (
	"github.com/cespare/xxhash/v2"

	"fsward/explore/crash"
	"fsward/interp"
)

// copyUnit is the unit of comparison of contents, in bytes: the smallest block of a file system
// that keeps copies in a journal.
const copyUnit = 1024

// copies knows the contents of writes by their hashes. The zero value is ready.
type copies struct {
	waiting map[uint64][]unit // by ID: the units of a write that is not durable
	durable map[unit]struct{}
}

// A unit is identified by its hash and by the disk that it was written to: a copy on one mirror
// does not make another mirror durable.
type unit struct {
	disk int
	hash uint64
}

// issued keeps the hashes of a write. A write of zeros and a write of part of a unit have no copy.
func (c *copies) issued(w *crash.Write) error {
	if len(w.Data) == 0 || len(w.Data)%copyUnit != 0 {
		return nil
	}
	if c.waiting == nil {
		c.waiting, c.durable = make(map[uint64][]unit), make(map[unit]struct{})
	}
	if len(c.durable) >= maxOpen {
		return &crash.LimitError{What: "durable KiB", Limit: maxOpen}
	}
	disk, _ := interp.Locate(w.Off)
	units := make([]unit, 0, len(w.Data)/copyUnit)
	for at := 0; at < len(w.Data); at += copyUnit {
		units = append(units, unit{disk, xxhash.Sum64(w.Data[at : at+copyUnit])})
	}
	c.waiting[w.ID] = units
	return nil
}

// settled records that a write is durable.
func (c *copies) settled(id uint64) {
	for _, u := range c.waiting[id] {
		c.durable[u] = struct{}{}
	}
	delete(c.waiting, id)
}

// have reports whether the whole contents of a write are durable elsewhere.
func (c *copies) have(id uint64) bool {
	units := c.waiting[id]
	for _, u := range units {
		if _, is := c.durable[u]; !is {
			return false
		}
	}
	return len(units) > 0
}
