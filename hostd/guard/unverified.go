package guard

import (
	"fmt"
	"time"

	"fsward/change"
)

// An unverified volume has a commit on it that no rule decided. Later commits are judged by their
// differences from it, and nothing says that they hold, until a check of the whole volume has found
// it sound. See docs/decisions/0037.
type unverified struct {
	since   uint64 // the first undecided commit
	known   bool   // the state before it was found sound as a whole
	commits uint64 // undecided commits since then
}

// recheckPause is the time before an unverified volume is checked again if the first check could
// not decide. It doubles up to maxRecheckPause.
const (
	recheckPause    = time.Minute
	maxRecheckPause = time.Hour
)

// unverify notes that an undecided write is on a volume, and begins to check it. It is called while
// no write is being performed.
func (d *Disks) unverify(number int, ev *Event) {
	d.layout.Accept()
	own := d.volumeOf(number)
	mark := unverified{since: ev.Generation}
	if old := own[0].unverified.Load(); old != nil {
		mark = *old
	} else if c := own[0].baseline.Load(); c != nil {
		mark.known = c.foundSound()
	}
	again := own[0].unverified.Load() != nil
	mark.commits++
	for _, v := range own {
		v.unverified.Store(&mark)
	}
	if again && ev.Kind == KindWrite {
		return // the check that is under way will see that the mark is another, and begin again
	}
	d.beginBaseline(number, false)
}

// mark marks an event of an unverified volume. u may be nil.
func (u *unverified) mark(ev *Event) {
	if u == nil {
		return
	}
	ev.Unverified = true
	if ev.Outcome != change.Holds {
		return
	}
	ev.Outcome = change.Undecided
	if ev.Kind == KindCommit || ev.Kind == KindLogCommit {
		ev.Undecided = append(ev.Undecided, fmt.Sprintf("its changes break no rule, but the volume is "+
			"unverified since commit %d", u.since))
	}
}

// attribute adds the range of commits in which a fault arose to the result of a check.
func (u *unverified) attribute(ev *Event) {
	switch {
	case ev.Outcome != change.Violated:
	case u.known:
		ev.Since = u.since
		ev.Note = fmt.Sprintf("the fault arose in the commits from %d to %d", u.since, ev.Generation)
	default:
		ev.Note = fmt.Sprintf("the fault was there before commit %d, or arose up to commit %d",
			u.since, ev.Generation)
	}
}

// String returns the mark in a few words.
func (u *unverified) String() string {
	return fmt.Sprintf("unverified since commit %d", u.since)
}
