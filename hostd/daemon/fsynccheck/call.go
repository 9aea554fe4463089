// Package fsynccheck checks that the calls of a guest that promise durability (sync, syncfs, fsync,
// fdatasync, msync with MS_SYNC) waited for their flushes. A call came too early if it returned
// with success while a write that it promised was neither flushed nor FUA. It does not matter
// whether the file system, the block layer or the hypervisor is to blame, and no crash is needed.
//
// The check compares two sides that do not know of each other. In the guest, fswcalls reads the
// kernel's own trace events, without a module, and reports when each call ran and which writes its
// thread submitted meanwhile. On the host, a Diary has the time of each write and each flush on the
// disk itself. A Clock compares the two times within bounds: what the bounds do not decide is not
// reported. Start reading at account.judge.
package fsynccheck

import (
	"fmt"
	"strconv"
	"strings"
)

// Port is the name of the virtio-serial port.
const Port = "org.fsward.calls"

// Version is the version of the protocol. fswcalls sends these lines:
//
//	fswcalls VERSION
//	disk DEV NAME           a disk with its serial, which is its name on the host
//	pong N TIME             the answer to ping N
//	call CALL THREAD BEGAN RETURNED [DEV …] [DEV:SECTOR+SECTORS@SINCE[m] …]
//	lost                    trace events were lost: calls are missing
//
// It receives lines "ping N". Times are nanoseconds of the guest's CLOCK_MONOTONIC; SINCE counts
// from the beginning of the call. DEV is the number of a device as MAJOR,MINOR; m stands for
// REQ_META.
const Version = 1

// Bounds of a line.
const (
	maxLine  = 32 << 10 // bytes
	maxParts = 512      // devices and ranges of a call; further ones are left out
)

// A Range is the range that one bio writes.
type Range struct {
	Dev      string // MAJOR,MINOR
	Sector   uint64
	Sectors  uint64
	At       int64 // time of its submission: guest time, ns
	Metadata bool  // REQ_META
}

// A Call is a call that promises durability and has returned with success.
type Call struct {
	Name            string // of the system call: "fsync"
	Thread          int
	Began, Returned int64 // guest time, ns
	// for sync and syncfs: the devices whose file system was synced, MAJOR,MINOR
	Synced []string
	Wrote  []Range // for all others: the writes of its own thread while it ran
}

// size returns about how many bytes of memory a call takes.
func (c *Call) size() int { return 128 + 32*len(c.Synced) + 96*len(c.Wrote) }

// String returns the call's line.
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

// names lists the calls that promise durability, and whether they promise it for the whole file
// system.
var names = map[string]bool{"sync": true, "syncfs": true, "fsync": false, "fdatasync": false,
	"msync": false}

// latest bounds times to 146 years, so that sums of two do not overflow.
const latest = 1 << 62

// parseCall parses the text that follows "call " in a line.
func parseCall(text string) (c Call, err error) {
	f := strings.Fields(text)
	if len(f) < 4 || len(f) > 4+maxParts {
		return c, fmt.Errorf("the call has %d fields, expected 4 to %d", len(f), 4+maxParts)
	}
	if _, known := names[f[0]]; !known {
		return c, fmt.Errorf("unknown call %q", f[0])
	}
	c.Name = strings.Clone(f[0]) // a part of a line keeps the line
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
		return c, fmt.Errorf("the call returned at %d, before it began at %d", c.Returned, c.Began)
	}
	for _, s := range f[4:] {
		if !strings.Contains(s, ":") {
			dev, err := parseDevice(s)
			if err != nil {
				return c, err
			}
			c.Synced = append(c.Synced, dev)
			continue
		}
		r, err := parseRange(s)
		if err != nil {
			return c, fmt.Errorf("%q: %w", s, err)
		}
		if r.At += c.Began; r.At > c.Returned {
			return c, fmt.Errorf("%q: the write is later than the return of the call", s)
		}
		c.Wrote = append(c.Wrote, r)
	}
	return c, nil
}

// parseDevice returns the name of a device as a string of its own: a part of a line would keep the
// line.
func parseDevice(s string) (string, error) {
	if len(s) > maxDeviceLen {
		return "", fmt.Errorf("a device whose name has %d bytes", len(s))
	}
	return strings.Clone(s), nil
}

func parseTime(s string) (int64, error) {
	t, err := strconv.ParseInt(s, 10, 64)
	if err == nil && (t < 0 || t >= latest) {
		err = fmt.Errorf("the time %d is out of range", t)
	}
	return t, err
}

// parseRange parses DEV:SECTOR+SECTORS@SINCE[m]. At is the time since the call began.
func parseRange(s string) (r Range, err error) {
	s, r.Metadata = strings.CutSuffix(s, "m")
	dev, rest, okDev := strings.Cut(s, ":")
	sector, rest, okSector := strings.Cut(rest, "+")
	sectors, since, okSince := strings.Cut(rest, "@")
	if !okDev || !okSector || !okSince {
		return r, fmt.Errorf("expected DEV:SECTOR+SECTORS@SINCE")
	}
	if r.Dev, err = parseDevice(dev); err != nil {
		return r, err
	}
	if r.Sector, err = strconv.ParseUint(sector, 10, 54); err != nil { // bytes are below 2^63
		return r, err
	}
	if r.Sectors, err = strconv.ParseUint(sectors, 10, 32); err != nil {
		return r, err
	}
	if r.Sectors == 0 {
		return r, fmt.Errorf("the write has no sectors")
	}
	r.At, err = parseTime(since)
	return r, err
}
