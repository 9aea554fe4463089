package crash

import (
	"bytes"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"fsward/explore/ramdisk"
)

// drawWriteSet makes a small log of a kernel that marks blocks dirty and writes what it has in memory, now and then something else too.
func drawWriteSet(random *rand.Rand, sectors uint64) (events []Event) {
	memory := bytes.Repeat([]byte{9}, int(sectors)*SectorSize)
	pick := func() (off, n uint64) {
		n = 1 + random.Uint64N(2)
		return random.Uint64N(sectors - n + 1), n
	}
	id := uint64(0)
	put := func(kind Kind, off, n uint64) {
		id++
		w := Write{ID: id, Off: off * SectorSize, Len: n * SectorSize, Data: bytes.Clone(memory[off*SectorSize : (off+n)*SectorSize])}
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
		case 4, 5: // of a write that was issued at some time and is not known to be done
			for _, ev := range slices.Backward(events) {
				if ev.Kind == Settled {
					break
				}
				if w := ev.Write; ev.Kind == Issued {
					events = append(events, Event{Kind: Failed, IDs: []uint64{w.ID}, Done: random.Uint64N(w.Len/SectorSize) * SectorSize})
					break
				}
			}
		case 6, 7, 8: // written back: of the last that was dirtied mostly
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

// Blocks that are written with what they were dirtied with are one version and not two, where a write is made of them alone; those that were dirtied again
// without a change are none.
func TestWriteSetVersions(t *testing.T) {
	one := func(b byte, n int) []byte { return bytes.Repeat([]byte{b}, n*SectorSize) }
	write := func(kind Kind, id, sector uint64, data []byte) Event {
		return Event{Kind: kind, Write: Write{ID: id, Off: sector * SectorSize, Len: uint64(len(data)), Data: data}}
	}
	for name, c := range map[string]struct {
		events []Event
		units  int
	}{
		"again, the same":         {[]Event{write(Dirtied, dirtyIDs, 0, one(1, 1)), write(Dirtied, dirtyIDs|1, 0, one(1, 1))}, 1},
		"again, changed":          {[]Event{write(Dirtied, dirtyIDs, 0, one(1, 1)), write(Dirtied, dirtyIDs|1, 0, one(2, 1))}, 2},
		"written":                 {[]Event{write(Dirtied, dirtyIDs, 0, one(1, 1)), write(Issued, 1, 0, one(1, 1))}, 1},
		"written together":        {[]Event{write(Dirtied, dirtyIDs, 1, one(1, 1)), write(Dirtied, dirtyIDs|1, 0, one(2, 1)), write(Issued, 1, 0, append(one(2, 1), one(1, 1)...))}, 2},
		"written with more":       {[]Event{write(Dirtied, dirtyIDs, 0, one(1, 1)), write(Issued, 1, 0, one(1, 2))}, 2},
		"written, hidden under":   {[]Event{write(Dirtied, dirtyIDs, 1, one(1, 1)), write(Dirtied, dirtyIDs|1, 0, one(1, 1)), write(Dirtied, dirtyIDs|2, 0, one(2, 1)), write(Issued, 1, 0, append(one(2, 1), one(1, 1)...))}, 3},
		"written, changed":        {[]Event{write(Dirtied, dirtyIDs, 0, one(1, 1)), write(Issued, 1, 0, one(2, 1))}, 2},
		"an old version, written": {[]Event{write(Dirtied, dirtyIDs, 0, one(1, 1)), write(Issued, 1, 0, one(2, 1)), write(Issued, 2, 0, one(1, 1))}, 3},
		"written and durable":     {[]Event{write(Dirtied, dirtyIDs, 0, one(1, 1)), write(Dirtied, dirtyIDs|1, 0, one(2, 1)), write(Issued, 1, 0, one(2, 1)), {Kind: Settled, All: true}}, 0},
		"dirty is not durable":    {[]Event{write(Dirtied, dirtyIDs, 0, one(1, 1)), {Kind: Settled, All: true}}, 1},
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

// What was marked dirty comes in between the bios by the time, on the disk that it is of, and what of it had not been submitted is told.
func TestFromWriteSet(t *testing.T) {
	sector := func(b byte) []byte { return bytes.Repeat([]byte{b}, SectorSize) }
	records := []ramdisk.Record{
		{Type: ramdisk.Mark, Data: []byte("before")},
		{Type: ramdisk.Submit, Op: ramdisk.Write, ID: 1, Disk: 3, Sector: 1, Len: SectorSize, Data: sector(1), Flags: ramdisk.FUA},
		{Type: ramdisk.Complete, Op: ramdisk.Write, ID: 1, Disk: 3, Sector: 1, Len: SectorSize, Done: SectorSize, Flags: ramdisk.FUA},
		{Type: ramdisk.Mark, Data: []byte("after")},
	}
	for i := range records {
		records[i].Seq, records[i].Time = uint64(i+1), time.Duration(10*(i+1))
	}
	blocks := []Block{
		{Time: 15, Disk: 3, Off: 0, Data: sector(2)},
		{Time: 16, Disk: 4, Off: 0, Data: sector(3)},                  // another disk
		{Time: 17, Disk: 3, Off: ^uint64(0) &^ 4095, Data: sector(4)}, // delayed allocation
		{Time: 45, Disk: 3, Off: 2 * SectorSize, Data: sector(5)},
		{Time: 46, Disk: 3, Off: 2 * SectorSize, Data: sector(6)},
	}
	got := make(map[string][2]int) // by mark and first bytes: missing and early
	log := func(yield func(*ramdisk.Record, error) bool) {
		for i := range records {
			if !yield(&records[i], nil) {
				return
			}
		}
	}
	_, err := Each(diskOf(make([]byte, 3*SectorSize)), FromWriteSet(iter.Seq2[*ramdisk.Record, error](log), blocks, 3), Options{ByMark: true}, func(s *State) error {
		b := make([]byte, s.Size())
		if _, err := s.ReadAt(b, 0); err != nil {
			return err
		}
		early := s.Early()
		for _, w := range early {
			if !bytes.Equal(b[w.Off:w.Off+w.Len], w.Data) {
				t.Errorf("state %s: what is said to be there early is not", s.ID())
			}
		}
		got[fmt.Sprint(s.Mark, " ", b[0], b[SectorSize], b[2*SectorSize])] = [2]int{len(s.Missing()), len(early)}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][2]int{" 0 0 0": {}, "before 0 0 0": {1, 0}, "before 2 0 0": {1, 1}, "before 0 1 0": {}, "before 2 1 0": {0, 1},
		"after 0 1 0": {}, "after 2 1 0": {0, 1}, "after 0 1 5": {0, 1}, "after 2 1 5": {0, 2}, "after 0 1 6": {0, 1}, "after 2 1 6": {0, 2}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("states, with what is missing and early:\n%v, want\n%v", got, want)
	}
	for _, err := range FromWriteSet(log, blocks, 3) {
		if err != nil {
			t.Fatal(err)
		}
		break // a reader may stop anywhere
	}
}

// Where not all states are formed, each block is missing in one of them with all that it was dirtied with, while the others are there.
func TestSampleWriteSet(t *testing.T) {
	const blocks, versions = 10, 3
	var events []Event
	for i := range uint64(blocks * versions) {
		at := i % blocks * PageSize
		events = append(events, Event{Kind: Dirtied, Write: Write{ID: dirtyIDs | i, Off: at, Len: PageSize, Data: bytes.Repeat([]byte{byte(i/blocks + 1)}, PageSize)}})
	}
	missing := make(map[int]bool)
	stats, err := Each(diskOf(make([]byte, blocks*PageSize)), list(events...), Options{Limit: 80}, func(s *State) error {
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
