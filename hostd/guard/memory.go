package guard

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"fsward/interp"
)

// Memory is how much memory a daemon may use. What it does with it: docs/decisions/0020.
type Memory struct {
	PerDisk uint64 // bytes for each disk; 0: DefaultMemory
	// Reserve is shared by all disks, bytes: for commits that need more than the share of their disk, and for checks
	// of the baseline. 0: DefaultReserve. NoReserve: there is none.
	Reserve   uint64
	NoReserve bool
}

// Where nothing else is set, bytes.
const (
	DefaultMemory  = 256 << 20
	DefaultReserve = 768 << 20
	MinMemory      = 16 << 20 // for a disk
)

var errMemory = errors.New("a commit needs the memory")

func (m Memory) perDisk() uint64 {
	if m.PerDisk == 0 {
		return DefaultMemory
	}
	return m.PerDisk
}

func (m Memory) reserve() uint64 {
	switch {
	case m.NoReserve:
		return 0
	case m.Reserve == 0:
		return DefaultReserve
	}
	return m.Reserve
}

// Total is what a daemon with so many disks may use for what it knows of them, bytes.
func (m Memory) Total(disks int) uint64 { return m.perDisk()*uint64(disks) + m.reserve() }

// processBytes is what the process needs beside what it knows of disks: rules, buffers of the transports. The pages of the
// program itself, some 30 MB, come on top.
const processBytes = 64 << 20

// HoldTo has the collector of this process work harder near so many bytes for what it knows of disks, so that garbage does not come on top.
// GOMEMLIMIT comes first.
func SetMemoryLimit(bytes uint64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(bytes) + processBytes)
	}
}

// limits are those of each interpreter. Those who hold something of the reserve that a commit can have are asked by
// pressure.
func (m Memory) limits(pressure func()) interp.Limits {
	return interp.Limits{Memory: m.perDisk(), Pool: interp.NewMemoryPool(m.reserve(), pressure)}
}

// passBudget is the memory for the change records of a check of the baseline: a sixteenth of the disk's, and what of
// the reserve no commit needs.
func (m Memory) baselineBudget(limits interp.Limits) *interp.MemoryBudget {
	return interp.NewMemoryBudget(m.perDisk()/16, limits.Pool)
}

// passCache is how many bytes of metadata blocks such a check may keep.
func (m Memory) baselineCache() int { return int(m.perDisk() / 16) }

// ParseBytes reads a number of bytes: 268435456, 256M, 1G.
func ParseBytes(s string) (uint64, error) {
	number, shift := strings.ToUpper(s), 0
	for i, unit := range []string{"K", "M", "G", "T"} {
		if rest, ok := strings.CutSuffix(strings.TrimSuffix(strings.TrimSuffix(number, "B"), "I"), unit); ok {
			number, shift = rest, 10*(i+1)
			break
		}
	}
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil || n > 1<<63>>shift {
		return 0, fmt.Errorf("%q is no number of bytes such as 256M", s)
	}
	return n << shift, nil
}
