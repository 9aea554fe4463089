// Package fsynccheck holds the calls of a guest that promise durability (sync, syncfs, fsync, fdatasync, msync with MS_SYNC) against what
// a guarded disk did: a call that returned with success while what it had to make durable was neither flushed nor FUA came too early,
// whichever of file system, block layer and hypervisor is to blame. No crash is needed to see that.
//
// Two sides that do not know of each other are compared. In the guest, fswcalls reads the kernel's own trace events (nothing is loaded)
// and says which call ran when, and which writes its thread submitted meanwhile. On the host a Diary has when each write and each
// flush was done on the disk itself. A Clock says how the two times compare, with bounds: what they do not decide is no finding. Start
// reading at account.judge.
package fsynccheck

import (
	"fmt"
	"strconv"
	"strings"
)

// Port is the name of the virtio-serial port.
const Port = "org.fsward.calls"

// Version is that of the lines below. fswcalls sends, one a line:
//
//	fswcalls VERSION
//	disk DEV NAME           a disk with its serial, which is its name on the host
//	pong N TIME             the answer to ping N
//	call CALL THREAD BEGAN RETURNED [DEV …] [DEV:SECTOR+SECTORS@SINCE[m] …]
//	lost                    trace events were lost: calls are missing
//
// and is sent "ping N". Times are nanoseconds of the guest's CLOCK_MONOTONIC, SINCE of when the call began; DEV is the number of a
// device as MAJOR,MINOR; m is for REQ_META.
const Version = 1

// Bounds of a line.
const (
	maxLine  = 32 << 10 // bytes
	maxParts = 512      // of a call: devices and ranges; those beyond are left out
)

// A Range is what one bio writes.
type Range struct {
	Dev      string // MAJOR,MINOR
	Sector   uint64
	Sectors  uint64
	At       int64 // when it was submitted: guest time, ns
	Metadata bool  // REQ_META
}

// A Call is one that promises durability and has returned with success.
type Call struct {
	Name            string // of the system call: "fsync"
	Thread          int
	Began, Returned int64    // guest time, ns
	Synced          []string // sync, syncfs: the devices whose file system was told to make all durable, MAJOR,MINOR
	Wrote           []Range  // all others: by its own thread while it ran
}

// String is the call's line.
func (c *Call) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "call %s %d %d %d", c.Name, c.Thread, c.Began, c.Returned)
	for _, dev := range c.Synced {
		fmt.Fprintf(&b, " %s", dev)
	}
	for _, r := range c.Wrote {
		fmt.Fprintf(&b, " %s:%d+%d@%d", r.Dev, r.Sector, r.Sectors, r.At-c.Began)
		if r.Metadata {
			b.WriteByte('m')
		}
	}
	return b.String()
}

// names lists the calls that promise durability, and whether that is of all that a file system has.
var names = map[string]bool{"sync": true, "syncfs": true, "fsync": false, "fdatasync": false, "msync": false}

// latest bounds times, so that sums of two do not overflow: 146 years.
const latest = 1 << 62

// parseCall reads what follows "call " of a line.
func parseCall(text string) (c Call, err error) {
	f := strings.Fields(text)
	if len(f) < 4 || len(f) > 4+maxParts {
		return c, fmt.Errorf("%d fields", len(f))
	}
	c.Name = f[0]
	if _, known := names[c.Name]; !known {
		return c, fmt.Errorf("call %q", c.Name)
	}
	if c.Thread, err = strconv.Atoi(f[1]); err != nil {
		return c, err
	}
	if c.Began, err = parseTime(f[2]); err == nil {
		c.Returned, err = parseTime(f[3])
	}
	if err != nil {
		return c, err
	}
	if c.Returned < c.Began {
		return c, fmt.Errorf("it returned at %d and began at %d", c.Returned, c.Began)
	}
	for _, s := range f[4:] {
		if !strings.Contains(s, ":") {
			c.Synced = append(c.Synced, s)
			continue
		}
		r, err := parseRange(s)
		if err != nil {
			return c, fmt.Errorf("%q: %w", s, err)
		}
		if r.At += c.Began; r.At > c.Returned {
			return c, fmt.Errorf("%q: after it returned", s)
		}
		c.Wrote = append(c.Wrote, r)
	}
	return c, nil
}

func parseTime(s string) (int64, error) {
	t, err := strconv.ParseInt(s, 10, 64)
	if err == nil && (t < 0 || t >= latest) {
		err = fmt.Errorf("the time %d", t)
	}
	return t, err
}

// parseRange reads DEV:SECTOR+SECTORS@SINCE[m]; At is since the call began.
func parseRange(s string) (r Range, err error) {
	s, r.Metadata = strings.CutSuffix(s, "m")
	dev, rest, okDev := strings.Cut(s, ":")
	sector, rest, okSector := strings.Cut(rest, "+")
	sectors, since, okSince := strings.Cut(rest, "@")
	if !okDev || !okSector || !okSince {
		return r, fmt.Errorf("expected DEV:SECTOR+SECTORS@SINCE")
	}
	r.Dev = dev
	if r.Sector, err = strconv.ParseUint(sector, 10, 54); err != nil { // bytes are below 2^63
		return r, err
	}
	if r.Sectors, err = strconv.ParseUint(sectors, 10, 32); err != nil {
		return r, err
	}
	if r.Sectors == 0 {
		return r, fmt.Errorf("no sectors")
	}
	r.At, err = parseTime(since)
	return r, err
}
