// Package blocktap is the block device between a guest and its disk: requests, the disk behind them,
// and the hook that sees every request before it is done. Transports (nbd, fuse) are packages below it.
package blocktap

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
)

// Op is what a request asks for. The zero value is invalid.
type Op uint8

const (
	OpInvalid Op = iota
	OpRead
	OpWrite
	OpFlush // all writes completed before it are durable when it completes
	OpTrim  // the range is given up; what it holds afterwards is not defined
	OpZero  // the range becomes zeros
)

func (o Op) String() string {
	if o > OpZero {
		o = OpInvalid
	}
	return [...]string{"invalid", "read", "write", "flush", "trim", "zero"}[o]
}

// SectorSize is the unit of a change: Off and Len of every write, trim and zero are multiples of it.
const SectorSize = 512

// A Request is one request of a guest. Device.Do checks that it lies within the disk.
type Request struct {
	Seq    uint64 // order in which the device performs writes; set by Device.Do, from 1
	Off    uint64 // bytes
	Len    uint64 // bytes
	Op     Op
	FUA    bool   // the write is durable when it completes
	Meta   bool   // the write is marked as metadata, where that is known
	NoHole bool   // OpZero: the range keeps its space reserved
	Data   []byte // OpWrite: a private copy of the contents; OpRead: filled in. Len bytes
}

// check tells whether a request is well formed for a disk of a size. The sum cannot overflow.
func (r *Request) check(size uint64) error {
	if r.Off > size || r.Len > size-r.Off {
		return fmt.Errorf("%s of %d bytes at %d: %w of %d bytes", r.Op, r.Len, r.Off, ErrRange, size)
	}
	switch r.Op {
	case OpFlush:
		return nil
	case OpRead, OpWrite:
		if uint64(len(r.Data)) != r.Len {
			return fmt.Errorf("%s of %d bytes at %d with a buffer of %d", r.Op, r.Len, r.Off, len(r.Data))
		}
	case OpTrim, OpZero:
	default:
		return fmt.Errorf("invalid operation %d", uint8(r.Op))
	}
	if r.Op != OpRead && (r.Off|r.Len)%SectorSize != 0 {
		return fmt.Errorf("%s of %d bytes at %d: %w", r.Op, r.Len, r.Off, ErrUnaligned)
	}
	return nil
}

// Disk is the storage behind a device. Reads and writes may run in parallel with each other.
type Disk interface {
	io.ReaderAt
	io.WriterAt
	Flush() error // all completed writes are durable when it returns
	Trim(off, n uint64) error
	Zero(off, n uint64) error
	Size() uint64 // bytes
	Close() error
}

// A Hook is shown every request that changes the disk, before it is done, one at a time and in order.
// It calls do to let the request through and returns do's error, or returns an error of its own
// (ErrRefused) without calling it. It may block: that is how a commit is held. A hook that returns nil
// without calling do has acknowledged a write that is not done, and must not.
type Hook interface {
	Handle(ctx context.Context, r *Request, do func() error) error
}

// A FlushHook is a hook that wants to know what is durable. Flushed is called when a flush has succeeded,
// with the Seq of the last change that was done when it began; these numbers never fall. It can be called
// beside Handle and must return at once.
//
// Flushing is called when a flush begins, unless a change is under way: never beside Handle. It must return at once.
type FlushHook interface {
	Flushing()
	Flushed(seq uint64)
}

// A Device performs requests on a disk through a hook. Changes are serialised, since the hook has to
// see them in the order in which the disk does; reads and flushes run in parallel with everything.
// Safe for concurrent use.
type Device struct {
	disk Disk
	hook Hook
	rec  Recorder
	turn *sync.Mutex // held over hook and disk by whatever changes the disk
	seq  atomic.Uint64
	done atomic.Uint64 // Seq of the last change that is done
	all  atomic.Uint64 // requests so far, reads and flushes too

	flushing sync.Mutex // held while the hook is told, so that it is told in order
	flushed  uint64     // what it was last told
}

