package fsynccheck

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Events are the trace events that a Tracer reads, with their filters.
var Events = map[string]string{
	"syscalls/sys_enter_sync": "", "syscalls/sys_exit_sync": "",
	"syscalls/sys_enter_syncfs": "", "syscalls/sys_exit_syncfs": "",
	"syscalls/sys_enter_fsync": "", "syscalls/sys_exit_fsync": "",
	"syscalls/sys_enter_fdatasync": "", "syscalls/sys_exit_fdatasync": "",
	"syscalls/sys_enter_msync": "flags & 4", "syscalls/sys_exit_msync": "", // MS_SYNC
	"block/block_bio_queue": `rwbs ~ "*W*"`,
	"ext4/ext4_sync_fs":     "wait == 1",
	"btrfs/btrfs_sync_fs":   "wait == 1",
}

// maxThreads bounds the calls that run at the same time. There are fewer threads (PID_MAX_LIMIT is
// 4 million, but memory ends before).
const maxThreads = 1 << 16

// A Tracer turns the lines of trace_pipe into calls. It runs in the guest.
type Tracer struct {
	// Watched reports whether a device, MAJOR,MINOR, is watched.
	Watched func(dev string) bool
	// Devices returns the devices of the Btrfs with a UUID, MAJOR,MINOR.
	Devices func(uuid string) []string

	running map[int]*Call // by thread
}

// Line takes a line. done is a call that has returned. lost reports that events were lost, so that
// calls are missing. Line ignores a line that is not as the kernel writes it: a program may have a
// line feed in its name.
//
// The kernel's trace_print_context writes the name in 16 columns, "-", the thread's number, the
// processor, five flags and the time.
func (t *Tracer) Line(line string) (done *Call, lost bool) {
	if strings.HasPrefix(line, "CPU:") && strings.Contains(line, " EVENTS]") {
		clear(t.running)
		return nil, true
	}
	if len(line) < 17 || line[16] != '-' {
		return nil, false
	}
	f := strings.Fields(line[17:])
	if len(f) < 5 {
		return nil, false
	}
	thread, err := strconv.Atoi(f[0])
	if err != nil {
		return nil, false
	}
	at, err := stamp(f[3])
	if err != nil {
		return nil, false
	}
	call := t.running[thread]
	switch what := f[4]; {
	case strings.HasPrefix(what, "sys_"):
		name, _, enters := strings.Cut(strings.TrimPrefix(what, "sys_"), "(")
		if _, known := names[name]; !known {
			return nil, false
		}
		if enters {
			t.enter(&Call{Name: name, Thread: thread, Began: at - rounding})
			return nil, false
		}
		delete(t.running, thread)
		if call == nil || call.Name != name || f[len(f)-1] != "0x0" {
			return nil, false
		}
		call.Returned = max(at+rounding, call.Began)
		for _, r := range call.Wrote { // by the clock of another processor
			call.Returned = max(call.Returned, r.At)
		}
		return call, false
	case call == nil || len(call.Synced)+len(call.Wrote) >= maxParts:
	case what == "block_bio_queue:" && len(f) >= 10 && !names[call.Name]:
		t.bio(call, f[5:10], at)
	case what == "ext4_sync_fs:" && len(f) >= 7 && names[call.Name]:
		t.synced(call, f[6]) // dev 254,16 wait 1
	case what == "btrfs_sync_fs:" && len(f) >= 6 && names[call.Name]:
		t.synced(call, t.Devices(strings.TrimSuffix(f[5], ":"))...)
	}
	return nil, false
}

func (t *Tracer) enter(c *Call) {
	if t.running == nil || len(t.running) >= maxThreads {
		t.running = make(map[int]*Call)
	}
	t.running[c.Thread] = c
}

func (t *Tracer) synced(c *Call, devs ...string) {
	for _, dev := range devs {
		if t.Watched(dev) {
			c.Synced = append(c.Synced, dev)
		}
	}
}

// bio takes a bio that a thread has submitted: "254,16 WS 2048 + 8".
func (t *Tracer) bio(c *Call, f []string, at int64) {
	sector, err := strconv.ParseUint(f[2], 10, 54)
	sectors, err2 := strconv.ParseUint(f[4], 10, 32)
	if err != nil || err2 != nil || sectors == 0 || !t.Watched(f[0]) {
		return // a bare flush has no data
	}
	c.Wrote = append(c.Wrote, Range{Dev: f[0], Sector: sector, Sectors: sectors,
		Metadata: strings.Contains(f[1], "M"), At: max(at-rounding, c.Began)})
}

// rounding is the rounding of times: they are printed in microseconds, rounded to the nearest.
const rounding = 1000

// stamp parses "123.456789:".
func stamp(s string) (int64, error) {
	s, okEnd := strings.CutSuffix(s, ":")
	sec, frac, okDot := strings.Cut(s, ".")
	if !okEnd || !okDot || len(frac) != 6 {
		return 0, fmt.Errorf("%q is not a time", s)
	}
	ns, err := parseTime(sec + frac + "000")
	if err == nil && ns < rounding {
		err = fmt.Errorf("%q is before anything runs", s)
	}
	return ns, err
}

// EventNames lists Events in order.
func EventNames() []string { return slices.Sorted(maps.Keys(Events)) }
