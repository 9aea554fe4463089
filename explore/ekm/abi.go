package ekm

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"fsward/explore/device"
)

// ABI is the version of the module's interface: FSW_EK_ABI.
const ABI = 3

// Limits of the module.
const (
	MaxChoices = 16384 // FSW_EK_CHOICES: choices of a run, loaded or taken
	MaxBound   = 65536 // FSW_EK_BOUND: the largest bound of a choice
	MaxSites   = 2048  // FSW_EK_SITES: sites of all points together
	MaxMembers = 64    // FSW_EK_MEMBERS: process trees and threads of the checked system
	MaxDevices = 8     // FSW_EK_DEVICES: watched devices
	MaxHeld    = 64    // FSW_EK_HELD: held threads
	MaxText    = 79    // FSW_EK_TEXT without the terminating zero: bytes of a site or a symbol
	MaxMark    = 256   // FSW_EK_MARK: bytes of a mark
	MaxData    = 4096  // FSW_EK_DATA: bytes of data of one record
	MaxPath    = 1023  // FSW_EK_PATH without the terminating zero: bytes of a path in the log
	MaxWaitMS  = 10000 // FSW_EK_WAIT_MS: the longest wait for a thread
)

// Numbers of items in one command or answer.
const (
	valuesPer  = 512 // FSW_EK_VALUES_PER
	choicesPer = 32  // FSW_EK_CHOICES_PER
	sitesPer   = 32  // FSW_EK_SITES_PER
	threadsPer = 24  // FSW_EK_THREADS_PER
	edgesPer   = 8   // FSW_EK_EDGES_PER

	maxFindings = 16  // FSW_EK_FINDINGS
	findingText = 192 // FSW_EK_FINDING
	maxGates    = 4   // FSW_EK_GATES
	lockName    = 32  // FSW_EK_LOCK_NAME
)

// Sizes of the structs in bytes. unscheduledSize is that of struct fsw_ek_strayed.
const (
	textSize        = MaxText + 1
	recordSize      = 112
	syscallSize     = 80
	helloSize       = 48
	chooseSize      = 8 + textSize
	loadSize        = 8 + 4*valuesPer
	runSize         = 40
	choiceSize      = 48 + textSize
	takenSize       = 8 + choicesPer*choiceSize
	setSize         = 16 + textSize
	statSize        = 72
	siteSize        = 32 + textSize
	sitesSize       = 8 + sitesPer*siteSize
	memberSize      = 16
	watchSize       = 8
	logSize         = 8
	markSize        = 8 + MaxMark
	threadSize      = 64 + textSize
	threadsSize     = 8 + threadsPer*threadSize
	holdSize        = 16
	unscheduledSize = 48
	straySize       = 8 + MaxHeld*unscheduledSize
	checkSize       = 8
	findingSize     = 24 + findingText
	findingsSize    = 8 + maxFindings*findingSize
	edgeSize        = 48 + 8*maxGates + 2*lockName + 2*textSize
	edgesSize       = 8 + edgesPer*edgeSize
)

func command(dir, nr, size uint32) uint32 { return device.Command(dir, 0xf6, nr, size) }

var (
	cmdHello   = command(device.Read, 0, helloSize)
	cmdChoose  = command(device.Write|device.Read, 1, chooseSize)
	cmdLoad    = command(device.Write, 2, loadSize)
	cmdStart   = command(device.None, 3, 0)
	cmdState   = command(device.Read, 4, runSize)
	cmdTaken   = command(device.Write|device.Read, 5, takenSize)
	cmdSet     = command(device.Write, 6, setSize)
	cmdStat    = command(device.Write|device.Read, 7, statSize)
	cmdSites   = command(device.Write|device.Read, 8, sitesSize)
	cmdMember  = command(device.Write, 9, memberSize)
	cmdWatch   = command(device.Write, 10, watchSize)
	cmdLog     = command(device.Write, 11, logSize)
	cmdMark    = command(device.Write, 12, markSize)
	cmdThreads = command(device.Write|device.Read, 13, threadsSize)
	cmdHold    = command(device.Write|device.Read, 14, holdSize)
	cmdStray   = command(device.Read, 15, straySize)

	cmdCheck    = command(device.Write, 16, checkSize)
	cmdFindings = command(device.Read, 17, findingsSize)
	cmdEdges    = command(device.Write|device.Read, 18, edgesSize)
)

var le = binary.LittleEndian // the module runs on amd64

// Point is a choice point. At the points in the kernel the choice 0 does nothing, and 1 makes the
// operation fail.
type Point uint32

