package crash

import (
	"bytes"
	"errors"
	"maps"
	"testing"
)

// journalPages is the size in pages of a disk with a journal. Page 0 holds the number of copies in
// the journal, pages 1 to 3 hold the copies, and pages 4 to 6 are their home blocks. Page 7 is
// unused.
const journalPages = 8

func fill(b byte) []byte { return bytes.Repeat([]byte{b}, PageSize) }

func write(id, page uint64, b byte) Event {
	w := Write{ID: id, Off: page * PageSize, Len: PageSize, Data: fill(b)}
	return Event{Kind: Issued, Write: w}
}

// replay copies the journal to the home blocks and then empties it. With sound, it flushes before
// it empties the journal.
func replay(sound bool) Recover {
	return func(d *State) (done Recovered, err error) {
		read := func(page uint64) byte {
			done.Reads = append(done.Reads, page)
			b := make([]byte, PageSize)
			_, failed := d.ReadAt(b, int64(page*PageSize))
			err = errors.Join(err, failed)
			return b[0]
		}
		n := uint64(read(0))
		for i := range n {
			done.Events = append(done.Events, write(i, 4+i, read(1+i)))
		}
		if n == 0 {
			return done, err
		}
		if sound {
			done.Events = append(done.Events, Event{Kind: Settled, All: true})
		}
		done.Events = append(done.Events, write(n, 0, 0))
		return done, err
	}
}

// TestRecoveries checks that pruning does not change the set of recovered disks. A crash during a
// sound replay must lead to the same disks, and a crash during an unsound replay to others.
func TestRecoveries(t *testing.T) {
	base := diskOf(make([]byte, journalPages*PageSize))
	journal := []Event{
		write(1, 1, 11), write(2, 2, 12), write(3, 3, 13), write(9, 7, 99),
		{Kind: Settled, IDs: []uint64{1, 2, 3}}, write(4, 0, 3),
	}
	results := func(sound, noPrune bool) (map[string]bool, RecoveryStats) {
		out := make(map[string]bool)
		r := NewRecoveries(replay(sound), RecoveryOptions{NoPrune: noPrune})
		_, err := Each(base, list(journal...), Options{}, func(s *State) error {
			return r.Each(s, func(_, done *State) error {
				key := ""
				for page := range uint64(journalPages) {
					b := make([]byte, 1)
					if _, err := done.ReadAt(b, int64(page*PageSize)); err != nil {
						return err
					}
					key += string('a' + rune(b[0]%26))
				}
				out[key] = true
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		return out, r.Stats()
	}
	soundResults := 0
	for _, sound := range []bool{true, false} {
		pruned, stats := results(sound, false)
		all, whole := results(sound, true)
		if !maps.Equal(pruned, all) {
			t.Errorf("sound %v: disks with pruning %v, without %v", sound, pruned, all)
		}
		if stats.Skipped == 0 || stats.Known == 0 || stats.Run >= whole.Run ||
			whole.Skipped+whole.Known > 0 {
			t.Errorf("sound %v: stats with pruning %+v, without %+v", sound, stats, whole)
		}
		// A sound replay changes only the disks that have the whole journal.
		replayed := 0
		for key := range all {
			if key[4] != 'a' || key[5] != 'a' || key[6] != 'a' {
				replayed++
			}
		}
		if sound {
			soundResults = replayed
			if replayed != 2 {
				t.Errorf("a sound replay leaves %d disks, want 2: with and without the unused page",
					replayed)
			}
		} else if replayed <= soundResults {
			t.Errorf("an unsound replay leaves %d disks, want more than the %d of a sound one",
				replayed, soundResults)
		}
	}
}

// TestRecoverError checks that the error of a recovery is returned.
func TestRecoverError(t *testing.T) {
	broken := errors.New("broken")
	fail := func(*State) (Recovered, error) { return Recovered{}, broken }
	r := NewRecoveries(fail, RecoveryOptions{})
	_, err := Each(diskOf(make([]byte, PageSize)), list(), Options{}, func(s *State) error {
		return r.Each(s, func(_, _ *State) error { return nil })
	})
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

// TestRecoveryMarksDirty checks that a block that a recovery only marks dirty is on some disks that
// a crash during the recovery leaves, and not on the disk that it leaves by itself.
func TestRecoveryMarksDirty(t *testing.T) {
	base := diskOf(make([]byte, journalPages*PageSize))
	marks := func(*State) (done Recovered, err error) {
		ev := write(dirtyIDs|1, 5, 7)
		ev.Kind = Dirtied
		done.Events = []Event{write(1, 4, 6), ev}
		return done, nil
	}
	early, ended := 0, 0
	_, err := Each(base, list(), Options{}, func(s *State) error {
		return NewRecoveries(marks, RecoveryOptions{NoPrune: true}).Each(s,
			func(crashed, done *State) error {
				switch {
				case crashed == nil:
					ended++
					if done.Page(4) == (Signature{}) || done.Page(5) != (Signature{}) {
						t.Error("the recovery alone leaves the wrong pages")
					}
				case crashed.Page(5) != (Signature{}):
					early++
				}
				return nil
			})
	})
	if err != nil || early == 0 || ended != 1 {
		t.Errorf("%d disks with the early block, %d without a crash, %v", early, ended, err)
	}
}
