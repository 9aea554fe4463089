package crash

import (
	"encoding/binary"
	"testing"
)

// many is the number of writes in flight in the tests of this file. A cost that grows with its
// square is one of minutes.
const many = 16_000

// zeroDisk is a disk of zeros of a size in bytes.
type zeroDisk uint64

func (z zeroDisk) Size() uint64 { return uint64(z) }

func (z zeroDisk) ReadAt(p []byte, _ int64) (int, error) {
	clear(p)
	return len(p), nil
}

// numbered returns the event of a write of a page, whose contents begin with its ID, from 1.
func numbered(kind Kind, id, page uint64) Event {
	w := Write{ID: id, Off: page * PageSize, Len: PageSize, Data: make([]byte, PageSize)}
	binary.LittleEndian.PutUint64(w.Data, id)
	if kind == Dirtied {
		w.ID |= dirtyIDs
	}
	return Event{Kind: kind, At: id, Write: w}
}

// first returns the number with which a page of a state begins.
func first(t *testing.T, s *State, page uint64) uint64 {
	t.Helper()
	var b [8]byte
	if _, err := s.ReadAt(b[:], int64(page*PageSize)); err != nil {
		t.Fatal(err)
	}
	return binary.LittleEndian.Uint64(b[:])
}

// A guest that does not flush has many writes in flight. Each prefix of them is a state.
func TestManyPrefixes(t *testing.T) {
	var events []Event
	for id := range uint64(many) {
		events = append(events, numbered(Issued, id+1, id))
	}
	n := uint64(0)
	stats, err := Each(zeroDisk(many*PageSize), list(events...), Options{Limit: 2},
		func(s *State) error {
			if n <= many { // the prefixes come first
				if n > 0 && first(t, s, n-1) != n || n < many && first(t, s, n) != 0 {
					t.Fatalf("state %s is not the one with the first %d writes", s.ID(), n)
				}
			}
			n++
			return nil
		})
	if err != nil || stats.Formed < many+1 {
		t.Errorf("%+v, %v", stats, err)
	}
}

// A page that is written again and again without a flush has as many versions.
func TestManyVersions(t *testing.T) {
	var events []Event
	for id := range uint64(many) {
		events = append(events, numbered(Issued, id+1, 0))
	}
	n := uint64(0)
	stats, err := Each(zeroDisk(PageSize), list(events...), Options{Limit: 2},
		func(s *State) error {
			if first(t, s, 0) != n {
				t.Fatalf("state %s has version %d, want %d", s.ID(), first(t, s, 0), n)
			}
			n++
			return nil
		})
	if err != nil || n != many+1 || stats.Repeated != stats.Formed-int(n) {
		t.Errorf("%d versions, %+v, %v", n, stats, err)
	}
}

// A flush ends many writes at once.
func TestManySettled(t *testing.T) {
	const more = 4 * many
	e, last := New(zeroDisk(more*PageSize), Options{}), Event{Kind: Settled}
	for id := range uint64(more) {
		if err := e.Add(numbered(Issued, id+1, id), nil); err != nil {
			t.Fatal(err)
		}
		last.IDs = append(last.IDs, id+1)
	}
	if err := e.Add(last, nil); err != nil || len(e.flight) > 0 {
		t.Errorf("%d writes are in flight, %v", len(e.flight), err)
	}
}

// A kernel has many dirty blocks. It writes half of them; the others are early.
func TestManyDirty(t *testing.T) {
	e := New(zeroDisk(many*PageSize), Options{})
	for id := range uint64(many) {
		if err := e.Add(numbered(Dirtied, id+1, id), nil); err != nil {
			t.Fatal(err)
		}
	}
	for id := range uint64(many / 2) {
		if err := e.Add(numbered(Issued, id+1, id), nil); err != nil {
			t.Fatal(err)
		}
	}
	if len(e.flight) != many {
		t.Fatalf("%d units are in flight, want one for each block", len(e.flight))
	}
	e.cache = newPageCache(e.layer, e.flight)
	err := e.formState(e.before(many), func(s *State) error {
		if n := len(s.Early()); n != many/2 {
			t.Errorf("%d blocks are early, want %d", n, many/2)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	err = e.formState(e.before(0), func(s *State) error {
		if n := len(s.Missing()); n != many/2 {
			t.Errorf("%d writes are missing, want %d", n, many/2)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