const (
	Call       Point = iota // FSW_EK_CALL: Control.Choose, or fsw_ekm_choose() in the kernel
	Slab                    // FSW_EK_SLAB: an allocation from a slab
	Page                    // FSW_EK_PAGE: an allocation of pages
	BufferRead              // FSW_EK_BREAD: a read of a buffer
	PageRead                // FSW_EK_READ: a read of a page into the page cache
	UserMemory              // FSW_EK_USER: an access to memory of user space
	Submit                  // FSW_EK_SUBMIT: a bio fails at submission, and never reaches the disk
	End                     // FSW_EK_END: a bio takes effect, and then reports an error
	points
)

func (p Point) String() string {
	if p >= points {
		return fmt.Sprintf("point %d", uint32(p))
	}
	return [...]string{
		"call", "slab", "page", "buffer read", "page read", "user memory", "submit", "end",
	}[p]
}

// Points returns the choice points in the kernel: all but Call.
func Points() []Point { return []Point{Slab, Page, BufferRead, PageRead, UserMemory, Submit, End} }

// Mode is what a point does when it is hit.
type Mode uint32

const (
	Off   Mode = iota // FSW_EK_OFF: nothing
	Count             // FSW_EK_COUNT: it counts the hit by its site; nothing fails
	On                // FSW_EK_ON: it takes a choice of two
)

// What is the set of events that the module logs.
type What uint32

const (
	Writes  What = 1 << iota // FSW_EK_LOG_WRITES: the write set of the watched devices
	Calls                    // FSW_EK_LOG_CALLS: system calls of members that change files
	Choices                  // FSW_EK_LOG_CHOICES
)

// Hello is the state of the module: struct fsw_ek_hello. Lost and Missed count since the module was
// loaded.
type Hello struct {
	ABI      uint32
	What     What   // what is logged
	Probes   uint32 // number of probes in place
	LogBytes uint64 // size of the log; 0 before its first use
	LogUsed  uint64 // bytes in the log
	Lost     uint64 // records that did not fit into the log
	Missed   uint64 // hits of probes that were missed, because another was being handled
}

func (h *Hello) decode(b *[helloSize]byte) {
	*h = Hello{
		ABI:      le.Uint32(b[0:]),
		What:     What(le.Uint32(b[4:])),
		Probes:   le.Uint32(b[8:]),
		LogBytes: le.Uint64(b[16:]),
		LogUsed:  le.Uint64(b[24:]),
		Lost:     le.Uint64(b[32:]),
		Missed:   le.Uint64(b[40:]),
	}
}

// Run is the state of a run: struct fsw_ek_run. In the cases that the last four fields count, the
// value of the choice was 0.
type Run struct {
	Loaded     uint32 // number of loaded values
	Taken      uint32 // number of recorded choices since Start
	Full       uint64 // choices that were not recorded, because MaxChoices were
	Diverged   uint64 // choices with a loaded value that was not below the bound
	Foreign    uint64 // calls by threads that are no members
	Interrupts uint64 // calls from interrupts
}

func (r *Run) decode(b *[runSize]byte) {
	*r = Run{
		Loaded:     le.Uint32(b[0:]),
		Taken:      le.Uint32(b[4:]),
		Full:       le.Uint64(b[8:]),
		Diverged:   le.Uint64(b[16:]),
		Foreign:    le.Uint64(b[24:]),
		Interrupts: le.Uint64(b[32:]),
	}
}

// Choice is a choice that was taken: struct fsw_ek_choice.
type Choice struct {
	Bound    uint32
	Value    uint32 // 0 to Bound-1
	Point    Point
	Replayed bool   // a value was loaded for this choice
	Diverged bool   // the loaded value was not below Bound, so that 0 was taken
	PID      uint32 // of the thread
	TGID     uint32 // of its process
	Stack    uint64 // hash of the call stack, the same in each boot of a kernel
	Comm     string // name of the thread
	Site     string // symbol+0xoffset, or the site that Choose was given
}

func decodeChoice(b *[choiceSize]byte) (Choice, error) {
	flags := le.Uint32(b[12:])
	c := Choice{
		Bound:    le.Uint32(b[0:]),
		Value:    le.Uint32(b[4:]),
		Point:    Point(le.Uint32(b[8:])),
		Replayed: flags&1 != 0,
		Diverged: flags&2 != 0,
		PID:      le.Uint32(b[16:]),
		TGID:     le.Uint32(b[20:]),
		Stack:    le.Uint64(b[24:]),
		Comm:     text(b[32:48]),
		Site:     text(b[48:]),
	}
	if c.Point >= points || c.Bound == 0 || c.Value >= c.Bound {
		return c, fmt.Errorf("invalid choice: value %d, bound %d, %v", c.Value, c.Bound, c.Point)
	}
	return c, nil
}

