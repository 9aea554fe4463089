package agent

import (
	"errors"

	"golang.org/x/sys/unix"

	"fsward/explore/ekm"
	"fsward/explore/ramdisk"
)

// WatchWrites switches the log of a RAM disk's write set on or off: ekm.Control.Watch. Value is the
// device number by which records of the log name the disk. This operation and the ones below fail
// with ENOENT or ENXIO if the module fsw_ekm is not loaded.
func WatchWrites(disk uint32, on bool) Op { return switched(opWatchWrites, disk, on) }

// MarkWrites puts a text of 1 to ekm.MaxMark bytes into the log of the write set.
func MarkWrites(text string) Op { return Op{Code: opMarkWrites, s: text} }

// EndWrites removes the probes of the log. The first WatchWrites set them.
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
