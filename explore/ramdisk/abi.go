package ramdisk

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"

	"fsward/explore/device"
)

// ABI is the version that this package speaks: FSW_RD_ABI.
const ABI = 1

// Limits of the module.
const (
	PageSize     = 4096    // FSW_RD_PAGE
	SectorSize   = 512     // FSW_RD_SECTOR
	MaxDisks     = 8       // FSW_RD_DISKS
	MaxBytes     = 1 << 36 // FSW_RD_MAX_BYTES
	MaxSnapshots = 64      // FSW_RD_SNAPSHOTS, of a disk
	MaxRules     = 16      // FSW_RD_RULES, of a disk
	MaxName      = 31      // FSW_RD_NAME less its zero
	MaxText      = 256     // FSW_RD_TEXT
	maxNumbers   = 256     // FSW_RD_NUMBERS
	MaxDelayMS   = 60000   // FSW_RD_DELAY_MS
)

func command(dir, nr, size uint32) uint32 { return device.Command(dir, 0xf5, nr, size) }

// Sizes of the structs, bytes.
const (
	helloSize    = 40
	diskSize     = 16
	switchSize   = 8
	markSize     = 8 + MaxText
	snapshotSize = 16 + MaxName + 1
	changedSize  = 16 + MaxName + 1 + 8*maxNumbers
	pageSize     = 16 + PageSize
	ruleSize     = 40
	numberSize   = 8
	statSize     = 72
	answerSize   = 16
	recordSize   = 96
)

var (
	cmdHello    = command(device.Read, 0, helloSize)
	cmdDisk     = command(device.Write, 1, diskSize)
	cmdLog      = command(device.Write, 2, switchSize)
	cmdMark     = command(device.Write, 3, markSize)
	cmdSnapshot = command(device.Write, 4, snapshotSize)
	cmdRestore  = command(device.Write|device.Read, 5, snapshotSize)
	cmdDrop     = command(device.Write, 6, snapshotSize)
	cmdChanged  = command(device.Write|device.Read, 7, changedSize)
	cmdPageGet  = command(device.Write|device.Read, 8, pageSize)
	cmdPageSet  = command(device.Write, 9, pageSize)
	cmdInject   = command(device.Write, 10, ruleSize)
	cmdClear    = command(device.Write, 11, numberSize)
	cmdStat     = command(device.Write|device.Read, 12, statSize)
	cmdGuard    = command(device.Write, 13, switchSize)
	cmdAnswer   = command(device.Write, 14, answerSize)
)

var le = binary.LittleEndian // the module runs on amd64

// Hello is what the module says of itself: struct fsw_rd_hello.
type Hello struct {
	ABI      uint32
	Disks    uint32 // that there are
	LogBytes uint64 // size of the log; 0 before it is first used
	LogUsed  uint64 // bytes in it
	Lost     uint64 // records that did not fit, ever
	Pages    int64  // of contents that the module holds
}

func (h *Hello) decode(b *[helloSize]byte) {
	*h = Hello{le.Uint32(b[0:]), le.Uint32(b[4:]), le.Uint64(b[8:]), le.Uint64(b[16:]), le.Uint64(b[24:]), int64(le.Uint64(b[32:]))}
}

// Stat is the state of a disk: struct fsw_rd_stat.
type Stat struct {
	Disk      uint32
	Logging   bool
	Bytes     uint64
	Pages     uint64 // that hold its contents
	Kept      uint64 // that hold what snapshots have and it has no more
	Snapshots uint32 // with a name
	Rules     uint32 // that can still fire
	Fired     uint64 // times that rules fired, ever
	Submitted uint64 // bios, ever
	Completed uint64
	NoMemory  uint64 // bios that failed for want of memory
}

