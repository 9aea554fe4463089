package crash

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// diskOf is a base in memory.
type diskOf []byte

func (d diskOf) ReadAt(p []byte, off int64) (int, error) { return copy(p, d[off:]), nil }
func (d diskOf) Size() uint64                            { return uint64(len(d)) }

func list(events ...Event) Events {
	return func(yield func(Event, error) bool) {
		for _, ev := range events {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// A naivePart is a write, or a part of one that can be on the disk without the others.
type naivePart struct {
	off     uint64
	data    []byte
	durable bool
}

// naiveParts returns the parts of all writes after some events, in order, and the last mark. It
// divides writes at multiples of size; 0: not at all.
func naiveParts(events []Event, size uint64) (parts []naivePart, mark string) {
	for i, ev := range events {
		if ev.Kind == Marked {
			mark = ev.Mark
		}
		if ev.Kind != Issued && ev.Kind != Dirtied {
			continue
		}
		durable, done := false, ev.Write.Len
		for _, later := range events[i+1:] {
			mine := ev.Kind == Issued && (later.All || slices.Contains(later.IDs, ev.Write.ID))
			if later.Kind == Failed && mine {
				done = min(done, later.Done)
			}
			durable = durable || later.Kind == Settled && mine
		}
		data := ev.Write.Data
		if data == nil {
			data = make([]byte, ev.Write.Len)
		}
		for at := uint64(0); at < done; {
			n := done - at
			if size > 0 {
				n = min(n, size-(ev.Write.Off+at)%size)
			}
			parts = append(parts, naivePart{ev.Write.Off + at, data[at : at+n], durable})
			at += n
		}
	}
	return parts, mark
}

// naive finds the states by their definition. After each event it applies, to a copy of the disk
// and in order, all durable parts and each subset of the others. torn also applies only the first
// sectors of a part.
func naive(base []byte, events []Event, size uint64, torn, byMark bool) map[string]bool {
	states := make(map[string]bool)
	for moment := 0; moment <= len(events); moment++ {
		parts, mark := naiveParts(events[:moment], size)
		if !byMark {
			mark = ""
		}
		var choose func(disk []byte, rest []naivePart)
		choose = func(disk []byte, rest []naivePart) {
			if len(rest) == 0 {
				states[mark+"|"+string(disk)] = true
				return
			}
			p := rest[0]
			for n := 0; n <= len(p.data); n += SectorSize {
				if p.durable && n < len(p.data) || !torn && n > 0 && n < len(p.data) {
					continue
				}
				next := bytes.Clone(disk)
				copy(next[p.off:], p.data[:n])
				choose(next, rest[1:])
			}
		}
		choose(base, parts)
	}
	return states
}

// drawLog makes a small random log: overlapping writes, flushes, FUA, failures and marks.
func drawLog(random *rand.Rand, sectors uint64) (events []Event) {
	id := uint64(0)
	for range 3 + random.IntN(6) {
		switch random.IntN(9) {
		case 0:
			events = append(events, Event{Kind: Settled, All: true})
		case 1:
			if id > 0 {
				events = append(events, Event{Kind: Settled, IDs: []uint64{1 + random.Uint64N(id)}})
			}
		case 2:
			events = append(events, Event{Kind: Marked, Mark: fmt.Sprint("m", len(events))})
		case 3:
			if n := len(events); n > 0 && events[n-1].Kind == Issued {
				events = append(events, drawFailure(random, events[n-1].Write))
			}
		default:
			off := random.Uint64N(sectors)
			n := 1 + random.Uint64N(min(3, sectors-off))
			id++
			w := Write{ID: id, Off: off * SectorSize, Len: n * SectorSize}
			if random.IntN(6) > 0 {
				for range n {
					sector := bytes.Repeat([]byte{byte(random.IntN(4))}, SectorSize)
					w.Data = append(w.Data, sector...)
				}
			}
			events = append(events, Event{Kind: Issued, Write: w})
		}
	}
	return events
}

// drawFailure fails a write after a random number of its sectors.
func drawFailure(random *rand.Rand, w Write) Event {
	done := random.Uint64N(w.Len/SectorSize) * SectorSize
	return Event{Kind: Failed, IDs: []uint64{w.ID}, Done: done}
}

// TestNaive compares an Enumerator with the naive enumeration, on random logs with all kinds of
// overlapping writes.
func TestNaive(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	most := 0
	for i := range 1500 {
		sectors := uint64(10) // a whole page and part of another
		events := drawLog(random, sectors)
		if i >= 300 {
			sectors = 3
			events = drawWriteSet(random, sectors)
		}
		base := bytes.Repeat([]byte{9}, int(sectors)*SectorSize)
		o := Options{Torn: i%3 == 1, ByMark: i%4 >= 2, Limit: 1 << 30}
		if i%3 == 2 {
			o.Unit = SectorSize
		}
		want := naive(base, events, o.Unit, o.Torn, o.ByMark)
		most = max(most, len(want))
		got, stats := formed(t, i, base, events, o)
		if !stats.Exhaustive() || stats.Formed != int(stats.Possible) ||
			stats.Formed-stats.Repeated != len(got) {
			t.Errorf("log %d: %+v, %d visited", i, stats, len(got))
		}
		for s := range want {
			if !got[s] {
				t.Fatalf("log %d: a state is missing: %d of %d\n%s",
					i, len(got), len(want), describe(events))
			}
		}
		for s := range got {
			if !want[s] {
				t.Fatalf("log %d: a state is impossible: %d, want %d\n%s",
					i, len(got), len(want), describe(events))
			}
		}
	}
	if most < 100 {
		t.Errorf("the largest log has %d states, want at least 100", most)
	}
}

// formed returns the states that an Enumerator forms of log number i, with the keys of naive.
func formed(
	t *testing.T, i int, base []byte, events []Event, o Options,
) (got map[string]bool, stats Stats) {
	t.Helper()
	got = make(map[string]bool)
	stats, err := Each(diskOf(base), list(events...), o, func(s *State) error {
		b := make([]byte, s.Size())
		if _, err := s.ReadAt(b, 0); err != nil {
			return err
		}
		key := string(b)
		if o.ByMark {
			key = s.Mark + "|" + key
		} else {
			key = "|" + key
		}
		if got[key] {
			t.Errorf("log %d: state %s is visited twice", i, s.ID())
		}
		got[key] = true
		if equal := bytes.Equal(b, base); (s.Sig == Signature{}) != equal {
			t.Errorf("log %d: state %s has signature %s; equal to the base: %v",
				i, s.ID(), s.Sig, equal)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got, stats
}

func describe(events []Event) (out string) {
	for _, ev := range events {
		w := ev.Write
		out += fmt.Sprintf("%d %d at %d+%d all %v ids %v done %d mark %q\n",
			ev.Kind, w.ID, w.Off/SectorSize, w.Len/SectorSize, ev.All, ev.IDs, ev.Done, ev.Mark)
	}
	return out
}

// TestForm forms each state of a log again from its ID.
func TestForm(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	made := 0
	for range 40 {
		events := list(drawLog(random, 10)...)
		base := diskOf(make([]byte, 10*SectorSize))
		o := Options{Torn: true, Limit: 64}
		_, err := Each(base, events, o, func(s *State) error {
			found := false
			err := Form(base, events, o, s.ID(), func(again *State) error {
				found = again.Sig == s.Sig && again.ID() == s.ID()
				return nil
			})
			if err == nil && !found {
				t.Errorf("state %s differs when it is formed again", s.ID())
			}
			made++
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if made < 100 {
		t.Errorf("%d states were formed, want at least 100", made)
	}
	for _, id := range []string{"", "x:", "1", "-1:0", "0:1-", "0:1.x", "0:1-2.3", "99999:0"} {
		ignore := func(*State) error { return nil }
		if err := Form(diskOf(nil), list(), Options{}, id, ignore); err == nil {
			t.Errorf("no error for the ID %q", id)
		}
	}
}

// TestSample checks states that are sampled: the seed determines them, every prefix is among them,
// and the stats say that they are not all states.
func TestSample(t *testing.T) {
	const n = 30
	var events []Event
	for i := range uint64(n) {
		events = append(events, write(i, i, byte(i+1)))
	}
	base := diskOf(make([]byte, n*PageSize))
	run := func(seed uint64) (ids []string, stats Stats) {
		o := Options{Limit: 200, Seed: seed}
		stats, err := Each(base, list(events...), o, func(s *State) error {
			ids = append(ids, s.ID())
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return ids, stats
	}
	a, stats := run(1)
	b, _ := run(1)
	c, _ := run(2)
	if !slices.Equal(a, b) || slices.Equal(a, c) {
		t.Error("the seed does not determine the states")
	}
	if stats.Exhaustive() || stats.Sampled != 1 || stats.Possible != 1<<n || stats.Formed != 200 {
		t.Errorf("%+v", stats)
	}
	for i := 1; i < n; i++ {
		want := fmt.Sprintf("0:0-%d", i)
		if !slices.Contains(a, want) {
			t.Errorf("the prefix %s is missing", want)
		}
	}
}

// TestSnapshot checks that a snapshot does not change, and that Differs returns exactly the pages
// in which a later state differs from it.
func TestSnapshot(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	checked := 0
	for range 200 {
		base := diskOf(bytes.Repeat([]byte{1}, 40*SectorSize))
		var kept *Snapshot
		var was []byte
		_, err := Each(base, list(drawLog(random, 40)...), Options{}, func(s *State) error {
			now := make([]byte, s.Size())
			if _, err := s.ReadAt(now, 0); err != nil {
				return err
			}
			if kept != nil {
				again := make([]byte, s.Size())
				if _, err := kept.ReadAt(again, 0); err != nil {
					return err
				}
				if !bytes.Equal(again, was) {
					t.Error("a snapshot has changed")
				}
				var want []uint64
				for n := uint64(0); n*PageSize < s.Size(); n++ {
					lo, hi := n*PageSize, min((n+1)*PageSize, s.Size())
					if !bytes.Equal(was[lo:hi], now[lo:hi]) {
						want = append(want, n)
					}
				}
				if got := s.Differs(kept); !slices.Equal(got, want) {
					t.Errorf("state %s differs in pages %v, want %v", s.ID(), got, want)
				}
				checked++
			}
			if kept == nil || random.IntN(4) == 0 {
				kept, was = s.Keep(), now
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if checked < 500 {
		t.Errorf("%d states were compared, want at least 500", checked)
	}
}

// TestLimits checks that invalid events and logs that exceed a bound are errors.
func TestLimits(t *testing.T) {
	base := diskOf(make([]byte, 1<<20))
	zeros := func(off, n uint64) Event {
		return Event{Kind: Issued, Write: Write{ID: off, Off: off, Len: n}}
	}
	for name, log := range map[string][]Event{
		"past the end":     {zeros(1<<20, 512)},
		"part of a sector": {zeros(0, 100)},
		"unaligned":        {zeros(100, 512)},
		"overflow":         {zeros(1<<63, 1<<63)},
		"wrong length":     {{Kind: Issued, Write: Write{Len: 1024, Data: make([]byte, 512)}}},
		"invalid kind":     {{}},
		"too much memory":  {{Kind: Issued, Write: Write{Len: 1 << 20, Data: make([]byte, 1<<20)}}},
	} {
		ignore := func(*State) error { return nil }
		if _, err := Each(base, list(log...), Options{MemoryBytes: 1 << 19}, ignore); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