// PointStat counts what happened at a point since it was set: struct fsw_ek_stat.
type PointStat struct {
	Mode       Mode
	Functions  uint32 // number of functions that are probed
	Hits       uint64 // hits by members; with a limit, only at its sites
	Failed     uint64 // hits that failed
	Elsewhere  uint64 // hits by members that the limit excluded
	Exempt     uint64 // hits by members of calls that must not fail
	Foreign    uint64 // hits by threads that are no members
	Interrupts uint64 // hits in interrupts
	Full       uint64 // hits that were not counted by site, because MaxSites were
}

func (s *PointStat) decode(b *[statSize]byte) {
	*s = PointStat{
		Mode:       Mode(le.Uint32(b[4:])),
		Functions:  le.Uint32(b[8:]),
		Hits:       le.Uint64(b[16:]),
		Failed:     le.Uint64(b[24:]),
		Elsewhere:  le.Uint64(b[32:]),
		Exempt:     le.Uint64(b[40:]),
		Foreign:    le.Uint64(b[48:]),
		Interrupts: le.Uint64(b[56:]),
		Full:       le.Uint64(b[64:]),
	}
}

// Site is a call site of a point, with what happened there: struct fsw_ek_site.
type Site struct {
	Stack  uint64 // hash of the call stack
	Hits   uint64
	Failed uint64 // hits that failed
	Point  Point
	// Name is symbol+0xoffset of the innermost caller that is not a function that allocates, reads or
	// copies for others.
	Name string
}

func decodeSite(b *[siteSize]byte) (Site, error) {
	s := Site{
		Stack:  le.Uint64(b[0:]),
		Hits:   le.Uint64(b[8:]),
		Failed: le.Uint64(b[16:]),
		Point:  Point(le.Uint32(b[24:])),
		Name:   text(b[32:]),
	}
	if s.Point >= points || s.Failed > s.Hits {
		return s, fmt.Errorf("invalid site of %v: %d hits, %d failed", s.Point, s.Hits, s.Failed)
	}
	return s, nil
}

// Thread is a thread of the kernel: struct fsw_ek_thread.
type Thread struct {
	PID       uint32
	Worker    bool // it runs items of work queues
	Rescuer   bool // a worker for times of short memory, with the name of its queue
	Held      bool
	Nice      int32
	Policy    uint32 // SCHED_*
	Switches  uint64 // context switches
	RunNS     uint64 // processor time, ns
	LastRunNS uint64 // when it last came to a processor, ns of sched_clock()
	Events    uint64 // events of the write-set log that it caused
	Comm      string // its name
	Work      string // function of the work item that caused the last event, symbol+0x0
}

func decodeThread(b *[threadSize]byte) Thread {
	flags := le.Uint32(b[4:])
	return Thread{
		PID:       le.Uint32(b[0:]),
		Worker:    flags&1 != 0,
		Rescuer:   flags&2 != 0,
		Held:      flags&4 != 0,
		Nice:      int32(le.Uint32(b[8:])),
		Policy:    le.Uint32(b[12:]),
		Switches:  le.Uint64(b[16:]),
		RunNS:     le.Uint64(b[24:]),
		LastRunNS: le.Uint64(b[32:]),
		Events:    le.Uint64(b[40:]),
		Comm:      text(b[48:64]),
		Work:      text(b[64:]),
	}
}

// Unscheduled is a thread that ran although it was held: struct fsw_ek_strayed.
type Unscheduled struct {
	PID       uint32
	RunNS     uint64 // processor time while held, ns
	Switches  uint64 // context switches while held
	LastRunNS uint64 // when it last came to a processor, ns of sched_clock()
	Comm      string // its name
}

func decodeUnscheduled(b *[unscheduledSize]byte) Unscheduled {
	return Unscheduled{
		PID:       le.Uint32(b[0:]),
		RunNS:     le.Uint64(b[8:]),
		Switches:  le.Uint64(b[16:]),
		LastRunNS: le.Uint64(b[24:]),
		Comm:      text(b[32:]),
	}
}

// list decodes the items of an answer. Its second word is their number, and they follow it.
func list[T any](b []byte, size int, decode func(item []byte) (T, error)) ([]T, error) {
	n := int(le.Uint32(b[4:]))
	if n > (len(b)-8)/size {
		return nil, fmt.Errorf("an answer of %d items, want at most %d", n, (len(b)-8)/size)
	}
	out := make([]T, 0, n)
	for i := range n {
		item, err := decode(b[8+i*size:][:size])
		if err != nil {
			return nil, err
		}
		out = append(out, item)
	}
	return out, nil
}

// text returns the text in b before its first zero.
func text(b []byte) string {
	s, _, _ := bytes.Cut(b, []byte{0})
	return string(s)
}

// putText writes a text and a zero to b. A text that does not fit or contains a zero is an error.
func putText(b []byte, s string) error {
	if len(s) >= len(b) || bytes.IndexByte([]byte(s), 0) >= 0 {
		return fmt.Errorf("%q: want at most %d bytes without zeros", s, len(b)-1)
	}
	copy(b, s)
	return nil
}
