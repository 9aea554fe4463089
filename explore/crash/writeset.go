package crash

import (
	"bytes"
	"cmp"
	"iter"
	"math"
	"slices"

	"fsward/explore/ramdisk"
	"fsward/interp"
)

// A Block is the content that a block of a RAM disk had in the kernel's memory when it was marked
// dirty.
type Block struct {
	After uint64 // number of the last record of the disks before it
	Disk  uint32
	Off   uint64 // bytes
	Data  []byte
}

// dirtyIDs is set in the IDs of dirty blocks. The IDs of bios count from 1.
const dirtyIDs = 1 << 63

// FromWriteSet is FromBios with the blocks that the kernel marked dirty, each behind the record
// that it came after: the write set of EXPLODE. Each block is a version that may be on the disk
// from that moment on. A block that is cleaned or forgotten later does not withdraw its version,
// because the kernel may have written it before.
func FromWriteSet(
	records iter.Seq2[*ramdisk.Record, error], blocks []Block, disks ...uint32,
) Events {
	return func(yield func(Event, error) bool) {
		at, next := uint64(0), 0
		// until yields the next blocks, as long as before holds for them.
		until := func(before func(b *Block) bool) bool {
			for ; next < len(blocks) && before(&blocks[next]); next++ {
				ev, ok := blocks[next].event(uint64(next), disks)
				if ev.At = at; ok && !yield(ev, nil) {
					return false
				}
			}
			return true
		}
		stopped := false
		timed := func(yieldRecord func(*ramdisk.Record, error) bool) {
			for rec, err := range records {
				if err == nil && !until(func(b *Block) bool { return b.After < rec.Seq }) {
					stopped = true
					return
				}
				if err == nil {
					at = rec.Seq
				}
				if !yieldRecord(rec, err) {
					return
				}
			}
		}
		for ev, err := range FromBios(timed, disks...) {
			if stopped || !yield(ev, err) || err != nil {
				return
			}
		}
		if !stopped {
			until(func(*Block) bool { return true })
		}
	}
}

// event returns the event of a block; ok is false if the block is on none of the disks. A block
// that delayed allocation has not placed yet has an address that no disk has.
func (b *Block) event(number uint64, disks []uint32) (ev Event, ok bool) {
	i := slices.Index(disks, b.Disk)
	if i < 0 || b.Off >= ramdisk.MaxBytes {
		return ev, false
	}
	w := Write{
		ID:   dirtyIDs | number,
		Off:  interp.Address(i, b.Off),
		Len:  uint64(len(b.Data)),
		Data: b.Data,
	}
	return Event{Kind: Dirtied, Write: w}, true
}

// issued reports whether a unit was issued. Only an issued unit can become durable.
func (u *unit) issued() bool { return !u.dirty || u.issuedAs != 0 }

// write returns the ID of the write that issued a unit; 0 if none has.
func (u *unit) write() uint64 {
	if u.dirty {
		return u.issuedAs
	}
	return u.id
}

// dirty enters a block that the kernel may write from now on. It ignores a part that is already
// dirty with the same contents.
func (e *Enumerator) dirty(w Write) error {
	if err := e.checkWrite(w); err != nil || w.Len == 0 {
		return err
	}
	e.dirtied = true
	units := slices.DeleteFunc(split(w, e.options.Unit), func(u *unit) bool {
		last := e.pages().lastAt(u.spans[0])
		return last != nil && last.dirty && last.equals(u.spans[0])
	})
	for _, u := range units {
		u.dirty = true
	}
	return e.enter(units)
}

// A pageIndex has the units in flight by page, in their order, and some that were in flight.
type pageIndex map[uint64][]*unit

// lastAt returns the last unit in flight that overlaps a span; nil if none does.
func (x pageIndex) lastAt(s span) (last *unit) {
	eachPage([]span{s}, func(n uint64) {
		for _, u := range slices.Backward(x[n]) {
			if last != nil && u.seq <= last.seq {
				return
			}
			if u.overlaps(s.off, s.len) {
				last = u
				return
			}
		}
	})
	return last
}

