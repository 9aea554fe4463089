package interp

import (
	"fmt"
	"math"
	"sync"
	"time"

	"fsward/change"
)

// Limits bound what an interpreter keeps in memory, and how much it computes. The zero value sets
// no bound beyond those of each file system's package.
type Limits struct {
	// Memory is the memory for one disk in bytes. A quarter is for blocks that were read, and half for
	// the transaction under judgment.
	Memory uint64
	Pool   *MemoryPool        // for transactions that need more; may be nil
	Work   *change.WorkBudget // for each judgment; may be nil
}

// RecordBytes is what one change record takes while it is made and judged: 80 bytes, and up to 120
// more while the slice of records grows, or while the rules build their lists and indexes.
const RecordBytes = 200

// A MemoryPool is memory that several disks share for a rare need: a commit of millions of change
// records. It is safe for concurrent use.
type MemoryPool struct {
	mu       sync.Mutex
	free     uint64
	size     uint64
	pressure func() // makes budgets that are not urgent release their memory; may be nil
}

// NewMemoryPool returns a pool of a number of bytes. If the budget of a commit does not get its
// memory, it calls pressure, without a lock, to make other budgets release theirs. pressure may be
// nil.
func NewMemoryPool(bytes uint64, pressure func()) *MemoryPool {
	return &MemoryPool{free: bytes, size: bytes, pressure: pressure}
}

// Size returns the bytes that the pool began with; 0 for a nil pool.
func (p *MemoryPool) Size() uint64 {
	if p == nil {
		return 0
	}
	return p.size
}

// borrow takes n bytes and reports whether they were free.
func (p *MemoryPool) borrow(n uint64) bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if n > p.free {
		return false
	}
	p.free -= n
	return true
}

func (p *MemoryPool) giveBack(n uint64) {
	if p == nil || n == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free += n
}

const (
	borrowedAtOnce = 16 << 20 // a MemoryBudget borrows this many bytes from its pool at a time
	maxPressure    = 2 * time.Second
)

// A MemoryBudget is the memory that one transaction may take. It is used by one goroutine.
type MemoryBudget struct {
	own      uint64 // bytes; 0: without bound
	borrowed uint64 // bytes from the pool
	pool     *MemoryPool
	urgent   bool // it is the budget of a commit: other budgets have to release memory for it
}

// NewMemoryBudget returns the budget of a commit: half of Memory, and the pool. It makes other
// budgets release their memory of the pool if it needs it.
func (l Limits) NewMemoryBudget() *MemoryBudget {
	return &MemoryBudget{own: l.Memory / 2, pool: l.Pool, urgent: true}
}

// NewMemoryBudget returns a budget of own bytes, and of free memory of the pool.
func NewMemoryBudget(own uint64, pool *MemoryPool) *MemoryBudget {
	return &MemoryBudget{own: own, pool: pool}
}

// Holds reports whether the budget suffices for bytes in total. It borrows from the pool if
// necessary. A nil budget has no bound.
func (b *MemoryBudget) Holds(bytes uint64) bool {
	if b == nil || b.own == 0 {
		return true
	}
	for bytes > b.own+b.borrowed {
		if !b.borrow() {
			return false
		}
		b.borrowed += borrowedAtOnce
	}
	return true
}

// Spare returns the number of bytes that are left of the budget, given those in use, without
// borrowing more. A nil budget returns the largest number.
func (b *MemoryBudget) Spare(used uint64) uint64 {
	if b == nil || b.own == 0 {
		return math.MaxUint64
	}
	return b.own + b.borrowed - min(used, b.own+b.borrowed)
}

func (b *MemoryBudget) borrow() bool {
	if b.pool.borrow(borrowedAtOnce) {
		return true
	}
	if b.pool == nil || !b.urgent || b.pool.pressure == nil ||
		b.borrowed+borrowedAtOnce > b.pool.size {
		return false
	}
	b.pool.pressure()
	for until := time.Now().Add(maxPressure); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if b.pool.borrow(borrowedAtOnce) {
			return true
		}
	}
	return false
}

// Release gives back everything that was borrowed from the pool.
func (b *MemoryBudget) Release() {
	if b != nil {
		b.pool.giveBack(b.borrowed)
		b.borrowed = 0
	}
}

// A MemoryError says that a transaction needs more memory than its budget. The rest of the
// transaction has not been judged.
type MemoryError struct{ Bytes uint64 }

func (e *MemoryError) Error() string {
	return fmt.Sprintf("the transaction needs more than its %d MiB of memory", e.Bytes>>20)
}

// Full returns the error for a request that Holds denied.
func (b *MemoryBudget) Full() error { return &MemoryError{b.own + b.pool.Size()} }
