package ramdisk

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"

	"fsward/explore/device"
)

// ABI is the version of the module's interface: FSW_RD_ABI.
const ABI = 1

// Limits of the module.
const (
	PageSize     = 4096    // FSW_RD_PAGE: bytes
	SectorSize   = 512     // FSW_RD_SECTOR: bytes
	MaxDisks     = 8       // FSW_RD_DISKS
	MaxBytes     = 1 << 36 // FSW_RD_MAX_BYTES: of a disk
	MaxSnapshots = 64      // FSW_RD_SNAPSHOTS: of a disk
	MaxRules     = 16      // FSW_RD_RULES: of a disk
	MaxName      = 31      // FSW_RD_NAME without the terminating zero: bytes
	MaxText      = 256     // FSW_RD_TEXT: bytes of a mark
	maxNumbers   = 256     // FSW_RD_NUMBERS: pages in one answer
	MaxDelayMS   = 60000   // FSW_RD_DELAY_MS
)

func command(dir, nr, size uint32) uint32 { return device.Command(dir, 0xf5, nr, size) }

// Sizes of the structs in bytes.
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

// Hello is the state of the module: struct fsw_rd_hello.
type Hello struct {
	ABI      uint32
	Disks    uint32 // number of disks
	LogBytes uint64 // size of the log; 0 before its first use
	LogUsed  uint64 // bytes in the log
	Lost     uint64 // records that did not fit into the log, since the module was loaded
	Pages    int64  // pages of memory for the contents of disks and snapshots
}

func (h *Hello) decode(b *[helloSize]byte) {
	*h = Hello{
		ABI:      le.Uint32(b[0:]),
		Disks:    le.Uint32(b[4:]),
		LogBytes: le.Uint64(b[8:]),
		LogUsed:  le.Uint64(b[16:]),
		Lost:     le.Uint64(b[24:]),
		Pages:    int64(le.Uint64(b[32:])),
	}
}

// Stat is the state of a disk: struct fsw_rd_stat. Counts are since the disk was made.
type Stat struct {
	Disk      uint32
	Logging   bool
	Bytes     uint64 // size of the disk
	Pages     uint64 // pages of memory for its contents
	Kept      uint64 // pages of memory that only snapshots need
	Snapshots uint32
	Rules     uint32 // rules that can still fire
	Fired     uint64 // times that rules fired
	Submitted uint64 // bios
	Completed uint64 // bios
	NoMemory  uint64 // bios that failed because memory was short
}

func (s *Stat) decode(b *[statSize]byte) {
	*s = Stat{
		Disk:      le.Uint32(b[0:]),
		Logging:   le.Uint32(b[4:]) != 0,
		Bytes:     le.Uint64(b[8:]),
		Pages:     le.Uint64(b[16:]),
		Kept:      le.Uint64(b[24:]),
		Snapshots: le.Uint32(b[32:]),
		Rules:     le.Uint32(b[36:]),
		Fired:     le.Uint64(b[40:]),
		Submitted: le.Uint64(b[48:]),
		Completed: le.Uint64(b[56:]),
		NoMemory:  le.Uint64(b[64:]),
	}
}

// Op is the operation of a bio. The zero value is an operation that the disk does not support.
type Op uint16

const (
	Read    Op = 1 + iota // FSW_RD_READ
	Write                 // FSW_RD_WRITE
	Flush                 // FSW_RD_FLUSH: a flush without data
	Discard               // FSW_RD_DISCARD
	Zeroes                // FSW_RD_ZEROES
)

func (o Op) String() string {
	if o > Zeroes {
		o = 0
	}
	return [...]string{"unknown", "read", "write", "flush", "discard", "zeroes"}[o]
}

// Flags are the flags of a bio.
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
	// Fail: FSW_RD_FAIL. The bio fails with Rule.Error and changes nothing.
	Fail Action = 1 + iota
	// Delay: FSW_RD_DELAY. The bio is done Rule.Arg ms later. Later bios do not wait for it.
	Delay
	// Tear: FSW_RD_TEAR. Only the first Rule.Arg sectors of a write reach the disk.
	Tear
	// DropFlush: FSW_RD_DROP_FLUSH. The flush is not done, and no error is reported.
	DropFlush
)

// A Rule injects a failure into bios of a disk: struct fsw_rd_rule.
type Rule struct {
	Action Action
	// Ops are the operations that count. They are empty for DropFlush, which counts flushes, also
	// those before writes.
	Ops   []Op
	Error uint32 // errno of Fail and Tear; 0 for Tear: the bio reports success
	Nth   uint64 // number of the first bio that the rule hits, from 1; counting begins with Inject
	Times uint64 // number of bios that the rule hits from there on; 1 for Delay
	Arg   uint64
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

// encodeName encodes a struct fsw_rd_snapshot, in which number is the field pages. The same bytes
// begin a struct fsw_rd_changed, in which number is the field from.
func encodeName(disk uint32, number uint64, name string) ([]byte, error) {
	if name == "" || len(name) > MaxName || bytes.IndexByte([]byte(name), 0) >= 0 {
		return nil, fmt.Errorf("snapshot name %q: want 1 to %d bytes without zeros", name, MaxName)
	}
	b := make([]byte, snapshotSize)
	le.PutUint32(b, disk)
	le.PutUint64(b[8:], number)
	copy(b[16:], name)
	return b, nil
}

// Injected is the set of the actions that rules took on a bio.
type Injected uint32

// Has reports whether a rule with this action fired.
func (i Injected) Has(a Action) bool { return i&(1<<(a&31)) != 0 }

// Count returns how many different actions were taken.
func (i Injected) Count() int { return bits.OnesCount32(uint32(i)) }
