package model

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// operations are all operations so far: operation n is at n-1.
type operations []Op

// durableSince says that everything up to an operation is on the disk. If that operation makes
// nothing durable itself, it names the last one that does.
func (l operations) durableSince(since int) string {
	o := l[since-1]
	for at := len(l); at > since && !o.persists(); at-- {
		if by := l[at-1]; by.persists() {
			return fmt.Sprintf("everything up to operation %d, %v, is on the disk since operation %d, %v",
				since, o, at, by)
		}
	}
	return fmt.Sprintf("on the disk since operation %d, %v", since, o)
}

// lastOf describes the operation that last changed an inode.
func (l operations) lastOf(n *inode) string {
	if n.changed < 1 || n.changed > len(l) {
		return "it existed from the beginning"
	}
	return fmt.Sprintf("operation %d was %v", n.changed, l[n.changed-1])
}

// persists reports whether an operation makes something durable, whatever the mount options are.
func (o Op) persists() bool {
	switch o.Code {
	case Sync, Syncfs, Fsync, Fdatasync, Msync:
		return true
	case Open:
		return o.Flags&unix.O_DSYNC != 0 // of the writes that follow
	}
	return false
}
