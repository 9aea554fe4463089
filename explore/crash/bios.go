package crash

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"fsward/explore/ramdisk"
	"fsward/interp"
)

// ReadBios yields the records of a log. It ends with the first error; the end of the log is none.
func ReadBios(r *ramdisk.Reader) iter.Seq2[*ramdisk.Record, error] {
	return func(yield func(*ramdisk.Record, error) bool) {
		for {
			rec, err := r.Next()
			if errors.Is(err, io.EOF) || !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// FromBios converts the records of RAM disks that crash together. The RAM disk with number disks[i]
// becomes disk i of the base, which Join makes. The number of a bio is the ID of its write.
//
// A write can be on the disk from the moment at which its bio is submitted. It is durable when it
// completes with FUA. Without FUA it is durable when a flush completes that began after the write
// had completed. A write with a preflush can be on the disk only together with all writes that the
// preflush makes durable.
func FromBios(records iter.Seq2[*ramdisk.Record, error], disks ...uint32) Events {
	return func(yield func(Event, error) bool) {
		b := bioConverter{
			disks:     disks,
			inFlight:  make(map[uint64]*bio),
			completed: make(map[uint32][]uint64),
		}
		at := uint64(0)
		emit := func() bool {
			for _, ev := range b.out {
				ev.At = at
				if !yield(ev, nil) {
					return false
				}
			}
			b.out = b.out[:0]
			return true
		}
		for rec, err := range records {
			if err == nil {
				at, err = rec.Seq, b.add(rec)
			}
			if err != nil {
				yield(Event{}, err)
				return
			}
			if !emit() {
				return
			}
		}
		b.end()
		emit()
	}
}

// A bioConverter makes events of the records of RAM disks.
type bioConverter struct {
	disks     []uint32
	inFlight  map[uint64]*bio     // submitted, and not completed
	completed map[uint32][]uint64 // by disk: writes that completed and are not durable
	out       []Event
}

// A bio is in flight.
type bio struct {
	disk    uint32
	flags   ramdisk.Flags
	write   *Write   // nil: the bio changes nothing
	covered []uint64 // the writes that its preflush makes durable
}

// maxInFlight bounds the bios in flight and the completed writes of one disk that are not durable.
const maxInFlight = 1 << 20

func (b *bioConverter) add(r *ramdisk.Record) error {
	switch {
	case r.Type == ramdisk.Lost:
		return fmt.Errorf("bio log: record %d: %d records were lost: %w",
			r.Seq, r.Len, ramdisk.ErrFull)
	case r.Type == ramdisk.Mark: // a mark belongs to all disks
		b.out = append(b.out, Event{Kind: Marked, Mark: string(r.Data)})
	case !slices.Contains(b.disks, r.Disk):
	case r.Type == ramdisk.Submit:
		return b.submit(r)
	case r.Type == ramdisk.Complete:
		f := b.inFlight[r.ID]
		if f == nil {
			return fmt.Errorf("bio log: record %d: bio %d was never submitted: %w",
				r.Seq, r.ID, ramdisk.ErrIncomplete)
		}
		delete(b.inFlight, r.ID)
		b.complete(f, r)
	case r.Type == ramdisk.Restore, r.Type == ramdisk.Patch:
		return fmt.Errorf("bio log: record %d: %s of disk %d: %w",
			r.Seq, r.Type, r.Disk, ramdisk.ErrIncomplete)
	}
	return nil
}

func (b *bioConverter) submit(r *ramdisk.Record) error {
	if b.inFlight[r.ID] != nil {
		return fmt.Errorf("bio log: record %d: bio %d was already submitted", r.Seq, r.ID)
	}
	if len(b.inFlight)+len(b.completed[r.Disk]) >= maxInFlight {
		return &LimitError{"bios in flight", maxInFlight}
	}
	f := &bio{disk: r.Disk, flags: r.Flags}
	b.inFlight[r.ID] = f
	if r.Op != ramdisk.Read && r.Len > 0 {
		disk := slices.Index(b.disks, r.Disk)
		f.write = &Write{
			ID:  r.ID,
			Off: interp.Address(disk, r.Sector*ramdisk.SectorSize),
			Len: r.Len,
		}
		if r.Op == ramdisk.Write {
			f.write.Data = bytes.Clone(r.Data)
		}
	}
	if f.flags&ramdisk.Preflush != 0 {
		f.covered = slices.Clone(b.completed[f.disk])
	} else if f.write != nil {
		b.out = append(b.out, Event{Kind: Issued, Write: *f.write})
	}
	return nil
}

func (b *bioConverter) complete(f *bio, r *ramdisk.Record) {
	failed := r.Status != 0 && r.Done == 0
	if f.flags&ramdisk.Preflush != 0 {
		if !failed && !r.Injected.Has(ramdisk.DropFlush) {
			b.settleCovered(f)
		}
		// The write is issued only now: before, its preflush may not have been done.
		if f.write != nil && !failed {
			b.out = append(b.out, Event{Kind: Issued, Write: *f.write})
		}
	}
	if f.write == nil || failed && f.flags&ramdisk.Preflush != 0 {
		return
	}
	id := []uint64{f.write.ID}
	if r.Done < f.write.Len {
		b.out = append(b.out, Event{Kind: Failed, IDs: id, Done: r.Done, Silent: r.Status == 0})
	}
	switch {
	case r.Done == f.write.Len && f.flags&ramdisk.FUA != 0:
		b.out = append(b.out, Event{Kind: Settled, IDs: id})
	case r.Done > 0:
		b.completed[f.disk] = append(b.completed[f.disk], id[0])
	}
}

// end issues the writes whose preflush had not completed when the log ended. The disk may have done
// the preflush without a record of it.
func (b *bioConverter) end() {
	var ids []uint64
	for id, f := range b.inFlight {
		if f.flags&ramdisk.Preflush != 0 && f.write != nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		f := b.inFlight[id]
		b.settleCovered(f)
		b.out = append(b.out, Event{Kind: Issued, Write: *f.write})
	}
}

// settleCovered makes the writes durable that the preflush of f covers.
func (b *bioConverter) settleCovered(f *bio) {
	if len(f.covered) == 0 {
		return
	}
	covered := make(map[uint64]bool, len(f.covered))
	for _, id := range f.covered {
		covered[id] = true
	}
	isCovered := func(id uint64) bool { return covered[id] }
	b.completed[f.disk] = slices.DeleteFunc(b.completed[f.disk], isCovered)
	b.out = append(b.out, Event{Kind: Settled, IDs: f.covered})
}
