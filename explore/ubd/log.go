package ubd

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"fsward/explore/ramdisk"
)

// entryBytes is the size of an entry without its data: struct entry in explore/uml/shim/disks.c.
const entryBytes = 48

// A Log is the host's end of the log. It must not be used concurrently.
type Log struct {
	area Area
	ring []byte
	seq  uint64 // of the last record
	id   uint64 // of the last request
	lost uint64 // entries that were lost before
}

// NewLog makes the log as a file of a size in bytes at path, and clears the area.
func NewLog(path string, bytes int, area Area) (l *Log, err error) {
	if len(area) != AreaBytes || bytes <= entryBytes {
		return nil, fmt.Errorf("%s: a log of %d bytes with an area of %d", path, bytes, len(area))
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Truncate(int64(bytes)); err != nil {
		return nil, err
	}
	ring, err := unix.Mmap(int(f.Fd()), 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("%s: mmap: %w", path, err)
	}
	area.Clear()
	return &Log{area: area, ring: ring}, nil
}

// Close unmaps the log.
func (l *Log) Close() error { return unix.Munmap(l.ring) }

// Env returns the variables that make user-mode Linux write the log, as NAME=VALUE. The file of the
// area ends with it.
func Env(area, log string) []string {
	return []string{"FSWARD_UBD_AREA=" + area, "FSWARD_UBD_LOG=" + log}
}

// errLog means that what is in the ring is no log.
var errLog = errors.New("the log of user-mode Linux is not what its library writes")

// Take removes all entries and marks, and returns them as the records of fsw_ramdisk: a request
// begins and ends in adjacent records. If entries or marks did not fit, the last record says how
// many.
func (l *Log) Take() (out []ramdisk.Record, err error) {
	from, to := l.area.word(takenAt), l.area.word(writtenAt)
	if to < from || to-from > uint64(len(l.ring)) {
		return nil, fmt.Errorf("%w: it has the bytes %d to %d", errLog, from, to)
	}
	marks, lostMarks, err := l.area.takeMarks()
	if err != nil {
		return nil, err
	}
	log := Area(l.read(from, to))
	l.area.setWord(takenAt, to)
	for at := from; ; {
		for len(marks) > 0 && (marks[0].after <= at || len(log) == 0) {
			out = append(out, l.record(ramdisk.Record{Type: ramdisk.Mark, Data: []byte(marks[0].text)}))
			marks = marks[1:]
		}
		if len(log) == 0 {
			break
		}
		submit, done, rest, err := l.next(log)
		if err != nil {
			return nil, err
		}
		out = append(out, submit, done)
		at += uint64(len(log) - len(rest))
		log = rest
	}
	lost := l.area.word(lostAt) - l.lost
	l.lost += lost
	if lost+lostMarks > 0 {
		out = append(out, l.record(ramdisk.Record{Type: ramdisk.Lost, Len: lost + lostMarks}))
	}
	return out, nil
}

// read returns a copy of a part of the log.
func (l *Log) read(from, to uint64) []byte {
	out := make([]byte, to-from)
	n := copy(out, l.ring[from%uint64(len(l.ring)):])
	copy(out[n:], l.ring)
	return out
}

// record numbers a record.
func (l *Log) record(r ramdisk.Record) ramdisk.Record {
	l.seq++
	r.Seq = l.seq
	return r
}

// next returns the records of the first entry of a log, and the log after it. The data of the
// record is that of the log.
func (l *Log) next(log Area) (submit, done ramdisk.Record, rest Area, err error) {
	if len(log) < entryBytes {
		return submit, done, nil, fmt.Errorf("%w: an entry has %d bytes", errLog, len(log))
	}
	r := ramdisk.Record{Op: ramdisk.Op(log.half(0)), Disk: log.half(4), Len: log.word(16)}
	off, took, data := log.word(8), log.word(24), log.word(40)
	status, injected := syscall.Errno(log.half(32)), log.half(36)
	rest = log[entryBytes:]
	want := uint64(0)
	if r.Op == ramdisk.Write {
		want = r.Len
	}
	if r.Op == 0 || r.Op > ramdisk.Zeroes || r.Disk >= ramdisk.MaxDisks ||
		off > ramdisk.MaxBytes || r.Len > ramdisk.MaxBytes-off || took > r.Len || data != want ||
		data > uint64(len(rest)) || off%ramdisk.SectorSize != 0 || r.Len%ramdisk.SectorSize != 0 {
		return submit, done, nil, fmt.Errorf(
			"%w: an entry is a %s of %d bytes at %d of disk %d, of which %d are done, with %d bytes",
			errLog, r.Op, r.Len, off, r.Disk, took, data)
	}
	l.id++
	r.ID, r.Sector = l.id, off/ramdisk.SectorSize
	if r.Op == ramdisk.Flush {
		r.Flags = ramdisk.Preflush
	}
	submit, done = r, r
	submit.Type, done.Type, done.Done, done.Status = ramdisk.Submit, ramdisk.Complete, took, status
	if r.Op == ramdisk.Write {
		submit.Data = rest[:data:data]
	}
	if injected != 0 {
		done.Injected = 1 << ramdisk.Fail
	}
	return l.record(submit), l.record(done), rest[data:], nil
}
