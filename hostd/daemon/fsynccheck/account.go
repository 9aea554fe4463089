package fsynccheck

import (
	"fmt"
	"slices"
	"sort"

	"fsward/blocktap"
)

// A Disk is one that is guarded, with what is known of it.
type Disk struct {
	Name  string
	Diary *Diary
	FS    func() string // what is on it now: "btrfs", "ext3"; "" for nothing that is known
	// Spare tells of a write that no call promises, though its file system made it, such as a further copy of a superblock. nil: none.
	Spare func(off, n uint64) bool
}

// An Early is a call that returned before what it promised was durable on a disk.
type Early struct {
	Disk   string
	Call   Call
	Writes uint64 // how many it owes
	Off, N uint64 // of the first, bytes
	Never  bool   // that one did not even reach the disk
}

func (e *Early) String() string {
	what := "was neither flushed nor written with FUA"
	if e.Never {
		what = "had not reached the disk"
	}
	s := fmt.Sprintf("%s of thread %d returned after %.3f ms, and a write of %d bytes at %d %s", e.Call.Name, e.Call.Thread,
		float64(e.Call.Returned-e.Call.Began)/1e6, e.N, e.Off, what)
	if e.Writes > 1 {
		s += fmt.Sprintf(", nor %d others", e.Writes-1)
	}
	return s
}

// maxWaiting bounds the calls for which the next ping is waited.
const maxWaiting = 1 << 14

// An account judges the calls of one guest, from when its fswcalls began until it ends. Used by one goroutine.
type account struct {
	disks  []Disk
	told   func(*Early)
	clock  clock
	byDev  map[string]*Disk
	calls  []Call // whose time cannot be told yet
	judged uint64
	early  uint64
	open   uint64 // calls of which it is not known
}

// newAccount returns one that tells of calls that came too early.
func newAccount(disks []Disk, told func(*Early)) *account {
	return &account{disks: disks, told: told, byDev: make(map[string]*Disk)}
}

// found notes which of the disks is a device of the guest.
func (a *account) found(dev, name string) {
	for i := range a.disks {
		if a.disks[i].Name == name {
			a.byDev[dev] = &a.disks[i]
		}
	}
}

// call takes a call, to be judged with the next ping that comes back after it.
func (a *account) call(c Call) {
	if len(a.calls) >= maxWaiting {
		a.open++
		return
	}
	a.calls = append(a.calls, c)
}

// ping takes one that came back, and judges what it lets be judged.
func (a *account) ping(p ping) error {
	if err := a.clock.add(p); err != nil {
		return err
	}
	rest := a.calls[:0]
	for _, c := range a.calls {
		if a.clock.passed(c.Returned) {
			a.judge(&c)
		} else {
			rest = append(rest, c)
		}
	}
	a.calls = rest
	return nil
}

// judge holds a call against the diaries of the disks. Sync and syncfs owe all that was written before they began, the others what their own
// thread wrote while they ran. What comes out as early was so at every time that the bounds of the clock allow.
func (a *account) judge(c *Call) {
	began, _, okBegan := a.clock.bounds(c.Began)
	_, returned, okReturned := a.clock.bounds(c.Returned)
	known := okBegan && okReturned
	for i := range a.disks {
		if !known {
			break
		}
		e := Early{Disk: a.disks[i].Name, Call: *c}
		known = a.owed(&a.disks[i], &e, began, returned)
		if known && e.Writes > 0 {
			a.early++
			a.told(&e)
		}
	}
	if known {
		a.judged++
	} else {
		a.open++
	}
}

// owed counts what a call owes of a disk; false if that is not known: the diary does not reach back to where it had to begin, or something was
// refused or failed, after which a file system does what it can, or gives up. sync(2) has no way to say so.
func (a *account) owed(d *Disk, e *Early, began, returned int64) (known bool) {
	d.Diary.mu.Lock()
	defer d.Diary.mu.Unlock()
	covered, known := d.Diary.covered(returned)
	if !known {
		return false
	}
	owe := func(off, n uint64, never bool) {
		if d.Spare != nil && d.Spare(off, n) {
			return
		}
		if e.Writes == 0 {
			e.Off, e.N, e.Never = off, n, never
		}
		e.Writes++
	}
	writes := d.Diary.writes
	for _, dev := range e.Call.Synced {
		if a.byDev[dev] != d || covered >= began {
			continue
		}
		if d.Diary.forgotten > covered || d.Diary.failed > covered {
			return false
		}
		for _, w := range writes[after(writes, covered):] {
			if w.ended >= began {
				break
			}
			owe(w.off, w.n, false)
		}
		break
	}
	if d.FS() == "btrfs" && !slices.ContainsFunc(e.Call.Wrote, func(r Range) bool { return r.Metadata }) {
		// Of a file without a name nothing is kept beyond a crash, and nothing is flushed (btrfs_log_inode_parent). Where the log was
		// written, it has to be.
		return true
	}
	for _, r := range e.Call.Wrote {
		// Metadata of ext3 that the thread of a call writes is in the journal already (jbd2_log_do_checkpoint).
		if a.byDev[r.Dev] != d || r.Metadata && d.FS() == "ext3" {
			continue
		}
		from, _, ok := a.clock.bounds(r.At)
		if !ok || d.Diary.forgotten >= from || d.Diary.failed >= from {
			return false
		}
		off, n := r.Sector*blocktap.SectorSize, r.Sectors*blocktap.SectorSize
		// The first and the last sector, since a bio can be split.
		for _, at := range [2]uint64{off, off + n - blocktap.SectorSize} {
			w, reached := firstOf(writes[after(writes, from):], at, from, returned)
			if !reached || w.ended > covered {
				owe(off, n, !reached)
				break
			}
		}
	}
	return true
}

// after is where the writes begin that ended after a time.
func after(writes []write, at int64) int {
	return sort.Search(len(writes), func(i int) bool { return writes[i].ended > at })
}

// firstOf returns the first write to a place that began within a time. It is the one that was submitted then, or an earlier one: if that is
// not durable, neither is what came after it.
func firstOf(writes []write, at uint64, from, to int64) (write, bool) {
	for _, w := range writes {
		if w.began > to {
			break
		}
		if w.began >= from && w.off <= at && at-w.off < w.n {
			return w, true
		}
	}
	return write{}, false
}