// overlapping returns the units in flight that overlap a range, in their order.
func (x pageIndex) overlapping(off, n uint64) (units []*unit) {
	eachPage([]span{{off: off, len: n}}, func(number uint64) {
		units = append(units, x[number]...)
	})
	slices.SortStableFunc(units, func(a, b *unit) int { return cmp.Compare(a.seq, b.seq) })
	return slices.DeleteFunc(slices.Compact(units), func(u *unit) bool { return !u.overlaps(off, n) })
}

// pages returns the index of the units in flight. The kernel has ten thousands of dirty blocks
// between two flushes, so that a look at all of them for each is too much. A log without dirty
// blocks needs no index.
func (e *Enumerator) pages() pageIndex {
	if e.byPage == nil {
		e.byPage = make(pageIndex)
		e.byPage.add(e.flight)
	}
	return e.byPage
}

// add adds units that are in flight, if there is an index.
func (x pageIndex) add(units []*unit) {
	if x == nil {
		return
	}
	for _, u := range units {
		eachPage(u.spans, func(n uint64) {
			if of := x[n]; len(of) == 0 || of[len(of)-1] != u {
				x[n] = append(of, u)
			}
		})
	}
}

// equals reports whether a unit writes exactly what a span does.
func (u *unit) equals(s span) bool {
	return len(u.spans) == 1 && u.spans[0].off == s.off && u.spans[0].len == s.len &&
		bytes.Equal(u.spans[0].data, s.data)
}

// matchDirty reports whether dirty blocks with the same contents make up the whole of a write that
// was issued. It then marks these units as issued by the write, so that the contents are one
// version and not two. A write that contains more is a version of its own, because it may reach the
// disk only as a whole.
func (e *Enumerator) matchDirty(w Write) bool {
	if w.Data == nil || !e.dirtied {
		return false
	}
	var parts []*unit
	all, covered := span{w.Off, w.Len, w.Data}, uint64(0)
	for _, u := range slices.Backward(e.pages().overlapping(w.Off, w.Len)) {
		if covered == w.Len {
			break
		}
		// visible is the part of u within the write that no later unit hides.
		visible := &unit{spans: u.spans}
		visible.subtract(0, w.Off)
		visible.subtract(w.Off+w.Len, math.MaxUint64-w.Off-w.Len)
		for _, p := range parts {
			visible.subtract(p.spans[0].off, p.spans[0].len)
		}
		if len(visible.spans) == 0 {
			continue
		}
		s := visible.spans[0]
		if !u.dirty || u.issuedAs != 0 || !u.equals(all.sub(s.off, s.off+s.len)) {
			return false
		}
		parts, covered = append(parts, u), covered+s.len
	}
	if covered < w.Len {
		return false
	}
	for _, u := range parts {
		u.issuedAs, u.writeOff = w.ID, w.Off
	}
	return true
}

// unmatchDirty makes the units that matchDirty marked for a failed write dirty and unissued again.
// The part of the write that was done becomes a unit of its own behind the last of them, or several
// units if writes are divided.
func (e *Enumerator) unmatchDirty(ev Event) {
	for _, id := range ev.IDs {
		var spans []span
		last := -1
		for i, u := range e.flight {
			if u.issuedAs != id || id == 0 {
				continue
			}
			u.issuedAs, last = 0, i
			part := &unit{spans: u.spans}
			part.subtract(u.writeOff+ev.Done, math.MaxUint64-u.writeOff-ev.Done)
			spans = append(spans, part.spans...)
		}
		if len(spans) == 0 {
			continue
		}
		slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.off, b.off) })
		var done []*unit
		for i, s := range spans {
			size := e.options.Unit
			if i == 0 || size > 0 && s.off/size != spans[i-1].off/size {
				off, seq := e.flight[last].writeOff, e.flight[last].seq
				done = append(done, &unit{id: id, writeOff: off, seq: seq, fresh: true, steps: 1})
			}
			part := done[len(done)-1]
			part.spans = append(part.spans, s)
		}
		e.flight = slices.Insert(e.flight, last+1, done...)
	}
}
