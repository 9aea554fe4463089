// Package durable accounts for flushes. A call that promises durability, such as fsync, must not
// return before the writes that it depends on were flushed or written with FUA. The account finds
// calls that return too early without any crash. It keeps the place of each write that is not
// durable yet and not its contents, so that it can run beside a guest in production. Start reading
// at Account.
package durable

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fsward/explore/crash"
	"fsward/interp"
)

// Scope says which writes a call depends on. The zero value is invalid.
type Scope uint8

const (
	Own Scope = 1 + iota // the writes issued while it ran: fsync, fdatasync, a write with O_SYNC
	All                  // all writes issued before it returned: sync, syncfs, unmount
)

// A Write is a write that is not durable.
type Write struct {
	ID, Off, Len uint64 // Off and Len in bytes
	order        uint64 // 1 for the first write of the account
	// lost is set if the write never becomes durable and no error was reported. Only a later write to
	// the same place removes it.
	lost bool
}

// A Debt is a call that returned too early.
type Debt struct {
	Call   string
	At     uint64 // position in the log of the event with which it returned
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
	list := strings.Join(parts, ", ")
	return fmt.Sprintf("%s returned before these writes were durable: %s", d.Call, list)
}

// maxOpen bounds the writes that are not durable, and the calls that run.
const maxOpen = 1 << 20

// An Account follows a disk, or several disks that crash.Join has joined. The zero value begins
// with a disk on which everything is durable. One goroutine uses it.
type Account struct {
	// Exempt reports whether nothing depends on a write, such as one to a further copy of a
	// superblock. If Exempt is nil, every write counts.
	Exempt func(off, n uint64) bool
	// Copies exempts a write whose contents other writes have made durable: a journal holds the
	// contents of a block that goes to its place. The account then keeps a hash of each KiB written.
	Copies bool

	open   *openWrites       // nil: none
	order  uint64            // number of writes issued so far
	calls  map[string]uint64 // by name: how many writes had been issued when the call began
	copies copies
}

// Add takes an event of the log. It ignores marks: see Begin and Return. The error is a
// crash.LimitError if more than 1,048,576 writes are not durable.
func (a *Account) Add(ev crash.Event) error {
	if a.open == nil {
		a.open = newOpenWrites()
	}
	switch ev.Kind {
	case crash.Issued:
		if a.open.count() >= maxOpen {
			return &crash.LimitError{What: "writes that are not durable", Limit: maxOpen}
		}
		a.order++
		a.open.add(&Write{ID: ev.Write.ID, Off: ev.Write.Off, Len: ev.Write.Len, order: a.order})
		if a.Copies {
			return a.copies.issued(&ev.Write)
		}
	case crash.Settled:
		if ev.All {
			a.open.flush(a.copies.settled)
			return nil
		}
		a.settle(ev.IDs)
	case crash.Failed:
		for _, id := range ev.IDs {
			a.fail(id, ev.Done, ev.Silent)
		}
	}
	return nil
}

// fail takes a write of which only the first done bytes reached the disk. A caller that knows of
// the error does not rely on the write. Without an error the rest of the write is lost.
func (a *Account) fail(id, done uint64, silent bool) {
	delete(a.copies.waiting, id)
	w := a.open.byID[id]
	switch {
	case w == nil:
	case silent && done < w.Len:
		a.open.lose(w, done)
	default:
		a.open.remove(w)
	}
}

// settle removes writes that are durable, and the earlier writes that they have overwritten. The
// last one goes first: where one place is written again and again, it removes all others, and none
// of them has to be compared with those that followed it.
func (a *Account) settle(ids []uint64) {
	var done []*Write
	for _, id := range ids {
		a.copies.settled(id)
		if w := a.open.byID[id]; w != nil && !w.lost {
			done = append(done, w)
		}
	}
	slices.SortFunc(done, func(a, b *Write) int { return cmp.Compare(b.order, a.order) })
	for _, w := range done {
		if a.open.byID[w.ID] == w {
			a.open.remove(w)
			a.open.removeOverwritten(w)
		}
	}
}

// Begin records that a call begins. Its name distinguishes it from the calls that run beside it.
// The error is a crash.LimitError if more than 1,048,576 calls run.
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

// Return records that a call returned with success at position at of the log. early reports whether
// the call should have waited. If the account did not see the call begin, all writes count.
func (a *Account) Return(call string, scope Scope, at uint64) (d Debt, early bool) {
	since := a.calls[call]
	delete(a.calls, call)
	if scope == All {
		since = 0
	}
	d = Debt{Call: call, At: at}
	if a.open == nil {
		return d, false
	}
	a.open.since(since, func(w *Write) {
		if (a.Exempt == nil || !a.Exempt(w.Off, w.Len)) && !a.copies.have(w.ID) {
			d.Writes = append(d.Writes, *w)
		}
	})
	return d, len(d.Writes) > 0
}

// Follow reads a log whose marks say when calls begin and return: "begin NAME", then "return NAME",
// or "return all NAME" if the call depends on all writes. It ignores other marks.
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
