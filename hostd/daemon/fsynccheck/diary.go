package fsynccheck

import (
	"sort"
	"sync"
	"time"

	"fsward/blocktap"
)

// Bounds of what is kept of a disk: 2 MiB of writes.
const (
	maxWrites  = 1 << 16
	maxFlushes = 1 << 12
)

// epoch is when the clock of all diaries began.
var epoch = time.Now()

// now returns the host's time in nanoseconds. It never decreases, and is above 0.
func now() int64 { return time.Since(epoch).Nanoseconds() + 1 }

// A write that a disk performed.
type write struct {
	off, n       uint64 // bytes
	began, ended int64
}

// A flush of a disk. began is the latest time at which a flush that had ended by then began: every
// write that ended before it is durable.
type flush struct{ ended, covers int64 }

// A Diary has the times of a disk's last writes and flushes. It is safe for concurrent use. The
// zero value is empty.
type Diary struct {
	mu        sync.Mutex
	writes    []write // in the order in which they ended
	forgotten int64   // when the last write ended that is no longer kept; 0: all are kept
	flushes   []flush // in the order in which they ended
	failed    int64   // when a write last failed or was refused
}

func (d *Diary) wrote(off, n uint64, began int64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ended := now() // under the lock, so that they are in order
	if err != nil {
		d.failed = ended
		return
	}
	if len(d.writes) >= maxWrites {
		const old = maxWrites / 2
		d.forgotten = d.writes[old-1].ended
		d.writes = append(d.writes[:0], d.writes[old:]...)
	}
	d.writes = append(d.writes, write{off, n, began, ended})
}

func (d *Diary) flushed(began int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := len(d.flushes); n > 0 {
		began = max(began, d.flushes[n-1].covers)
	}
	if len(d.flushes) >= maxFlushes {
		d.flushes = append(d.flushes[:0], d.flushes[maxFlushes/2:]...)
	}
	d.flushes = append(d.flushes, flush{now(), began})
}

// Refused notes that a write was refused. The file system that made it may give up, and then no
// call keeps its promise.
func (d *Diary) Refused() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failed = now()
}

// covered returns the time before which all writes that had ended were durable at a time: the
// beginning of the last flush that had ended by then. It is not ok if that is no longer kept.
func (d *Diary) covered(at int64) (since int64, ok bool) {
	i := sort.Search(len(d.flushes), func(i int) bool { return d.flushes[i].ended > at })
	if i == 0 {
		return 0, len(d.flushes) < maxFlushes/2 // before there are so many flushes, none was dropped
	}
	return d.flushes[i-1].covers, true
}

// Of returns the disk with a diary of its requests from now on.
func (d *Diary) Of(disk blocktap.Disk) blocktap.Disk {
	w := watched{disk, d}
	if r, ok := disk.(blocktap.Reserver); ok {
		return reserving{w, r}
	}
	return w
}

// watched is a disk with a diary.
type watched struct {
	blocktap.Disk
	diary *Diary
}

func (w watched) WriteAt(p []byte, off int64) (int, error) {
	began := now()
	n, err := w.Disk.WriteAt(p, off)
	w.diary.wrote(uint64(off), uint64(len(p)), began, err)
	return n, err
}

func (w watched) Zero(off, n uint64) error {
	began := now()
	err := w.Disk.Zero(off, n)
	w.diary.wrote(off, n, began, err)
	return err
}

func (w watched) Flush() error {
	began := now()
	err := w.Disk.Flush()
	if err == nil {
		w.diary.flushed(began)
	}
	return err
}

// reserving is a watched disk that can zero a range without freeing its space.
type reserving struct {
	watched
	reserver blocktap.Reserver
}

func (r reserving) ZeroReserved(off, n uint64) error {
	began := now()
	err := r.reserver.ZeroReserved(off, n)
	r.diary.wrote(off, n, began, err)
	return err
}
