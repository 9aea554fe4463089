package ramdisk

import (
	"errors"
	"fmt"

	"fsward/blocktap"
	"fsward/blocktap/trace"
)

// ErrIncomplete means that a log lacks changes of a disk: records were lost, or Restore or SetPage
// changed the contents without a bio.
var ErrIncomplete = errors.New("the log does not have all changes")

// ErrFull means that records were lost since the log was full. It is an ErrIncomplete.
var ErrFull = fmt.Errorf("the log was full: %w", ErrIncomplete)

// maxInFlight bounds the bios in flight. Rules delay few bios, and a guard delays at most what a
// kernel submits at once.
const maxInFlight = 1 << 16

// Converter writes a dm-log-writes log of what reached each disk: the part of each write that took
// effect, in the order of completion, and each flush that was done. Reads and failed bios leave no
// entry. A Converter is for one goroutine.
type Converter struct {
	logs     map[uint32]*trace.Writer
	inFlight map[uint64]bio
}

// A bio was submitted and has not completed.
type bio struct {
	rec  Record
	data []byte
}

// NewConverter returns a Converter that writes to logs, by the number of the disk. It ignores
// records of other disks. For several disks the caller must call trace.Together before.
func NewConverter(logs map[uint32]*trace.Writer) *Converter {
	return &Converter{logs: logs, inFlight: make(map[uint64]bio)}
}

// Add takes the next record. An error is final. If it wraps ErrIncomplete, the logs are right as
// far as they go.
func (c *Converter) Add(r *Record) error {
	if r.Type == Lost {
		return fmt.Errorf("bio log: record %d: %d records were lost: %w",
			r.Seq, r.Len, ErrFull)
	}
	if r.Type == Mark { // a mark belongs to all disks
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
		return fmt.Errorf("bio log: record %d: %s of disk %d: %w",
			r.Seq, r.Type, r.Disk, ErrIncomplete)
	}
	return nil
}

func (c *Converter) submit(r *Record) error {
	if _, twice := c.inFlight[r.ID]; twice {
		return fmt.Errorf("bio log: record %d: bio %d was already submitted", r.Seq, r.ID)
	}
	if len(c.inFlight) >= maxInFlight {
		return fmt.Errorf("bio log: record %d: more than %d bios are in flight", r.Seq, maxInFlight)
	}
	b := bio{rec: *r}
	b.data = append(b.data, r.Data...)
	b.rec.Data = nil
	c.inFlight[r.ID] = b
	return nil
}

func (c *Converter) complete(w *trace.Writer, r *Record) error {
	b, ok := c.inFlight[r.ID]
	if !ok {
		return fmt.Errorf("bio log: record %d: bio %d was never submitted: %w",
			r.Seq, r.ID, ErrIncomplete)
	}
	delete(c.inFlight, r.ID)
	s := &b.rec
	if r.Done > s.Len || r.Disk != s.Disk || r.Op != s.Op {
		return fmt.Errorf("bio log: record %d does not match the submission of bio %d in record %d",
			r.Seq, r.ID, s.Seq)
	}
	s.Data, s.Done, s.Status, s.Injected = b.data, r.Done, r.Status, r.Injected
	for _, q := range s.Requests() {
		if err := w.Log(&q); err != nil {
			return err
		}
	}
	return nil
}

// Requests returns what the disk did for a bio, according to Done, Status and Injected: a flush, a
// change, or a flush and then a change. The requests share the record's Data. The Data of a write
// must have at least Done bytes.
func (r *Record) Requests() (out []blocktap.Request) {
	failed := r.Status != 0 && r.Done == 0
	if r.Flags&Preflush != 0 && !failed && !r.Injected.Has(DropFlush) {
		out = append(out, blocktap.Request{Op: blocktap.OpFlush})
	}
	q := blocktap.Request{
		Off:  r.Sector * SectorSize,
		Len:  r.Done,
		FUA:  r.Flags&FUA != 0 && r.Done == r.Len, // no part of a partial write is durable
		Meta: r.Flags&Meta != 0,
	}
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
func (c *Converter) Held() int { return len(c.inFlight) }
