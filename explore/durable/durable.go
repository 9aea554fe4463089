// Package durable keeps account of flushes: a call that promised that something is on the disk returned while writes that it
// made were neither flushed nor written with FUA. No crash is needed to find that. What is kept is the place of each write
// that is not durable yet, and not its contents, so that it can run beside a guest in production.
package durable

import (
	"fmt"
	"slices"
	"strings"

	"fsward/explore/crash"
	"fsward/interp"
)

// Scope says which writes a call depends on. The zero value is invalid.
type Scope uint8

const (
	Own Scope = 1 + iota // those that were issued while it ran: fsync, fdatasync, a write with O_SYNC
	All                  // all that were issued before it returned: sync, syncfs, unmount
)

// A Write is one that is not durable.
type Write struct {
	ID, Off, Len uint64 // bytes
	order        uint64
	lost         bool // it never will be, and nobody was told: only what is written there later helps
}

// A Debt is a call that returned too early.
type Debt struct {
	Call   string
	At     uint64 // of the event with which it returned
	Writes []Write
}

func (d Debt) String() string {
	var parts []string
	for i, w := range d.Writes {
		if i == 4 {
			parts = append(parts, fmt.Sprintf("and %d more", len(d.Writes)-i))
			break
		}
		disk, off := interp.Locate(w.Off)
		part := fmt.Sprintf("%d bytes at %d", w.Len, off)
		if disk > 0 {
			part += fmt.Sprintf(" of disk %d", disk)
		}
		parts = append(parts, part)
	}
	return fmt.Sprintf("%s returned, and what it wrote is not durable: %s", d.Call, strings.Join(parts, ", "))
}

// maxOpen bounds the writes that are not durable, and the calls that run.
const maxOpen = 1 << 20

// An Account follows a disk, or several that crash.Join has joined. The zero value begins with a disk on which everything is durable. Used by one goroutine.
type Account struct {
	// Exempt tells of a write that nothing depends on, though it is not durable, such as a further copy of a superblock. nil: every
	// write counts.
	Exempt func(off, n uint64) bool
	// Copies: nothing depends on a write whose contents other writes have made durable, as a journal has those of a block that goes to
	// its place. The account then keeps a hash of each KiB that was written.
	Copies bool

	open   []Write // in the order in which they were issued
	order  uint64
	calls  map[string]uint64 // by name: how many writes had been issued when it began
	copies copies
}

// Add takes an event of the log. Marks are passed over: see Begin and Return.
func (a *Account) Add(ev crash.Event) error {
	switch ev.Kind {
	case crash.Issued:
		if len(a.open) >= maxOpen {
			return &crash.LimitError{What: "writes that are not durable", Limit: maxOpen}
		}
		a.order++
		a.open = append(a.open, Write{ID: ev.Write.ID, Off: ev.Write.Off, Len: ev.Write.Len, order: a.order})
		if a.Copies {
			return a.copies.issued(&ev.Write)
		}
	case crash.Settled:
		if ev.All {
			for _, w := range a.open {
				a.copies.settled(w.ID)
			}
			a.open = slices.DeleteFunc(a.open, func(w Write) bool { return !w.lost })
			return nil
		}
		for _, id := range ev.IDs {
			a.settle(id)
		}
	case crash.Failed:
		for _, id := range ev.IDs {
			a.failed(id, ev.Done, ev.Silent)
		}
	}
	return nil
}

// failed takes a write of which only the first bytes were done. Who was told of that does not count on it; else the rest is owed.
func (a *Account) failed(id, done uint64, silent bool) {
	delete(a.copies.waiting, id)
	i := slices.IndexFunc(a.open, func(w Write) bool { return w.ID == id })
	switch {
	case i < 0:
	case silent && done < a.open[i].Len:
		w := &a.open[i]
		w.Off, w.Len, w.lost = w.Off+done, w.Len-done, true
	default:
		a.open = slices.Delete(a.open, i, i+1)
	}
}

// settle closes a write, and those before it that it has overwritten.
func (a *Account) settle(id uint64) {
	a.copies.settled(id)
	i := slices.IndexFunc(a.open, func(w Write) bool { return w.ID == id && !w.lost })
	if i < 0 {
		return
	}
	done := a.open[i]
	a.open = slices.DeleteFunc(a.open, func(w Write) bool {
		return w.ID == id || w.order < done.order && done.Off <= w.Off && w.Off+w.Len <= done.Off+done.Len
	})
}

// Begin notes that a call begins. Its name tells it from those that run beside it.
func (a *Account) Begin(call string) error {
	if a.calls == nil {
		a.calls = make(map[string]uint64)
	}
	if len(a.calls) >= maxOpen {
		return &crash.LimitError{What: "calls that have not returned", Limit: maxOpen}
	}
	a.calls[call] = a.order
	return nil
}

// Return notes that a call returned with success, at an event. early reports whether it should have waited. Of a call that was
// not seen to begin, all writes count.
func (a *Account) Return(call string, scope Scope, at uint64) (d Debt, early bool) {
	since := a.calls[call]
	delete(a.calls, call)
	if scope == All {
		since = 0
	}
	d = Debt{Call: call, At: at}
	for _, w := range a.open {
		if w.order > since && (a.Exempt == nil || !a.Exempt(w.Off, w.Len)) && !a.copies.have(w.ID) {
			d.Writes = append(d.Writes, w)
		}
	}
	return d, len(d.Writes) > 0
}

// Follow goes through a log in which marks say when calls begin and return: "begin NAME", and "return NAME" or, of a call that
// depends on all writes, "return all NAME". Other marks are passed over.
func (a *Account) Follow(events crash.Events) (debts []Debt, err error) {
	for ev, err := range events {
		if err != nil {
			return debts, err
		}
		if ev.Kind != crash.Marked {
			if err := a.Add(ev); err != nil {
				return debts, err
			}
			continue
		}
		if call, ok := strings.CutPrefix(ev.Mark, "begin "); ok {
			if err := a.Begin(call); err != nil {
				return debts, err
			}
		} else if call, ok := strings.CutPrefix(ev.Mark, "return "); ok {
			scope := Own
			if all, ok := strings.CutPrefix(call, "all "); ok {
				call, scope = all, All
			}
			if d, early := a.Return(call, scope, ev.At); early {
				debts = append(debts, d)
			}
		}
	}
	return debts, nil
}
