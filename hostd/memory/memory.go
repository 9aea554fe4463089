// Package memory bounds the memory that the guard uses. Start reading at Limits.
package memory

import (
	"os"
	"runtime/debug"

	"fsward/interp"
)

// Limits bound the memory of a daemon, in bytes. What it is used for: docs/decisions/0020.
type Limits struct {
	PerDisk uint64 // for each disk; 0 selects Default
	// Reserve is shared by all disks. Commits that need more than the share of their disk use it, and
	// so do checks of the baseline. 0 selects DefaultReserve, unless NoReserve is set.
	Reserve   uint64
	NoReserve bool
}

// Defaults and the lower bound, in bytes.
const (
	Default        = 256 << 20
	DefaultReserve = 768 << 20
	Min            = 16 << 20 // for a disk
)

// Disk returns the memory of one disk, in bytes.
func (m Limits) Disk() uint64 {
	if m.PerDisk == 0 {
		return Default
	}
	return m.PerDisk
}

func (m Limits) reserve() uint64 {
	switch {
	case m.NoReserve:
		return 0
	case m.Reserve == 0:
		return DefaultReserve
	}
	return m.Reserve
}

// Total returns the memory, in bytes, that a daemon may use for its state of so many disks.
func (m Limits) Total(disks int) uint64 { return m.Disk()*uint64(disks) + m.reserve() }

// processBytes is the memory that the process needs for everything but its state of disks: rules
// and buffers of the transports. The pages of the program itself, about 30 MB, come on top.
const processBytes = 64 << 20

// SetLimit sets the soft memory limit of this process, so that garbage does not add much to the
// bytes that its state of disks may have. It does nothing if GOMEMLIMIT is set.
func SetLimit(bytes uint64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(bytes) + processBytes)
	}
}

// ForInterpreter returns the limits of an interpreter. When a commit lacks memory, pressure is
// called: it makes other users of the reserve give their part back.
func (m Limits) ForInterpreter(pressure func()) interp.Limits {
	return interp.Limits{Memory: m.Disk(), Pool: interp.NewMemoryPool(m.reserve(), pressure)}
}

// BaselineBudget returns the memory for the change records of a baseline check: a sixteenth of the
// disk's memory, and the part of the reserve that no commit needs.
func (m Limits) BaselineBudget(limits interp.Limits) *interp.MemoryBudget {
	return interp.NewMemoryBudget(m.Disk()/16, limits.Pool)
}

// BaselineCache returns the number of bytes of metadata blocks that a baseline check may cache.
func (m Limits) BaselineCache() int { return int(m.Disk() / 16) }

// garbagePercent is by how much the heap of a check grows before garbage is collected, within the
// limit: a check makes much garbage beside little that stays.
const garbagePercent = 400

// SetCheckLimit is SetLimit for a process that checks one image and ends. It collects garbage less
// often, since nobody else waits for the memory. It does nothing if GOMEMLIMIT is set; GOGC has
// precedence.
func SetCheckLimit(bytes uint64) {
	SetLimit(bytes)
	if os.Getenv("GOMEMLIMIT") == "" && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
}