// NewDevice returns a device; hook may be nil.
func NewDevice(disk Disk, hook Hook) *Device {
	return &Device{disk: disk, hook: hook, turn: &sync.Mutex{}}
}

// TakeTurns serialises the changes of several devices with each other, so that hooks and recorders which
// they share see them in one order. It is called before they are served.
func TakeTurns(devices ...*Device) {
	turn := &sync.Mutex{}
	for _, d := range devices {
		d.turn = turn
	}
}

// A Recorder is told of every change before the hook is, and of every flush when it arrives, so that
// the record also holds the change that was refused, or that ended the process. A flush can be
// recorded after a change that was still under way when it came, and which it need not have covered.
// An error fails the request, which is then not done: what is to be on record is never missing from it.
// Safe for concurrent use.
type Recorder interface {
	Log(r *Request) error
}

// Record makes rec be told of all requests from now on. It is called before the device is served.
func (d *Device) Record(rec Recorder) { d.rec = rec }

// Size returns the size of the disk in bytes.
func (d *Device) Size() uint64 { return d.disk.Size() }

// Disk returns the disk behind the device.
func (d *Device) Disk() Disk { return d.disk }

// Requests counts what the device was asked so far.
func (d *Device) Requests() uint64 { return d.all.Load() }

// Between calls f while no change is under way, neither here nor on a device that takes turns with this one.
func (d *Device) Between(f func()) {
	d.turn.Lock()
	defer d.turn.Unlock()
	f()
}

// Do performs a request and returns when it is done: a write with FUA is then durable. A request that
// is not well formed is an error (ErrRange, ErrUnaligned), and a change whose ctx has ended before its turn is that
// error; both reach neither hook nor disk.
func (d *Device) Do(ctx context.Context, r *Request) error {
	if err := r.check(d.disk.Size()); err != nil {
		return err
	}
	d.all.Add(1)
	switch r.Op {
	case OpRead:
		_, err := d.disk.ReadAt(r.Data, int64(r.Off))
		return err
	case OpFlush:
		if d.rec != nil {
			if err := d.rec.Log(r); err != nil {
				return err
			}
		}
		return d.flush()
	}
	err := d.ordered(ctx, r)
	// The flush of a FUA write waits outside the lock: nothing that follows depends on it, and the
	// guest is told only after it.
	if err == nil && r.FUA {
		err = d.disk.Flush()
	}
	return err
}

// flush makes durable what is done and tells the hook so.
func (d *Device) flush() error {
	seq := d.done.Load()
	h, told := d.hook.(FlushHook)
	if told && d.turn.TryLock() {
		h.Flushing()
		d.turn.Unlock()
	}
	if err := d.disk.Flush(); err != nil {
		return err
	}
	if told {
		d.flushing.Lock()
		defer d.flushing.Unlock()
		d.flushed = max(d.flushed, seq)
		h.Flushed(d.flushed)
	}
	return nil
}

// ordered performs a change in its turn.
func (d *Device) ordered(ctx context.Context, r *Request) error {
	d.turn.Lock()
	defer d.turn.Unlock()
	// Of a connection that was cut: it would come between the writes of the next one.
	if err := ctx.Err(); err != nil {
		return err
	}
	r.Seq = d.seq.Add(1)
	defer d.done.Store(r.Seq)
	if d.rec != nil {
		if err := d.rec.Log(r); err != nil {
			return err
		}
	}
	if d.hook == nil {
		return d.change(r)
	}
	return d.hook.Handle(ctx, r, func() error { return d.change(r) })
}

func (d *Device) change(r *Request) error {
	switch r.Op {
	case OpWrite:
		_, err := d.disk.WriteAt(r.Data, int64(r.Off))
		return err
	case OpTrim:
		return d.disk.Trim(r.Off, r.Len)
	case OpZero:
		if res, ok := d.disk.(Reserver); ok && r.NoHole {
			return res.ZeroReserved(r.Off, r.Len)
		}
		return d.disk.Zero(r.Off, r.Len)
	default:
		return fmt.Errorf("%s is not a change", r.Op)
	}
}
