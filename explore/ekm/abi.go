package ekm

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"fsward/explore/device"
)

// ABI is the version that this package speaks: FSW_EK_ABI.
const ABI = 1

// Limits of the module.
const (
	MaxChoices  = 16384 // FSW_EK_CHOICES: of a run, loaded or taken
	MaxBound    = 65536 // FSW_EK_BOUND: the largest n of choose(n)
	MaxSites    = 2048  // FSW_EK_SITES: of all points
	MaxMembers  = 64    // FSW_EK_MEMBERS
	MaxDevices  = 8     // FSW_EK_DEVICES
	MaxHeld     = 64    // FSW_EK_HELD: threads
	MaxText     = 79    // FSW_EK_TEXT less its zero: bytes of a site or a symbol
	MaxMark     = 256   // FSW_EK_MARK: bytes of a mark
	MaxData     = 4096  // FSW_EK_DATA: bytes of data of one record
	MaxPath     = 1023  // FSW_EK_PATH less its zero: bytes of a path in the log
	MaxWaitMS   = 10000 // FSW_EK_WAIT_MS: the longest wait for a thread
	valuesPer   = 512   // FSW_EK_VALUES_PER
	choicesPer  = 32    // FSW_EK_CHOICES_PER
	sitesPer    = 32    // FSW_EK_SITES_PER
	threadsPer  = 24    // FSW_EK_THREADS_PER
	commSize    = 16
	textSize    = MaxText + 1
	recordSize  = 104
	syscallSize = 80
	helloSize   = 48
	chooseSize  = 8 + textSize
	loadSize    = 8 + 4*valuesPer
	runSize     = 40
	choiceSize  = 48 + textSize
	takenSize   = 8 + choicesPer*choiceSize
	setSize     = 16 + textSize
	statSize    = 72
	siteSize    = 32 + textSize
	sitesSize   = 8 + sitesPer*siteSize
	memberSize  = 16
	watchSize   = 8
	logSize     = 8
	markSize    = 8 + MaxMark
	threadSize  = 64 + textSize
	threadsSize = 8 + threadsPer*threadSize
	holdSize    = 16
	strayedSize = 48
	straySize   = 8 + MaxHeld*strayedSize
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
)

var le = binary.LittleEndian // the module runs on amd64

// Point is where a choice is made. At those of the kernel 0 fails nothing, and 1 fails.
type Point uint32

const (
	Call       Point = iota // FSW_EK_CALL: Control.Choose, or fsw_ekm_choose() in the kernel
	Slab                    // FSW_EK_SLAB: an allocation from a slab
	Page                    // FSW_EK_PAGE: an allocation of pages
	BufferRead              // FSW_EK_BREAD: reading a buffer
	PageRead                // FSW_EK_READ: reading a page into the page cache
	UserMemory              // FSW_EK_USER: access to memory of user space
	Submit                  // FSW_EK_SUBMIT: a bio that is submitted fails and never reaches the disk
	End                     // FSW_EK_END: a bio took effect, and is said to have failed
	points
)

func (p Point) String() string {
	if p >= points {
		return fmt.Sprintf("point %d", uint32(p))
	}
	return [...]string{"call", "slab", "page", "buffer read", "page read", "user memory", "submit", "end"}[p]
}

// Points are those in the kernel.
func Points() []Point { return []Point{Slab, Page, BufferRead, PageRead, UserMemory, Submit, End} }

// Mode is what a point does.
type Mode uint32

const (
	Off   Mode = iota // FSW_EK_OFF
	Count             // FSW_EK_COUNT: hits are counted by their sites; nothing fails
	On                // FSW_EK_ON: each hit is a choose(2)
)

// What is logged.
type What uint32

const (
	Writes  What = 1 << iota // FSW_EK_LOG_WRITES: the write set of the devices that are watched
	Calls                    // FSW_EK_LOG_CALLS: system calls of members that change files
	Choices                  // FSW_EK_LOG_CHOICES
)

// Hello is what the module says of itself: struct fsw_ek_hello.
type Hello struct {
	ABI      uint32
	What     What   // that is logged
	Probes   uint32 // that are in place
	LogBytes uint64 // size of the log; 0 before it is first used
	LogUsed  uint64 // bytes in it
	Lost     uint64 // records that did not fit, ever
	Missed   uint64 // hits that probes could not take, since another was being handled, ever
}

func (h *Hello) decode(b *[helloSize]byte) {
	*h = Hello{le.Uint32(b[0:]), What(le.Uint32(b[4:])), le.Uint32(b[8:]), le.Uint64(b[16:]), le.Uint64(b[24:]), le.Uint64(b[32:]),
		le.Uint64(b[40:])}
}

// Run is the state of a run: struct fsw_ek_run.
type Run struct {
	Loaded     uint32 // values
	Taken      uint32 // choices since Start that are recorded
	Full       uint64 // that there was no room for: 0 was taken
	Diverged   uint64 // whose loaded value was not below the bound: 0 was taken
	Foreign    uint64 // calls of threads that are no members: 0 was given
	Interrupts uint64 // calls from interrupts: 0 was given
}

func (r *Run) decode(b *[runSize]byte) {
	*r = Run{le.Uint32(b[0:]), le.Uint32(b[4:]), le.Uint64(b[8:]), le.Uint64(b[16:]), le.Uint64(b[24:]), le.Uint64(b[32:])}
}

