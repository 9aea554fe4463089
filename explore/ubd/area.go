package ubd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"fsward/explore/ramdisk"
)

// AreaBytes is the size of an Area.
const AreaBytes = 1 << 20

// abi is the version of the layout.
const abi = 1

// Offsets in an Area, in bytes: struct area in explore/uml/shim/disks.c, and the marks after it.
const (
	loggedAt    = 8
	writtenAt   = 16
	takenAt     = 24
	lostAt      = 32
	markBytesAt = 40 // bytes of the marks
	lostMarksAt = 48
	rulesAt     = 64
	ruleBytes   = 40
	rules       = ramdisk.MaxRules
	marksAt     = 4096
)

// markHead is the size of a mark without its text: how much of the log was written before it, and
// the length of its text.
const markHead = 16

// maxDisks is the number of disks in an Area.
const maxDisks = 16

// An Area is the memory that the host, the library of user-mode Linux and the agent in it share. It
// has AreaBytes bytes.
type Area []byte

func (a Area) word(at int) uint64          { return binary.LittleEndian.Uint64(a[at:]) }
func (a Area) setWord(at int, v uint64)    { binary.LittleEndian.PutUint64(a[at:], v) }
func (a Area) setHalf(at int, v uint32)    { binary.LittleEndian.PutUint32(a[at:], v) }
func (a Area) half(at int) uint32          { return binary.LittleEndian.Uint32(a[at:]) }
func (a Area) ruleAt(i int) (offset int)   { return rulesAt + i*ruleBytes }
func (a Area) free(rule int) (isFree bool) { return a.half(a.ruleAt(rule)+8) == 0 }

// OpenArea maps the end of a file as an Area. Close unmaps it.
func OpenArea(path string) (Area, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	a, err := unix.Mmap(int(f.Fd()), end-AreaBytes, AreaBytes, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("%s: mmap: %w", path, err)
	}
	return a, nil
}

// Close unmaps an area of OpenArea.
func (a Area) Close() error { return unix.Munmap(a) }

// Clear makes the area one without logged disks, marks and rules.
func (a Area) Clear() {
	clear(a[:AreaBytes])
	a.setWord(0, abi)
}

// SetLogged switches the log of a disk. The kernel must not be using the disk.
func (a Area) SetLogged(disk uint32, on bool) {
	bit := uint64(1) << disk
	if on {
		a.setWord(loggedAt, a.word(loggedAt)|bit)
	} else {
		a.setWord(loggedAt, a.word(loggedAt)&^bit)
	}
}

// Mark adds a mark to the log, after the requests that have ended. The agent and the host must not
// add marks at the same time.
func (a Area) Mark(text string) error {
	if len(text) > ramdisk.MaxText {
		return unix.EINVAL
	}
	used := a.word(markBytesAt)
	if used > AreaBytes-marksAt {
		return unix.EPROTO
	}
	if used+markHead+uint64(len(text)) > AreaBytes-marksAt {
		a.setWord(lostMarksAt, a.word(lostMarksAt)+1)
		return nil
	}
	at := marksAt + int(used)
	a.setWord(at, a.word(writtenAt))
	a.setWord(at+8, uint64(len(text)))
	copy(a[at+markHead:], text)
	a.setWord(markBytesAt, used+markHead+uint64(len(text)))
	return nil
}

// Inject makes requests of a disk fail, as ramdisk.Control does. Rules that do something else than
// ramdisk.Fail are ENOSYS.
func (a Area) Inject(disk uint32, r ramdisk.Rule) error {
	switch {
	case r.Action != ramdisk.Fail:
		return unix.ENOSYS
	case disk >= maxDisks || r.Error == 0 || r.Nth == 0 || r.Times == 0:
		return unix.EINVAL
	}
	for i := range rules {
		if !a.free(i) {
			continue
		}
		ops, at := uint32(0), a.ruleAt(i)
		for _, op := range r.Ops {
			ops |= 1 << (op & 31)
		}
		a.setHalf(at, disk)
		a.setHalf(at+4, ops)
		a.setWord(at+16, r.Nth)
		a.setWord(at+24, r.Times)
		a.setWord(at+32, 0)
		a.setHalf(at+8, r.Error)
		return nil
	}
	return unix.ENOSPC
}

// ClearRules removes the rules of a disk.
func (a Area) ClearRules(disk uint32) {
	for i := range rules {
		if at := a.ruleAt(i); a.half(at) == disk {
			a.setHalf(at+8, 0)
		}
	}
}

// A mark is a text in the log.
type mark struct {
	after uint64 // bytes of the log that were written before
	text  string
}

// errMark means that the guest has overwritten the marks.
var errMark = errors.New("the marks in the log of user-mode Linux are not what its agent writes")

// takeMarks removes and returns all marks. lost is the number of those that did not fit.
func (a Area) takeMarks() (out []mark, lost uint64, err error) {
	end := a.word(markBytesAt)
	if end > AreaBytes-marksAt {
		return nil, 0, errMark
	}
	for b := a[marksAt:][:end]; len(b) > 0; {
		if len(b) < markHead {
			return nil, 0, errMark
		}
		n := b.word(8)
		if n > uint64(len(b)-markHead) || n > ramdisk.MaxText {
			return nil, 0, fmt.Errorf("%w: one has %d bytes", errMark, n)
		}
		out = append(out, mark{after: b.word(0), text: string(b[markHead:][:n])})
		b = b[markHead+n:]
	}
	lost = a.word(lostMarksAt)
	a.setWord(lostMarksAt, 0)
	a.setWord(markBytesAt, 0)
	return out, lost, nil
}
