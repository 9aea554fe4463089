package crash

import (
	"bytes"
	"errors"
	"testing"

	"fsward/blocktap/trace"
	"fsward/explore/ramdisk"
)

// FuzzTrace checks that any bytes, read as a dm-log-writes log, give an error or states, in bounded
// time and memory.
func FuzzTrace(f *testing.F) {
	f.Fuzz(func(t *testing.T, log []byte) {
		r, err := trace.NewReader(bytes.NewReader(log))
		if err != nil {
			return
		}
		bounded(t, FromTrace(r))
	})
}

// FuzzBios does the same with logs of a RAM disk.
func FuzzBios(f *testing.F) {
	f.Fuzz(func(t *testing.T, log []byte) {
		bounded(t, FromBios(ReadBios(ramdisk.NewReader(bytes.NewReader(log))), 0))
	})
}

// FuzzLog makes a log of the input: two bytes an event, one for its kind and one for its place. The
// signatures of the states must match the contents that are read.
func FuzzLog(f *testing.F) {
	f.Add([]byte{1, 3, 1, 4, 2, 0, 1, 3, 3, 0, 1, 9})
	f.Fuzz(func(t *testing.T, in []byte) {
		var events []Event
		for id := uint64(1); len(in) >= 2 && len(events) < 40; in = in[2:] {
			a, b := uint64(in[0]), uint64(in[1])
			switch a % 5 {
			case 0:
				events = append(events, Event{Kind: Settled, All: b%2 == 0, IDs: []uint64{b}})
			case 1:
				events = append(events, Event{Kind: Failed, IDs: []uint64{b % 8}, Done: a / 5 * SectorSize})
			case 2:
				events = append(events, Event{Kind: Marked, Mark: string(in[:2])})
			default:
				w := Write{ID: id, Off: b % 40 * SectorSize, Len: (1 + a/5%16) * SectorSize}
				w.Data = bytes.Repeat(in[1:2], int(w.Len))
				events = append(events, Event{Kind: Issued, Write: w})
				id++
			}
		}
		bounded(t, list(events...))
	})
}

// bounded reads at most 501 states of a log, and checks that a signature is zero if and only if the
// disk is as the base. Errors are ignored, because the log may be nonsense.
func bounded(t *testing.T, events Events) {
	base := diskOf(make([]byte, 40*SectorSize))
	enough := errors.New("enough states")
	n := 0
	b := make([]byte, base.Size())
	options := Options{Torn: true, Limit: 32, ByMark: true, MemoryBytes: 4 << 20}
	_, _ = Each(base, events, options, func(s *State) error {
		if _, err := s.ReadAt(b, 0); err != nil {
			t.Fatal(err)
		}
		if (s.Sig == Signature{}) != (bytes.Count(b, []byte{0}) == len(b)) {
			t.Fatalf("state %s: signature %s", s.ID(), s.Sig)
		}
		if n++; n > 500 {
			return enough
		}
		return nil
	})
}
