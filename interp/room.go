package interp

import (
	"fmt"
	"sync"
	"time"
)

// Limits bound what an interpreter keeps in memory. The zero value sets none beyond those of each file system's
// package.
type Limits struct {
	Memory  uint64   // bytes for one disk: a quarter for blocks that were read, half for the transaction that is judged
	Reserve *Reserve // for transactions that need more; nil: there is none
}

// RecordBytes is what a change record takes while it is made and judged: 80 bytes, as much again while the slice of
// them grows or the lists and indexes of the rules are made.
const RecordBytes = 160

// A Reserve is memory that disks share for what is rarely needed: a commit of millions of change records. Safe for
// concurrent use.
type Reserve struct {
	mu       sync.Mutex
	free     uint64
	size     uint64
	pressure func() // asks those who can do without to give back what they have; nil: nobody can
}

// NewReserve returns a reserve of so many bytes. pressure, which may be nil, is called, without any lock of the
// Reserve's, when someone who cannot wait finds too little in it.
func NewReserve(bytes uint64, pressure func()) *Reserve {
	return &Reserve{free: bytes, size: bytes, pressure: pressure}
}

// Size returns how much there was at first, bytes.
func (r *Reserve) Size() uint64 {
	if r == nil {
		return 0
	}
	return r.size
}

// take takes bytes and tells whether they were there.
func (r *Reserve) take(n uint64) bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if n > r.free {
		return false
	}
	r.free -= n
	return true
}

func (r *Reserve) give(n uint64) {
	if r == nil || n == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free += n
}

const (
	borrowed    = 16 << 20 // what is taken from a Reserve at a time, bytes
	maxPressure = 2 * time.Second
)

// A Room is the memory that one transaction may take. It is used by one goroutine.
type Room struct {
	own     uint64 // bytes; 0: without bound
	more    uint64 // taken from the reserve
	reserve *Reserve
	urgent  bool // others have to give way
}

// NewRoom returns the room for transactions of what limits are for.
func (l Limits) NewRoom() *Room { return &Room{own: l.Memory / 2, reserve: l.Reserve, urgent: true} }

// NewRoom returns room of own bytes, and as much from a reserve as nobody else needs.
func NewRoom(own uint64, reserve *Reserve) *Room { return &Room{own: own, reserve: reserve} }

// Holds tells whether there is room for so many bytes in all, and takes them from the reserve if need be. A nil Room
// holds everything.
func (r *Room) Holds(bytes uint64) bool {
	if r == nil || r.own == 0 {
		return true
	}
	for bytes > r.own+r.more {
		if !r.take() {
			return false
		}
		r.more += borrowed
	}
	return true
}

func (r *Room) take() bool {
	if r.reserve.take(borrowed) {
		return true
	}
	if r.reserve == nil || !r.urgent || r.reserve.pressure == nil || r.more+borrowed > r.reserve.size {
		return false
	}
	r.reserve.pressure()
	for until := time.Now().Add(maxPressure); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if r.reserve.take(borrowed) {
			return true
		}
	}
	return false
}

// Release gives back what was taken from the reserve.
func (r *Room) Release() {
	if r != nil {
		r.reserve.give(r.more)
		r.more = 0
	}
}

// A RoomError says that a transaction takes more memory than there is: what is beyond it has not been judged.
type RoomError struct{ Bytes uint64 }

func (e *RoomError) Error() string {
	return fmt.Sprintf("the transaction takes more than the %d MiB of memory that there are for it", e.Bytes>>20)
}

// Full is the error of what Holds denied.
func (r *Room) Full() error { return &RoomError{r.own + r.reserve.Size()} }
