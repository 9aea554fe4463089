package crash

import (
	"bytes"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"fsward/explore/ramdisk"
)

// drawWriteSet makes a small random log of a kernel that marks blocks dirty and writes blocks from
// its memory, sometimes together with clean ones.
func drawWriteSet(random *rand.Rand, sectors uint64) (events []Event) {
	memory := bytes.Repeat([]byte{9}, int(sectors)*SectorSize)
	pick := func() (off, n uint64) {
		n = 1 + random.Uint64N(2)
		return random.Uint64N(sectors - n + 1), n
	}
	id := uint64(0)
	put := func(kind Kind, off, n uint64) {
		id++
		data := bytes.Clone(memory[off*SectorSize : (off+n)*SectorSize])
		w := Write{ID: id, Off: off * SectorSize, Len: n * SectorSize, Data: data}
		if kind == Dirtied {
			w.ID |= dirtyIDs
		}
		events = append(events, Event{Kind: kind, Write: w})
	}
	for range 4 + random.IntN(6) {
		switch random.IntN(12) {
		case 0:
			events = append(events, Event{Kind: Settled, All: true})
		case 1, 2:
			if id > 0 {
				events = append(events, Event{Kind: Settled, IDs: []uint64{1 + random.Uint64N(id)}})
			}
		case 3:
			events = append(events, Event{Kind: Marked, Mark: fmt.Sprint("m", len(events))})
		case 4, 5: // the last write fails, unless something was settled after it
			for _, ev := range slices.Backward(events) {
				if ev.Kind == Settled {
					break
				}
				if ev.Kind == Issued {
					events = append(events, drawFailure(random, ev.Write))
					break
				}
			}
		case 6, 7, 8: // a write, usually of the last block that was dirtied
			off, n := pick()
			for _, ev := range slices.Backward(events) {
				if ev.Kind == Dirtied && random.IntN(3) > 0 {
					off, n = ev.Write.Off/SectorSize, ev.Write.Len/SectorSize
					if random.IntN(2) == 0 && off > 0 {
						off, n = off-1, n+1
					}
					break
				}
			}
			put(Issued, off, n)
		default:
			off, n := pick()
			if random.IntN(4) > 0 {
				for s := off; s < off+n; s++ {
					copy(memory[s*SectorSize:], bytes.Repeat([]byte{byte(random.IntN(4))}, SectorSize))
				}
			}
			put(Dirtied, off, n)
		}
	}
	return events
}

// TestWriteSetVersions counts the versions in flight. A block that is dirtied again without a
// change adds none, and neither does a write that consists of dirty blocks with the same contents.
func TestWriteSetVersions(t *testing.T) {
	sectors := func(contents ...byte) (data []byte) {
		for _, b := range contents {
			data = append(data, bytes.Repeat([]byte{b}, SectorSize)...)
		}
		return data
	}
	event := func(kind Kind, id, sector uint64, contents ...byte) Event {
		data := sectors(contents...)
		w := Write{ID: id, Off: sector * SectorSize, Len: uint64(len(data)), Data: data}
		return Event{Kind: kind, Write: w}
	}
	dirty := func(number, sector uint64, contents byte) Event {
		return event(Dirtied, dirtyIDs|number, sector, contents)
	}
	issue := func(id, sector uint64, contents ...byte) Event {
		return event(Issued, id, sector, contents...)
	}
	flush := Event{Kind: Settled, All: true}
	for name, c := range map[string]struct {
		events []Event
		units  int
	}{
		"dirtied again, the same": {[]Event{dirty(0, 0, 1), dirty(1, 0, 1)}, 1},
		"dirtied again, changed":  {[]Event{dirty(0, 0, 1), dirty(1, 0, 2)}, 2},
		"written":                 {[]Event{dirty(0, 0, 1), issue(1, 0, 1)}, 1},
		"written together":        {[]Event{dirty(0, 1, 1), dirty(1, 0, 2), issue(1, 0, 2, 1)}, 2},
		"written with more":       {[]Event{dirty(0, 0, 1), issue(1, 0, 1, 1)}, 2},
		"written, hides a version": {
			[]Event{dirty(0, 1, 1), dirty(1, 0, 1), dirty(2, 0, 2), issue(1, 0, 2, 1)}, 3,
		},
		"written, changed":        {[]Event{dirty(0, 0, 1), issue(1, 0, 2)}, 2},
		"an old version, written": {[]Event{dirty(0, 0, 1), issue(1, 0, 2), issue(2, 0, 1)}, 3},
		"written and durable":     {[]Event{dirty(0, 0, 1), dirty(1, 0, 2), issue(1, 0, 2), flush}, 0},
		"dirty is not durable":    {[]Event{dirty(0, 0, 1), flush}, 1},
	} {
		e := New(diskOf(make([]byte, 4*SectorSize)), Options{})
		for _, ev := range c.events {
			if err := e.Add(ev, nil); err != nil {
				t.Fatal(err)
			}
		}
		if len(e.flight) != c.units {
			t.Errorf("%s: %d versions, want %d", name, len(e.flight), c.units)
		}
	}
}

