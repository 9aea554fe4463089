package durable

import (
	"bytes"
	"slices"
	"testing"

	"fsward/explore/crash"
	"fsward/interp"
)

// home is the address of a home block, whose copies are at lower addresses.
const home = 8192

// block writes one unit of copyUnit bytes for each value of contents, filled with it.
func block(id, off uint64, contents ...byte) crash.Event {
	var data []byte
	for _, b := range contents {
		data = append(data, bytes.Repeat([]byte{b}, copyUnit)...)
	}
	w := crash.Write{ID: id, Off: off, Len: uint64(len(data)), Data: data}
	return crash.Event{Kind: crash.Issued, Write: w}
}

// TestCopies checks that a write to a home block is a debt until the journal has a durable copy of
// it, and not after. Without Account.Copies it is always a debt.
func TestCopies(t *testing.T) {
	mirror := interp.Address(1, 0)
	failed := crash.Event{Kind: crash.Failed, IDs: []uint64{1}}
	for _, c := range []struct {
		name string
		log  []crash.Event // between the begin and the return of a call
		debt bool
	}{
		{"copied, flushed, home", []crash.Event{block(1, 0, 7), flush, block(2, home, 7)}, false},
		{"copied with FUA", []crash.Event{block(1, 0, 7), settled(1), block(2, home, 7)}, false},
		{"copy not durable", []crash.Event{block(1, 0, 7), block(2, home, 7)}, true},
		{"other contents", []crash.Event{block(1, 0, 7), flush, block(2, home, 8)}, true},
		{"copy of a part", []crash.Event{block(1, 0, 7), flush, block(2, home, 7, 8)}, true},
		{"copies in two writes", []crash.Event{
			block(1, 0, 7), block(3, 4096, 8), flush, block(2, home, 7, 8),
		}, false},
		{"copy failed", []crash.Event{block(1, 0, 7), failed, flush, block(2, home, 7)}, true},
		{"copy on another mirror only", []crash.Event{
			block(1, 0, 7), settled(1), block(2, mirror, 7),
		}, true},
		{"a copy on each mirror", []crash.Event{
			block(1, 0, 7), block(2, mirror, 7), flush, block(3, home, 7), block(4, mirror+home, 7),
		}, false},
		{"a sector", []crash.Event{write(1, 0), flush, write(2, 1)}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			events := slices.Concat(
				[]crash.Event{mark("begin f")}, c.log, []crash.Event{mark("return all f")})
			a := Account{Copies: true}
			debts, err := a.Follow(log(events...))
			if err != nil || (len(debts) > 0) != c.debt {
				t.Errorf("debts %v, %v; want a debt: %t", debts, err, c.debt)
			}
			a = Account{}
			if debts, _ = a.Follow(log(events...)); len(debts) == 0 {
				t.Error("no debt without Copies")
			}
		})
	}
}