// Choice is one that was taken: struct fsw_ek_choice.
type Choice struct {
	Bound    uint32
	Value    uint32 // 0 to Bound-1
	Point    Point
	Replayed bool   // the value was loaded
	Diverged bool   // a value was loaded that is not below Bound; 0 was taken
	PID      uint32 // the thread
	TGID     uint32 // its process
	Stack    uint64 // hash of the call stack: the same in each boot of a kernel
	Comm     string
	Site     string // symbol+0xoffset, or what Choose was given
}

func decodeChoice(b *[choiceSize]byte) (Choice, error) {
	flags := le.Uint32(b[12:])
	c := Choice{Bound: le.Uint32(b[0:]), Value: le.Uint32(b[4:]), Point: Point(le.Uint32(b[8:])), Replayed: flags&1 != 0, Diverged: flags&2 != 0,
		PID: le.Uint32(b[16:]), TGID: le.Uint32(b[20:]), Stack: le.Uint64(b[24:]), Comm: text(b[32:48]), Site: text(b[48:])}
	if c.Point >= points || c.Bound == 0 || c.Value >= c.Bound {
		return c, fmt.Errorf("a choice of %d among %d at %v", c.Value, c.Bound, c.Point)
	}
	return c, nil
}

// PointStat is what a point has seen since it was set: struct fsw_ek_stat.
type PointStat struct {
	Mode       Mode
	Functions  uint32 // that are probed
	Hits       uint64 // by members, at the site if there is a limit
	Failed     uint64
	Elsewhere  uint64 // by members, at other sites
	Exempt     uint64 // by members: must not fail
	Foreign    uint64 // by threads that are no members
	Interrupts uint64
	Full       uint64 // hits at sites that there was no room for
}

func (s *PointStat) decode(b *[statSize]byte) {
	*s = PointStat{Mode(le.Uint32(b[4:])), le.Uint32(b[8:]), le.Uint64(b[16:]), le.Uint64(b[24:]), le.Uint64(b[32:]), le.Uint64(b[40:]),
		le.Uint64(b[48:]), le.Uint64(b[56:]), le.Uint64(b[64:])}
}

// Site is one of a point, with what happened there: struct fsw_ek_site.
type Site struct {
	Stack  uint64 // hash of the call stack
	Hits   uint64
	Failed uint64
	Point  Point
	Name   string // symbol+0xoffset of the first caller that does not allocate, read or copy for others
}

func decodeSite(b *[siteSize]byte) (Site, error) {
	s := Site{Stack: le.Uint64(b[0:]), Hits: le.Uint64(b[8:]), Failed: le.Uint64(b[16:]), Point: Point(le.Uint32(b[24:])), Name: text(b[32:])}
	if s.Point >= points || s.Failed > s.Hits {
		return s, fmt.Errorf("a site of %v with %d hits, %d failed", s.Point, s.Hits, s.Failed)
	}
	return s, nil
}

// Thread is one of the kernel: struct fsw_ek_thread.
type Thread struct {
	PID       uint32
	Worker    bool // it runs the items of work queues
	Rescuer   bool // a worker that waits until memory is short, named as its queue
	Held      bool
	Nice      int32
	Policy    uint32 // SCHED_*
	Switches  uint64 // context switches
	RunNS     uint64 // processor time, ns
	LastRunNS uint64 // when it last came to a processor, ns of sched_clock()
	Events    uint64 // of the write-set log that it caused, ever
	Comm      string
	Work      string // the function of the work item with which it last did, symbol+0x0
}

func decodeThread(b *[threadSize]byte) Thread {
	flags := le.Uint32(b[4:])
	return Thread{PID: le.Uint32(b[0:]), Worker: flags&1 != 0, Rescuer: flags&2 != 0, Held: flags&4 != 0, Nice: int32(le.Uint32(b[8:])),
		Policy: le.Uint32(b[12:]), Switches: le.Uint64(b[16:]), RunNS: le.Uint64(b[24:]), LastRunNS: le.Uint64(b[32:]),
		Events: le.Uint64(b[40:]), Comm: text(b[48:64]), Work: text(b[64:])}
}

// Strayed is a thread that ran though it was held: struct fsw_ek_strayed.
type Strayed struct {
	PID       uint32
	RunNS     uint64 // that it ran, ns
	Switches  uint64
	LastRunNS uint64
	Comm      string
}

func decodeStrayed(b *[strayedSize]byte) Strayed {
	return Strayed{le.Uint32(b[0:]), le.Uint64(b[8:]), le.Uint64(b[16:]), le.Uint64(b[24:]), text(b[32:])}
}

// list decodes the items of an answer: a count in its second word, and the items after it.
func list[T any](b []byte, size int, decode func(item []byte) (T, error)) ([]T, error) {
	n := int(le.Uint32(b[4:]))
	if n > (len(b)-8)/size {
		return nil, fmt.Errorf("an answer of %d items, %d fit", n, (len(b)-8)/size)
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

// text reads one that ends in a zero.
func text(b []byte) string {
	s, _, _ := bytes.Cut(b, []byte{0})
	return string(s)
}

// putText writes one with its zero, or refuses one that has no room or has a zero within.
func putText(b []byte, s string) error {
	if len(s) >= len(b) || bytes.IndexByte([]byte(s), 0) >= 0 {
		return fmt.Errorf("%q: at most %d bytes without zeros are possible", s, len(b)-1)
	}
	copy(b, s)
	return nil
}
