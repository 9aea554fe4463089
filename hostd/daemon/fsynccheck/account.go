package fsynccheck

import (
	"fmt"
	"slices"
	"sort"

	"fsward/blocktap"
)

// A Disk is a guarded disk and what is known of it.
type Disk struct {
	Name  string
	Diary *Diary
	// returns the file system that is on it now: "btrfs" or "ext3"; "" if none is known
	FS func() string
	// Spare reports whether no call promises a write, although its file system made it: another copy
	// of a superblock is one. nil: there are none.
	Spare func(off, n uint64) bool
}

// An Early is a call that returned before its promise was durable on a disk.
type Early struct {
	Disk   string
	Call   Call
	Writes uint64 // number of writes that were not durable
	Off, N uint64 // the first of them, bytes
	Never  bool   // the first of them did not even reach the disk
}

func (e *Early) String() string {
	what := "was neither flushed nor written with FUA"
	if e.Never {
		what = "had not reached the disk"
	}
	s := fmt.Sprintf("%s of thread %d returned after %.3f ms, and a write of %d bytes at %d %s",
		e.Call.Name, e.Call.Thread,
		float64(e.Call.Returned-e.Call.Began)/1e6, e.N, e.Off, what)
	if e.Writes > 1 {
		s += fmt.Sprintf(", nor %d others", e.Writes-1)
	}
	return s
}

// Bounds of what is kept for a guest.
const (
	maxWaiting   = 1 << 14  // calls that wait for the next ping
	maxHeld      = 16 << 20 // bytes of these calls
	maxDevices   = 1 << 10  // devices of the guest that are guarded disks
	maxDeviceLen = 32       // bytes of the name of one, MAJOR,MINOR
)

// An account checks the calls of one run of fswcalls in a guest. One goroutine uses it.
type account struct {
	disks  []Disk
	report func(*Early)
	clock  clock
	byDev  map[string]*Disk
	calls  []Call // their time is not known yet
	held   int    // bytes of calls
	judged uint64
	early  uint64
	open   uint64 // number of calls that could not be decided
}

// newAccount returns an account that calls report for each call that came too early.
func newAccount(disks []Disk, report func(*Early)) *account {
	return &account{disks: disks, report: report, byDev: make(map[string]*Disk)}
}

// found notes which disk a device of the guest is.
func (a *account) found(dev, name string) error {
	i := slices.IndexFunc(a.disks, func(d Disk) bool { return d.Name == name })
	if i < 0 {
		return nil
	}
	dev, err := parseDevice(dev)
	if err != nil {
		return err
	}
	if _, known := a.byDev[dev]; !known && len(a.byDev) >= maxDevices {
		return fmt.Errorf("more than %d devices", maxDevices)
	}
	a.byDev[dev] = &a.disks[i]
	return nil
}

// call takes a call. It is checked after the next ping comes back.
func (a *account) call(c Call) {
	size := c.size()
	if len(a.calls) >= maxWaiting || a.held+size > maxHeld {
		a.open++
		return
	}
	a.calls, a.held = append(a.calls, c), a.held+size
}

// ping takes a ping that came back, and checks the calls that can be decided now.
func (a *account) ping(p ping) error {
	if err := a.clock.add(p); err != nil {
		return err
	}
	rest := a.calls[:0]
	for _, c := range a.calls {
		if a.clock.passed(c.Returned) {
			a.judge(&c)
			a.held -= c.size()
		} else {
			rest = append(rest, c)
		}
	}
	a.calls = rest
	return nil
}

// judge compares a call with the diaries of the disks. Sync and syncfs promise all writes that came
// before they began, the other calls the writes of their own thread while they ran. Only violations
// that hold under every possible clock skew are reported.
func (a *account) judge(c *Call) {
	began, _, okBegan := a.clock.bounds(c.Began)
	_, returned, okReturned := a.clock.bounds(c.Returned)
	known := okBegan && okReturned
	for i := range a.disks {
		if !known {
			break
		}
		e := Early{Disk: a.disks[i].Name, Call: *c}
		known = a.checkDurability(&a.disks[i], &e, began, returned)
		if known && e.Writes > 0 {
			a.early++
			a.report(&e)
		}
	}
	if known {
		a.judged++
	} else {
		a.open++
	}
}

// checkDurability counts the writes that a call should have made durable on a disk. It returns
// false if that is unknown: the diary begins too late, or a write was refused or failed. After such
// an error a file system may give up, and sync(2) has no way to say so.
func (a *account) checkDurability(d *Disk, e *Early, began, returned int64) (known bool) {
	d.Diary.mu.Lock()
	defer d.Diary.mu.Unlock()
	covered, known := d.Diary.covered(returned)
	if !known {
		return false
	}
	count := func(off, n uint64, never bool) {
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
			count(w.off, w.n, false)
		}
		break
	}
	if d.FS() == "btrfs" && !slices.ContainsFunc(e.Call.Wrote,
		func(r Range) bool { return r.Metadata }) {
		// For a file without a name, nothing is kept after a crash and nothing is flushed
		// (btrfs_log_inode_parent). If the log was written, it must be flushed.
		return true
	}
	for _, r := range e.Call.Wrote {
		// Metadata of ext3 that the thread of a call writes is in the journal already
		// (jbd2_log_do_checkpoint).
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
				count(off, n, !reached)
				break
			}
		}
	}
	return true
}

// after returns the index of the first write that ended after a time.
func after(writes []write, at int64) int {
	return sort.Search(len(writes), func(i int) bool { return writes[i].ended > at })
}

// firstOf returns the first write to a place that began within a time. It is the write that was
// submitted then, or an earlier one: if the earlier one is not durable, neither is the later one.
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
