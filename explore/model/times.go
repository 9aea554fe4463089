package model

import (
	"slices"
	"time"
)

// The model knows the time of modification of a file as far as it is promised: what utimensat(2)
// set stays until the file is changed, and a change sets the present time. fsync(2) keeps it, since
// POSIX includes it in "synchronized I/O file integrity completion" (3.385: "all status attributes
// relative to the I/O operation (including access time, modification time, status change time)").

// With the feature Times, the model also knows which operations have to change the time of
// modification of a directory, and the time of the last change of status: "st_ctime is changed by
// writing or by setting inode information (i.e., owner, group, link count, mode, etc.)" (inode(7)).

// Values of attrs.mtime beside times in ns since 1970.
const (
	presentTime int64 = 0  // the time of the creation or the last change
	anyTime     int64 = -1 // that, or the one before
)

// firstPresent is earlier than each present time, and later than each time of Utimes.
var firstPresent = time.Date(2003, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()

// lastPresent is later than each present time.
var lastPresent = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()

// isPresent reports whether a time can be one that the kernel's clock gave.
func isPresent(t int64) bool { return firstPresent <= t && t < lastPresent }

// markModified notes that an operation has to change both times.
func (n *inode) markModified(now int) { n.mtimeAt, n.ctimeAt = now, now }

// Moment returns the number of the last operation.
func (f *FS) Moment() int { return f.now }

// ClockOf returns the time that Observed gives to what an operation changed.
func ClockOf(operation int) int64 { return firstPresent + int64(operation) }

// CheckTimes returns a *Mismatch if an operation after a moment had to change a time of a file or
// directory, and the time is still one before clock, which was read at that moment. s is the
// present tree, and equals that of f.
func (f *FS) CheckTimes(s *Observed, moment int, clock int64) (err error) {
	if !f.promises.Has(Times) {
		return nil
	}
	f.tree.visit(func(p string, n *inode, _ []string) {
		here := s.nodes[relative(p)]
		if here == nil || err != nil || n.kind != Dir && n.kind != File {
			return
		}
		isSet := n.kind == File && n.attrs.now().mtime != presentTime // by utimensat
		switch {
		case n.mtimeAt > moment && !isSet && here.Mtime < clock:
			err = staleTime(p, "modification", here.Mtime, f.log[n.mtimeAt-1])
		case n.ctimeAt > moment && here.Ctime < clock:
			err = staleTime(p, "status change", here.Ctime, f.log[n.ctimeAt-1])
		}
	})
	return err
}

func staleTime(p, what string, is int64, o Op) error {
	return mismatchf("time", "%s: the time of its last %s is %v, which is before %v", p, what,
		time.Unix(0, is).UTC(), o)
}

// touch sets the time of modification to presentTime or anyTime. The kernel need not write the
// inode, so a later fsync makes no other change durable with it.
func (n *inode) touch(now int, mtime int64) {
	a := n.attrs.now()
	if a.mtime == presentTime || a.mtime == mtime {
		return
	}
	a.mtime = mtime
	n.attrs.set(now, a)
}

// utimes performs Utimes.
func (v *volume) utimes(o Op) (r Result) {
	i, errno := v.tree.find(o.Path, false)
	if errno == 0 {
		errno = v.tree.maySetAttributes(i)
	}
	if errno != 0 {
		return Result{Errno: errno}
	}
	n := v.tree.inodes[i]
	a := n.attrs.now()
	a.mtime = o.Mtime
	n.setAttrs(a, v.now)
	n.mtimeAt = 0
	return r
}

// times returns the values of the time of modification that a crash may leave. A journal may order
// it with other changes or not: only what keeps the inode itself keeps it.
func (n *inode) times() (out []int64) {
	for _, v := range n.attrs.since(n.meta) {
		out = append(out, v.value.mtime)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// checkTime compares the time of modification of a file.
func (m *matcher) checkTime(n *inode, p string, here *node) error {
	if m.f.promises.Sync { // -o sync does not force times (iocb_flags)
		return nil
	}
	isTimed := m.f.promises.Has(Times) && (n.kind == File || n.kind == Dir)
	switch {
	case isTimed && !isPresent(here.Ctime):
		return mismatchf("time", "/%s: its status was changed last at %v, which never was", p,
			time.Unix(0, here.Ctime).UTC())
	case isTimed && n.kind == Dir && !isPresent(here.Mtime) &&
		!slices.Contains(n.times(), here.Mtime):
		return mismatchf("time", "/%s was changed last at %v, which never was", p,
			time.Unix(0, here.Mtime).UTC())
	case n.kind != File:
		return nil
	}
	list := n.times()
	if m.exact {
		list = []int64{n.attrs.now().mtime}
	}
	for _, t := range list {
		switch {
		case t > 0 && t == here.Mtime, t == anyTime, t == presentTime && isPresent(here.Mtime):
			return nil
		}
	}
	text := "the time of its last change"
	if t := list[len(list)-1]; t > 0 {
		text = time.Unix(0, t).UTC().String()
	}
	return mismatchf("time", "/%s was changed last at %v, and not at %s", p,
		time.Unix(0, here.Mtime).UTC(), text)
}