// smallWriteSet returns a log of one write with FUA between two marks, and blocks that were marked
// dirty meanwhile.
func smallWriteSet() (iter.Seq2[*ramdisk.Record, error], []Block) {
	sector := func(b byte) []byte { return bytes.Repeat([]byte{b}, SectorSize) }
	submit := ramdisk.Record{
		Type: ramdisk.Submit, Op: ramdisk.Write, Flags: ramdisk.FUA,
		ID: 1, Disk: 3, Sector: 1, Len: SectorSize, Data: sector(1),
	}
	complete := submit
	complete.Type, complete.Done, complete.Data = ramdisk.Complete, SectorSize, nil
	records := []ramdisk.Record{
		{Type: ramdisk.Mark, Data: []byte("before")},
		submit,
		complete,
		{Type: ramdisk.Mark, Data: []byte("after")},
	}
	for i := range records {
		records[i].Seq = uint64(i + 1)
	}
	blocks := []Block{
		{After: 1, Disk: 3, Off: 0, Data: sector(2)},
		{After: 1, Disk: 4, Off: 0, Data: sector(3)},                  // another disk
		{After: 1, Disk: 3, Off: ^uint64(0) &^ 4095, Data: sector(4)}, // delayed allocation
		{After: 4, Disk: 3, Off: 2 * SectorSize, Data: sector(5)},
		{After: 4, Disk: 3, Off: 2 * SectorSize, Data: sector(6)},
	}
	return func(yield func(*ramdisk.Record, error) bool) {
		for i := range records {
			if !yield(&records[i], nil) {
				return
			}
		}
	}, blocks
}

// TestFromWriteSet merges dirty blocks with bios: blocks of other disks and blocks without a place
// are left out, the others are ordered by time, and Missing and Early are right for each state.
func TestFromWriteSet(t *testing.T) {
	log, blocks := smallWriteSet()
	got := make(map[string][2]int) // by mark and first bytes: the numbers of missing and early writes
	base := diskOf(make([]byte, 3*SectorSize))
	events := FromWriteSet(log, blocks, 3)
	_, err := Each(base, events, Options{ByMark: true}, func(s *State) error {
		b := make([]byte, s.Size())
		if _, err := s.ReadAt(b, 0); err != nil {
			return err
		}
		early := s.Early()
		for _, w := range early {
			if !bytes.Equal(b[w.Off:w.Off+w.Len], w.Data) {
				t.Errorf("state %s: an early block is not on the disk", s.ID())
			}
		}
		key := fmt.Sprint(s.Mark, " ", b[0], b[SectorSize], b[2*SectorSize])
		got[key] = [2]int{len(s.Missing()), len(early)}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][2]int{
		" 0 0 0":       {},
		"before 0 0 0": {1, 0}, "before 2 0 0": {1, 1}, "before 0 1 0": {}, "before 2 1 0": {0, 1},
		"after 0 1 0": {}, "after 2 1 0": {0, 1}, "after 0 1 5": {0, 1},
		"after 2 1 5": {0, 2}, "after 0 1 6": {0, 1}, "after 2 1 6": {0, 2},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("states with the numbers of missing and early writes:\n%v, want\n%v", got, want)
	}
	for _, err := range FromWriteSet(log, blocks, 3) {
		if err != nil {
			t.Fatal(err)
		}
		break // a consumer may stop anywhere
	}
}

// TestSampleWriteSet checks states that are sampled: for each block there is one in which all its
// versions are missing and all other blocks are there.
func TestSampleWriteSet(t *testing.T) {
	const blocks, versions = 10, 3
	var events []Event
	for i := range uint64(blocks * versions) {
		ev := write(dirtyIDs|i, i%blocks, byte(i/blocks+1))
		ev.Kind = Dirtied
		events = append(events, ev)
	}
	missing := make(map[int]bool)
	base := diskOf(make([]byte, blocks*PageSize))
	stats, err := Each(base, list(events...), Options{Limit: 80}, func(s *State) error {
		b := make([]byte, s.Size())
		if _, err := s.ReadAt(b, 0); err != nil {
			return err
		}
		last, gone := 0, -1
		for i := range blocks {
			switch b[i*PageSize] {
			case versions:
				last++
			case 0:
				gone = i
			}
		}
		if last == blocks-1 && gone >= 0 {
			missing[gone] = true
		}
		return nil
	})
	if err != nil || stats.Exhaustive() || len(missing) != blocks {
		t.Errorf("%d of %d blocks are missing alone: %+v, %v", len(missing), blocks, stats, err)
	}
}
