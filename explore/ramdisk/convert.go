package ramdisk

import (
	"errors"
	"fmt"

	"fsward/blocktap"
	"fsward/blocktap/trace"
)

// ErrNotWhole means that a log does not have all that changed a disk: records were lost, or contents were set by other
// means than bios.
var ErrNotWhole = errors.New("the log does not have all changes")

// maxHeld bounds the bios that were submitted and not yet completed: rules delay few, and a guard holds up what a kernel has under way.
const maxHeld = 1 << 16

// Converter writes dm-log-writes logs of what the log's records say reached the disks, as they come: writes in the order in
// which they completed, as far as they took effect, and flushes that were done. Reads, and what failed, leave no trace.
// Used by one goroutine.
type Converter struct {
	logs map[uint32]*trace.Writer
	held map[uint64]held
}

// held is a bio that has not completed.
type held struct {
	rec  Record
	data []byte
}

// NewConverter writes to the log of each disk; records of others are passed over. Where there are several,
// trace.Together is called before.
func NewConverter(logs map[uint32]*trace.Writer) *Converter {
	return &Converter{logs: logs, held: make(map[uint64]held)}
}

// Add takes the next record. An error is final; ErrNotWhole says that the logs end where they would begin to be wrong.
func (c *Converter) Add(r *Record) error {
	if r.Type == Lost {
		return fmt.Errorf("bio log: record %d: %d were lost, since the log was full: %w", r.Seq, r.Len, ErrNotWhole)
	}
	if r.Type == Mark { // one for all disks
		for _, w := range c.logs {
			if err := w.Mark(string(r.Data)); err != nil {
				return err
			}
		}
		return nil
	}
	w := c.logs[r.Disk]
	if w == nil {
		return nil
	}
	switch r.Type {
	case Submit:
		return c.submit(r)
	case Complete:
		return c.complete(w, r)
	case Restore, Patch:
		return fmt.Errorf("bio log: record %d: %s of disk %d: %w", r.Seq, r.Type, r.Disk, ErrNotWhole)
	}
	return nil
}

func (c *Converter) submit(r *Record) error {
	if _, twice := c.held[r.ID]; twice {
		return fmt.Errorf("bio log: record %d: bio %d was submitted before", r.Seq, r.ID)
	}
	if len(c.held) >= maxHeld {
		return fmt.Errorf("bio log: record %d: %d bios that have not completed", r.Seq, len(c.held))
	}
	h := held{rec: *r}
	h.data = append(h.data, r.Data...)
	h.rec.Data = nil
	c.held[r.ID] = h
	return nil
}

func (c *Converter) complete(w *trace.Writer, r *Record) error {
	h, ok := c.held[r.ID]
	if !ok {
		return fmt.Errorf("bio log: record %d: bio %d was never submitted: %w", r.Seq, r.ID, ErrNotWhole)
	}
	delete(c.held, r.ID)
	s := &h.rec
	if r.Done > s.Len || r.Disk != s.Disk || r.Op != s.Op {
		return fmt.Errorf("bio log: record %d: not of the bio %d that record %d submitted", r.Seq, r.ID, s.Seq)
	}
	s.Data, s.Done, s.Status, s.Injected = h.data, r.Done, r.Status, r.Injected
	for _, q := range s.Requests() {
		if err := w.Log(&q); err != nil {
			return err
		}
	}
	return nil
}

// Requests are what a bio has its disk do, as far as Done, Status and Injected say: a flush, a change, or one after the other. They share the
// record's Data, which is no shorter than Done if it is a write.
func (r *Record) Requests() (out []blocktap.Request) {
	failed := r.Status != 0 && r.Done == 0
	if r.Flags&Preflush != 0 && !failed && !r.Injected.Has(DropFlush) {
		out = append(out, blocktap.Request{Op: blocktap.OpFlush})
	}
	// A write that failed half-way is durable in no part.
	q := blocktap.Request{Off: r.Sector * SectorSize, Len: r.Done, FUA: r.Flags&FUA != 0 && r.Done == r.Len, Meta: r.Flags&Meta != 0}
	switch r.Op {
	case Write:
		q.Op, q.Data = blocktap.OpWrite, r.Data[:r.Done]
	case Discard:
		q.Op = blocktap.OpTrim
	case Zeroes:
		q.Op = blocktap.OpZero
	default:
		return out
	}
	return append(out, q)
}

// Held returns the number of bios that were submitted and have not completed.
func (c *Converter) Held() int { return len(c.held) }