func (s *Stat) decode(b *[statSize]byte) {
	*s = Stat{Disk: le.Uint32(b[0:]), Logging: le.Uint32(b[4:]) != 0, Bytes: le.Uint64(b[8:]), Pages: le.Uint64(b[16:]),
		Kept: le.Uint64(b[24:]), Snapshots: le.Uint32(b[32:]), Rules: le.Uint32(b[36:]), Fired: le.Uint64(b[40:]),
		Submitted: le.Uint64(b[48:]), Completed: le.Uint64(b[56:]), NoMemory: le.Uint64(b[64:])}
}

// Op is what a bio does. The zero value is one that the disk does not have.
type Op uint16

const (
	Read    Op = 1 + iota // FSW_RD_READ
	Write                 // FSW_RD_WRITE
	Flush                 // FSW_RD_FLUSH: without data
	Discard               // FSW_RD_DISCARD
	Zeroes                // FSW_RD_ZEROES
)

func (o Op) String() string {
	if o > Zeroes {
		o = 0
	}
	return [...]string{"unknown", "read", "write", "flush", "discard", "zeroes"}[o]
}

// Flags of a bio.
type Flags uint32

const (
	FUA        Flags = 1 << iota // FSW_RD_F_FUA
	Preflush                     // FSW_RD_F_PREFLUSH
	Meta                         // FSW_RD_F_META
	Sync                         // FSW_RD_F_SYNC
	Prio                         // FSW_RD_F_PRIO
	Readahead                    // FSW_RD_F_RAHEAD
	Background                   // FSW_RD_F_BACKGROUND
	NoUnmap                      // FSW_RD_F_NOUNMAP
)

// Action is what a rule does to a bio. The zero value is invalid.
type Action uint32

const (
	Fail      Action = 1 + iota // FSW_RD_FAIL: it ends with Error; nothing takes effect
	Delay                       // FSW_RD_DELAY: it is done Arg ms later; what comes after is not held up
	Tear                        // FSW_RD_TEAR: of a write only the first Arg sectors take effect
	DropFlush                   // FSW_RD_DROP_FLUSH: its flush is not done, and no error says so
)

// A Rule hits bios of a disk: struct fsw_rd_rule.
type Rule struct {
	Action Action
	Ops    []Op   // those that count; none for DropFlush, which counts flushes, those before writes too
	Error  uint32 // errno of Fail; of Tear too, or 0: it seems to succeed
	Nth    uint64 // the first that is hit, counted from when the rule is added, from 1
	Times  uint64 // how many from there on; of Delay 1
	Arg    uint64
}

func (r *Rule) encode(disk uint32) []byte {
	b := make([]byte, 0, ruleSize)
	ops := uint32(0)
	for _, op := range r.Ops {
		ops |= 1 << (op & 31)
	}
	b = le.AppendUint32(b, disk)
	b = le.AppendUint32(b, uint32(r.Action))
	b = le.AppendUint32(b, ops)
	b = le.AppendUint32(b, r.Error)
	b = le.AppendUint64(b, r.Nth)
	b = le.AppendUint64(b, r.Times)
	return le.AppendUint64(b, r.Arg)
}

// encodeName makes what begins struct fsw_rd_snapshot, and, with another number for pages, fsw_rd_changed.
func encodeName(disk uint32, number uint64, name string) ([]byte, error) {
	if name == "" || len(name) > MaxName || bytes.IndexByte([]byte(name), 0) >= 0 {
		return nil, fmt.Errorf("snapshot name %q: 1 to %d bytes without zeros are possible", name, MaxName)
	}
	b := make([]byte, snapshotSize)
	le.PutUint32(b, disk)
	le.PutUint64(b[8:], number)
	copy(b[16:], name)
	return b, nil
}

// Injected is the set of actions that rules took on a bio.
type Injected uint32

// Has tells whether a rule with this action fired.
func (i Injected) Has(a Action) bool { return i&(1<<(a&31)) != 0 }

// Count returns how many different actions were taken.
func (i Injected) Count() int { return bits.OnesCount32(uint32(i)) }
