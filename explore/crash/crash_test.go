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

// naive finds the states by their definition: at each moment, of each write that was issued, whether it is durable by then,
// and then each choice among the others and what was dirtied, applied in order to a copy of the disk. step is what a write can be divided in;
// torn allows each part its first sectors alone.
func naive(base []byte, events []Event, step uint64, torn, byMark bool) map[string]bool {
	states := make(map[string]bool)
	for moment := 0; moment <= len(events); moment++ {
		type part struct {
			off     uint64
			data    []byte
			durable bool
		}
		var parts []part
		mark := ""
		for i, ev := range events[:moment] {
			if ev.Kind == Marked && byMark {
				mark = ev.Mark
			}
			if ev.Kind != Issued && ev.Kind != Dirtied {
				continue
			}
			durable, done := false, ev.Write.Len
			for _, later := range events[i+1 : moment] {
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
				if step > 0 {
					n = min(n, step-(ev.Write.Off+at)%step)
				}
				parts = append(parts, part{ev.Write.Off + at, data[at : at+n], durable})
				at += n
			}
		}
		var choose func(disk []byte, rest []part)
		choose = func(disk []byte, rest []part) {
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

// drawLog makes a small log: overlapping writes, flushes, FUA, failures and marks.
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
				w := events[n-1].Write
				events = append(events, Event{Kind: Failed, IDs: []uint64{w.ID}, Done: random.Uint64N(w.Len/SectorSize) * SectorSize})
			}
		default:
			off := random.Uint64N(sectors)
			n := 1 + random.Uint64N(min(3, sectors-off))
			id++
			w := Write{ID: id, Off: off * SectorSize, Len: n * SectorSize}
			if random.IntN(6) > 0 {
				for range n {
					w.Data = append(w.Data, bytes.Repeat([]byte{byte(random.IntN(4))}, SectorSize)...)
				}
			}
			events = append(events, Event{Kind: Issued, Write: w})
		}
	}
	return events
}

// TestNaive compares with an enumeration that follows the definition, on logs in which writes overlap in all ways.
func TestNaive(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	most := 0
	for i := range 1500 {
		sectors := uint64(10) // a page and a part of another
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
		got := make(map[string]bool)
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
			if (s.Sig == Signature{}) != bytes.Equal(b, base) {
				t.Errorf("log %d: state %s has signature %s, and is equal to the base: %v", i, s.ID(), s.Sig, bytes.Equal(b, base))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if !stats.Exhaustive() || stats.Formed != int(stats.Possible) || stats.Formed-stats.Repeated != len(got) {
			t.Errorf("log %d: %+v, %d visited", i, stats, len(got))
		}
		for s := range want {
			if !got[s] {
				t.Fatalf("log %d: a state is missing: %d of %d\n%s", i, len(got), len(want), describe(events))
			}
		}
		for s := range got {
			if !want[s] {
				t.Fatalf("log %d: a state that cannot be: %d, want %d\n%s", i, len(got), len(want), describe(events))
			}
		}
	}
	if most < 100 {
		t.Errorf("the largest log has %d states: too few to show anything", most)
	}
}

func describe(events []Event) (out string) {
	for _, ev := range events {
		out += fmt.Sprintf("%d %d at %d+%d all %v ids %v done %d mark %q\n", ev.Kind, ev.Write.ID, ev.Write.Off/SectorSize, ev.Write.Len/SectorSize, ev.All, ev.IDs, ev.Done, ev.Mark)
	}
	return out
}

// TestForm makes each state of a log again from its ID.
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
				t.Errorf("state %s is another when it is formed again", s.ID())
			}
			made++
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if made < 100 {
		t.Errorf("only %d states", made)
	}
	for _, id := range []string{"", "x:", "1", "-1:0", "0:1-", "0:1.x", "0:1-2.3", "99999:0"} {
		if err := Form(diskOf(nil), list(), Options{}, id, func(*State) error { return nil }); err == nil {
			t.Errorf("%q is taken for a state", id)
		}
	}
}

// TestSample: above the limit the same seed chooses the same states, each prefix is among them, and it is said that not
// all are.
func TestSample(t *testing.T) {
	const n = 30
	var events []Event
	for i := range uint64(n) {
		events = append(events, Event{Kind: Issued, Write: Write{ID: i, Off: i * PageSize, Len: PageSize, Data: bytes.Repeat([]byte{byte(i + 1)}, PageSize)}})
	}
	base := diskOf(make([]byte, n*PageSize))
	run := func(seed uint64) (ids []string, stats Stats) {
		stats, err := Each(base, list(events...), Options{Limit: 200, Seed: seed}, func(s *State) error {
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
		t.Error("the seed does not decide which states are chosen")
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

// TestSnapshot: a state that was kept stays, and Differs names the pages in which later ones are different.
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
					t.Error("a state that was kept has changed")
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
		t.Errorf("only %d states were compared", checked)
	}
}

// TestLimits: what does not fit is an error and not a smaller answer.
func TestLimits(t *testing.T) {
	base := diskOf(make([]byte, 1<<20))
	write := func(off, n uint64) Event { return Event{Kind: Issued, Write: Write{ID: off, Off: off, Len: n}} }
	for name, log := range map[string][]Event{
		"past the end":    {write(1<<20, 512)},
		"a part sector":   {write(0, 100)},
		"unaligned":       {write(100, 512)},
		"overflow":        {write(1<<63, 1<<63)},
		"wrong length":    {{Kind: Issued, Write: Write{Len: 1024, Data: make([]byte, 512)}}},
		"invalid":         {{}},
		"too much memory": {{Kind: Issued, Write: Write{Len: 1 << 20, Data: make([]byte, 1<<20)}}},
	} {
		if _, err := Each(base, list(log...), Options{MemoryBytes: 1 << 19}, func(*State) error { return nil }); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
