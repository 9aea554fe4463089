package durable

import (
	"github.com/cespare/xxhash/v2"

	"fsward/explore/crash"
)

// copyUnit is what contents are compared by, in bytes: the smallest block of a file system that keeps copies in a journal.
const copyUnit = 1024

// copies knows the contents of writes by their hashes. The zero value is ready.
type copies struct {
	waiting map[uint64][]uint64 // by ID: hashes of the units of a write that is not durable
	durable map[uint64]struct{} // hashes of what is
}

// issued keeps what a write has. One of zeros, and one of parts of units, has no copy.
func (c *copies) issued(w *crash.Write) error {
	if len(w.Data) == 0 || len(w.Data)%copyUnit != 0 {
		return nil
	}
	if c.waiting == nil {
		c.waiting, c.durable = make(map[uint64][]uint64), make(map[uint64]struct{})
	}
	if len(c.durable) >= maxOpen {
		return &crash.LimitError{What: "durable KiB", Limit: maxOpen}
	}
	hashes := make([]uint64, 0, len(w.Data)/copyUnit)
	for at := 0; at < len(w.Data); at += copyUnit {
		hashes = append(hashes, xxhash.Sum64(w.Data[at:at+copyUnit]))
	}
	c.waiting[w.ID] = hashes
	return nil
}

// settled notes that a write is durable.
func (c *copies) settled(id uint64) {
	for _, h := range c.waiting[id] {
		c.durable[h] = struct{}{}
	}
	delete(c.waiting, id)
}

// have tells whether all that a write has is durable elsewhere.
func (c *copies) have(id uint64) bool {
	hashes := c.waiting[id]
	for _, h := range hashes {
		if _, is := c.durable[h]; !is {
			return false
		}
	}
	return len(hashes) > 0
}
