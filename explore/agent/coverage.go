package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// MaxEdges bounds the edges of a Batch. Further ones are dropped.
const MaxEdges = 64 << 10

// An Edge is a step of the kernel from one instrumented point of its code to the next one. It has
// the low halves of both addresses; the high halves of all addresses of kernel code are ones.
type Edge uint64

const codeBase = 0xffffffff << 32

// From returns the address of the first point; it is codeBase at the beginning of an operation.
func (e Edge) From() uint64 { return codeBase | uint64(e)>>32 }

// To returns the address of the second point.
func (e Edge) To() uint64 { return codeBase | uint64(e)&math.MaxUint32 }

// EdgeOf returns the edge between two addresses of kernel code.
func EdgeOf(from, to uint64) Edge { return Edge(from<<32 | to&math.MaxUint32) }

// Coverage is what a Batch with Cover ran of the kernel's code. It has no code of threads of the
// kernel, of interrupts, of commands, and of operations that Together performs.
type Coverage struct {
	Edges []Edge // in rising order
	Cut   bool   // some are missing
	// None says why nothing was recorded; "": the guest records coverage.
	None string
}

func (c *Coverage) append(b []byte) []byte {
	b = appendFlag(b, c.Cut)
	b = appendBytes(b, c.None[:min(len(c.None), MaxPath)])
	b = appendNumber(b, uint64(len(c.Edges)))
	last := Edge(0)
	for _, e := range c.Edges {
		b = appendNumber(b, uint64(e-last))
		last = e
	}
	return b
}

// coverage decodes what Coverage.append made.
func (d *decoder) coverage() *Coverage {
	c := &Coverage{Cut: d.flag(), None: d.text(MaxPath)}
	last := Edge(0)
	for n := d.count(MaxEdges); n > 0 && d.err == nil; n-- {
		e := last + Edge(d.number())
		if e <= last && d.err == nil {
			d.fail(errors.New("edges are out of order"))
			break
		}
		c.Edges, last = append(c.Edges, e), e
	}
	return c
}

// The interface of KCOV: include/uapi/linux/kcov.h.
const (
	kcovPath      = debugfs + "/kcov"
	kcovInitTrace = 0x80086301
	kcovEnable    = 0x6364
	kcovDisable   = 0x6365
	kcovTracePC   = 0

	kcovWords = 256 << 10 // of the buffer: a count, and the points that the thread came to
)

// A coverageRecorder records the kernel's code that one thread runs.
type coverageRecorder struct {
	file *os.File
	mem  []byte
	seen map[Edge]struct{}
	cut  bool
}

// recordCoverage begins to record the calling goroutine, which keeps its thread until end.
func recordCoverage() (*coverageRecorder, error) {
	f, err := os.OpenFile(kcovPath, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("the guest's kernel has no KCOV")
	}
	if err != nil {
		return nil, err
	}
	c := &coverageRecorder{file: f, seen: make(map[Edge]struct{})}
	fd := int(f.Fd())
	if err = control(fd, kcovInitTrace, kcovWords); err == nil {
		c.mem, err = unix.Mmap(fd, 0, kcovWords*8, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	runtime.LockOSThread()
	if err == nil {
		err = control(fd, kcovEnable, kcovTracePC)
	}
	if err != nil {
		c.release()
		return nil, fmt.Errorf("%s: %w", kcovPath, err)
	}
	c.harvest() // drops what enabling ran
	clear(c.seen)
	return c, nil
}

// control is ioctl(2) with a number.
func control(fd int, request uint, arg int) error { return unix.IoctlSetInt(fd, request, arg) }

// harvest takes the points since the last harvest. An operation is harvested alone, so that no edge
// leads from one operation to the next.
func (c *coverageRecorder) harvest() {
	words := unsafe.Slice((*uint64)(unsafe.Pointer(&c.mem[0])), kcovWords)
	n := atomic.LoadUint64(&words[0])
	if n >= kcovWords-1 {
		c.cut, n = true, min(n, kcovWords-1)
	}
	from := uint64(0)
	for _, to := range words[1:][:n] {
		e := EdgeOf(from, to)
		if _, had := c.seen[e]; !had {
			if len(c.seen) >= MaxEdges {
				c.cut = true
				break
			}
			c.seen[e] = struct{}{}
		}
		from = to
	}
	atomic.StoreUint64(&words[0], 0)
}

// end stops recording, and returns what was recorded.
func (c *coverageRecorder) end() Coverage {
	_ = control(int(c.file.Fd()), kcovDisable, 0)
	c.release()
	return Coverage{Edges: slices.Sorted(maps.Keys(c.seen)), Cut: c.cut}
}

// release frees what recordCoverage took.
func (c *coverageRecorder) release() {
	runtime.UnlockOSThread()
	if c.mem != nil {
		_ = unix.Munmap(c.mem)
	}
	_ = c.file.Close()
}
