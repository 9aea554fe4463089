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

// ReadBios yields the records of a log.
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

// FromBios takes the records of some RAM disks, which crash together: disk i is disks[i], and the base is Join of theirs. A write can be on the disk from the moment that its bio is submitted; it is durable
// when it completes with FUA, and else when a flush ends that began after it completed. A write with a flush before it
// can be on the disk only with all that this makes durable. The number of the bio is its write's ID.
func FromBios(records iter.Seq2[*ramdisk.Record, error], disks ...uint32) Events {
	return func(yield func(Event, error) bool) {
		b := bios{disks: disks, flying: make(map[uint64]*bio), written: make(map[uint32][]uint64)}
		at := uint64(0)
		tell := func() bool {
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
			if !tell() {
				return
			}
		}
		b.end()
		tell()
	}
}

// bios follows the bios of a disk.
type bios struct {
	disks   []uint32
	flying  map[uint64]*bio     // that have not completed
	written map[uint32][]uint64 // by disk: those that have, and are not durable
	out     []Event
}

// A bio has not completed.
type bio struct {
	disk  uint32
	flags ramdisk.Flags
	write *Write   // nil: it changes nothing
	cover []uint64 // of a flush: what it makes durable
}

// maxFlying bounds the bios that were submitted and not completed, and those that have and are not durable.
const maxFlying = 1 << 20

func (b *bios) add(r *ramdisk.Record) error {
	switch {
	case r.Type == ramdisk.Lost:
		return fmt.Errorf("bio log: record %d: %d were lost, since the log was full: %w", r.Seq, r.Len, ramdisk.ErrNotWhole)
	case r.Type == ramdisk.Mark: // one for all disks
		b.out = append(b.out, Event{Kind: Marked, Mark: string(r.Data)})
	case !slices.Contains(b.disks, r.Disk):
	case r.Type == ramdisk.Submit:
		return b.submit(r)
	case r.Type == ramdisk.Complete:
		f := b.flying[r.ID]
		if f == nil {
			return fmt.Errorf("bio log: record %d: bio %d was never submitted: %w", r.Seq, r.ID, ramdisk.ErrNotWhole)
		}
		delete(b.flying, r.ID)
		b.complete(f, r)
	case r.Type == ramdisk.Restore, r.Type == ramdisk.Patch:
		return fmt.Errorf("bio log: record %d: %s of disk %d: %w", r.Seq, r.Type, r.Disk, ramdisk.ErrNotWhole)
	}
	return nil
}

func (b *bios) submit(r *ramdisk.Record) error {
	if b.flying[r.ID] != nil {
		return fmt.Errorf("bio log: record %d: bio %d was submitted before", r.Seq, r.ID)
	}
	if len(b.flying)+len(b.written[r.Disk]) >= maxFlying {
		return &LimitError{"bios in flight", maxFlying}
	}
	f := &bio{disk: r.Disk, flags: r.Flags}
	b.flying[r.ID] = f
	if r.Op != ramdisk.Read && r.Len > 0 {
		f.write = &Write{ID: r.ID, Off: interp.Address(slices.Index(b.disks, r.Disk), r.Sector*ramdisk.SectorSize), Len: r.Len}
		if r.Op == ramdisk.Write {
			f.write.Data = bytes.Clone(r.Data)
		}
	}
	if f.flags&ramdisk.Preflush != 0 {
		f.cover = slices.Clone(b.written[f.disk])
	} else if f.write != nil {
		b.out = append(b.out, Event{Kind: Issued, Write: *f.write})
	}
	return nil
}

func (b *bios) complete(f *bio, r *ramdisk.Record) {
	failed := r.Status != 0 && r.Done == 0
	if f.flags&ramdisk.Preflush != 0 {
		if !failed && !r.Injected.Has(ramdisk.DropFlush) {
			b.flushed(f)
		}
		if f.write != nil && !failed { // only now is it known that the flush before it was done
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
		b.written[f.disk] = append(b.written[f.disk], id[0])
	}
}

// end takes the bios that never completed: those that wait for the flush before them can have got past it.
func (b *bios) end() {
	var ids []uint64
	for id, f := range b.flying {
		if f.flags&ramdisk.Preflush != 0 && f.write != nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		f := b.flying[id]
		b.flushed(f)
		b.out = append(b.out, Event{Kind: Issued, Write: *f.write})
	}
}

// flushed makes durable what a flush covers.
func (b *bios) flushed(f *bio) {
	if len(f.cover) == 0 {
		return
	}
	covered := make(map[uint64]bool, len(f.cover))
	for _, id := range f.cover {
		covered[id] = true
	}
	b.written[f.disk] = slices.DeleteFunc(b.written[f.disk], func(id uint64) bool { return covered[id] })
	b.out = append(b.out, Event{Kind: Settled, IDs: f.cover})
}
