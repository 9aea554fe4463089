package crash

import (
	"bytes"
	"cmp"
	"iter"
	"math"
	"slices"
	"time"

	"fsward/explore/ramdisk"
	"fsward/interp"
)

// A Block is what a block of a RAM disk held in the kernel's memory when it was marked dirty.
type Block struct {
	Time time.Duration // of the clock that the records of the disks have
	Disk uint32
	Off  uint64 // bytes
	Data []byte
}

// dirtyIDs tells the IDs of blocks from those of bios, which are counted from 1.
const dirtyIDs = 1 << 63

// FromWriteSet is FromBios with the blocks that the kernel had marked dirty meanwhile, in the order of time: EXPLODE's write set. Each is a version of
// its own, which may be on the disk from that moment on. What is told of its being cleaned again, or forgotten, takes nothing from that: it may have been written before.
func FromWriteSet(records iter.Seq2[*ramdisk.Record, error], blocks []Block, disks ...uint32) Events {
	return func(yield func(Event, error) bool) {
		at, next := uint64(0), 0
		// until yields the blocks that were dirtied before a moment.
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
				if err == nil && !until(func(b *Block) bool { return b.Time < rec.Time }) {
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

// event is that of a block; ok is false of one that is on none of the disks. Where delayed allocation has given it no place yet, it is at an address that no
// disk has.
func (b *Block) event(number uint64, disks []uint32) (ev Event, ok bool) {
	i := slices.Index(disks, b.Disk)
	if i < 0 || b.Off >= ramdisk.MaxBytes {
		return ev, false
	}
	return Event{Kind: Dirtied, Write: Write{ID: dirtyIDs | number, Off: interp.Address(i, b.Off), Len: uint64(len(b.Data)), Data: b.Data}}, true
}

// issued tells whether a unit was issued: then it can become durable.
func (u *unit) issued() bool { return !u.dirty || u.of != 0 }

// write is the write that has issued a unit.
func (u *unit) write() uint64 {
	if u.dirty {
		return u.of
	}
	return u.id
}

// dirty takes a block that the kernel may write from now on. What was dirty with the same contents is the same.
func (e *Enumerator) dirty(w Write) error {
	if err := e.checkWrite(w); err != nil || w.Len == 0 {
		return err
	}
	units := slices.DeleteFunc(cut(w, e.options.Unit), func(u *unit) bool {
		last := e.lastAt(u.spans[0])
		return last != nil && last.dirty && last.is(u.spans[0])
	})
	for _, u := range units {
		u.dirty = true
	}
	return e.enter(units)
}

// lastAt returns the last unit in flight that touches a span.
func (e *Enumerator) lastAt(s span) *unit {
	for _, u := range slices.Backward(e.flight) {
		if u.touches(s.off, s.len) {
			return u
		}
	}
	return nil
}

// is tells whether a unit writes what a span does, and nothing else.
func (u *unit) is(s span) bool {
	return len(u.spans) == 1 && u.spans[0].off == s.off && u.spans[0].len == s.len && bytes.Equal(u.spans[0].data, s.data)
}

// take has a write that was issued be the dirty blocks that it is made of, if it is: they are versions with the same contents, and not two.
// Where there is more in it, it is a version of its own, since it may be that a write is on the disk as a whole alone.
func (e *Enumerator) take(w Write) bool {
	if w.Data == nil {
		return false
	}
	var parts []*unit
	all, covered := span{w.Off, w.Len, w.Data}, uint64(0)
	for _, u := range slices.Backward(e.flight) {
		if covered == w.Len {
			break
		}
		if !u.touches(w.Off, w.Len) {
			continue
		}
		// What of it no later unit hides, where the write is.
		last := &unit{spans: u.spans}
		last.without(0, w.Off)
		last.without(w.Off+w.Len, math.MaxUint64-w.Off-w.Len)
		for _, p := range parts {
			last.without(p.spans[0].off, p.spans[0].len)
		}
		if len(last.spans) == 0 {
			continue
		}
		s := last.spans[0]
		if !u.dirty || u.of != 0 || !u.is(all.sub(s.off, s.off+s.len)) {
			return false
		}
		parts, covered = append(parts, u), covered+s.len
	}
	if covered < w.Len {
		return false
	}
	for _, u := range parts {
		u.of, u.off = w.ID, w.Off
	}
	return true
}

// giveBack has dirty blocks that writes which failed were made of be no more than dirty. What was done of a write is a unit of its own, or
// several where writes are cut, in its place: behind the last of its blocks.
func (e *Enumerator) giveBack(ev Event) {
	for _, id := range ev.IDs {
		var spans []span
		last := -1
		for i, u := range e.flight {
			if u.of != id || id == 0 {
				continue
			}
			u.of, last = 0, i
			of := &unit{spans: u.spans}
			of.without(u.off+ev.Done, math.MaxUint64-u.off-ev.Done)
			spans = append(spans, of.spans...)
		}
		if len(spans) == 0 {
			continue
		}
		slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.off, b.off) })
		var done []*unit
		for i, s := range spans {
			if size := e.options.Unit; i == 0 || size > 0 && s.off/size != spans[i-1].off/size {
				done = append(done, &unit{id: id, off: e.flight[last].off, seq: e.flight[last].seq, fresh: true, steps: 1})
			}
			part := done[len(done)-1]
			part.spans = append(part.spans, s)
		}
		e.flight = slices.Insert(e.flight, last+1, done...)
	}
}

// without takes a unit from a state, and the versions that its blocks were dirtied with after it, which would hide that it is missing.
func (e *Enumerator) without(k int, levels []uint32) {
	levels[k] = 0
	for j := k + 1; j < len(levels); j++ {
		u := e.flight[j]
		if u.dirty && slices.ContainsFunc(e.flight[k].spans, func(s span) bool { return u.touches(s.off, s.len) }) {
			levels[j] = 0
		}
	}
}
