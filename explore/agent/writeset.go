package agent

import (
	"errors"

	"golang.org/x/sys/unix"

	"fsward/explore/ekm"
	"fsward/explore/ramdisk"
)

// WatchWrites has the write set of a RAM disk logged, or no more: ekm.Control.Watch. Value is the number that the log gives its device. The
// module fsw_ekm has to be loaded, here and below; else ENOENT or ENXIO.
func WatchWrites(disk uint32, on bool) Op {
	o := Op{Code: opWatchWrites, n: disk}
	if on {
		o.a = 1
	}
	return o
}

// MarkWrites puts a text into the log of the write set, of 1 to ekm.MaxMark bytes.
func MarkWrites(text string) Op { return Op{Code: opMarkWrites, s: text} }

// EndWrites takes the probes of the log away, which are there from the first WatchWrites on.
func EndWrites() Op { return Op{Code: opEndWrites} }

// writeSet performs an operation on the log of the write set.
func writeSet(o *Op) (value uint64, err error) {
	ctl, err := ekm.Open()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, ctl.Close()) }()
	switch o.Code {
	case opMarkWrites:
		return 0, ctl.Mark(o.s)
	case opEndWrites:
		return 0, ctl.Log(0)
	}
	var st unix.Stat_t
	if err := unix.Stat(ramdisk.Path(o.n), &st); err != nil {
		return 0, err
	}
	dev := ekm.Device(st.Rdev)
	if o.a != 0 {
		if err := ctl.Log(ekm.Writes); err != nil {
			return 0, err
		}
	}
	return uint64(dev), ctl.Watch(dev, o.a != 0)
}
