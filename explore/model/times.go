package model

import (
	"slices"
	"time"
)

// The model knows the time of modification of a file as far as it is promised: what utimensat(2)
// set stays until the file is changed, and a change sets the present time. fsync(2) keeps it, since
// POSIX includes it in "synchronized I/O file integrity completion" (3.385: "all status attributes
// relative to the I/O operation (including access time, modification time, status change time)").

// Values of attrs.mtime beside times in ns since 1970.
const (
	presentTime int64 = 0  // the time of the creation or the last change
	anyTime     int64 = -1 // that, or the one before
)

// firstPresent is earlier than each present time, and later than each time of Utimes.
var firstPresent = time.Date(2003, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()

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
	if errno != 0 {
		return Result{Errno: errno}
	}
	n := v.tree.inodes[i]
	a := n.attrs.now()
	a.mtime = o.Mtime
	n.setAttrs(a, v.now)
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
	if n.kind != File || m.f.promises.Sync { // -o sync does not force times (iocb_flags)
		return nil
	}
	list := n.times()
	if m.exact {
		list = []int64{n.attrs.now().mtime}
	}
	for _, t := range list {
		switch {
		case t > 0 && t == here.Mtime, t == anyTime, t == presentTime && here.Mtime >= firstPresent:
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
