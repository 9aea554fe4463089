package durable

import (
	"bytes"
	"testing"

	"fsward/explore/crash"
	"fsward/interp"
)

// A block that goes to its place is not owed once the journal has it, and is until then.
func TestCopies(t *testing.T) {
	block := func(id, off uint64, fill ...byte) crash.Event {
		var data []byte
		for _, f := range fill {
			data = append(data, bytes.Repeat([]byte{f}, copyUnit)...)
		}
		return crash.Event{Kind: crash.Issued, Write: crash.Write{ID: id, Off: off, Len: uint64(len(data)), Data: data}}
	}
	begin, all := mark("begin f"), mark("return all f")
	for _, c := range []struct {
		name string
		log  []crash.Event
		owes bool
	}{
		{"copied, flushed, then its place", []crash.Event{begin, block(1, 0, 7), flush, block(2, 8192, 7), all}, false},
		{"copied with FUA", []crash.Event{begin, block(1, 0, 7), settled(1), block(2, 8192, 7), all}, false},
		{"the copy is not durable", []crash.Event{begin, block(1, 0, 7), block(2, 8192, 7), all}, true},
		{"other contents", []crash.Event{begin, block(1, 0, 7), flush, block(2, 8192, 8), all}, true},
		{"copies of a part", []crash.Event{begin, block(1, 0, 7), flush, block(2, 8192, 7, 8), all}, true},
		{"copies in two writes", []crash.Event{begin, block(1, 0, 7), block(3, 4096, 8), flush, block(2, 8192, 7, 8), all}, false},
		{"the copy failed", []crash.Event{begin, block(1, 0, 7), {Kind: crash.Failed, IDs: []uint64{1}}, flush, block(2, 8192, 7), all}, true},
		{"only the other mirror has it", []crash.Event{begin, block(1, 0, 7), settled(1), block(2, interp.Address(1, 0), 7), all}, true},
		{"each mirror has a copy", []crash.Event{begin, block(1, 0, 7), block(2, interp.Address(1, 0), 7), flush, block(3, 8192, 7), block(4, interp.Address(1, 8192), 7), all}, false},
		{"a sector", []crash.Event{begin, write(1, 0), flush, write(2, 1), all}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := Account{Copies: true}
			debts, err := a.Follow(log(c.log...))
			if err != nil || (len(debts) > 0) != c.owes {
				t.Errorf("%v, %v; it owes: %t", debts, err, c.owes)
			}
			a = Account{}
			if debts, _ = a.Follow(log(c.log...)); len(debts) == 0 {
				t.Error("without copies nothing is owed")
			}
		})
	}
}
