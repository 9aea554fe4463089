// Package blocktap is the block device between a guest and its disk. A Device performs a guest's
// requests on a Disk, and calls a Hook before each request that changes the disk. Start reading at
// Device.Do. The transports are the packages nbd and fuse below it.
package blocktap

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
)

// Op is the operation of a request. The zero value is invalid.
type Op uint8

const (
	OpInvalid Op = iota
	OpRead
	OpWrite
	OpFlush // all writes completed before it are durable when it completes
	OpTrim  // the guest no longer needs the range; its content becomes undefined
	OpZero  // the range becomes zeros
)

func (o Op) String() string {
	if o > OpZero {
		o = OpInvalid
	}
	return [...]string{"invalid", "read", "write", "flush", "trim", "zero"}[o]
}

// SectorSize is the unit of changes in bytes: Off and Len of every write, trim and zero are
// multiples of it.
const SectorSize = 512

// A Request is one request of a guest. Device.Do checks that it lies within the disk.
type Request struct {
	Seq    uint64 // position in the order of changes, from 1; set by Device.Do
	Off    uint64 // bytes
	Len    uint64 // bytes
	Op     Op
	FUA    bool   // the write is durable when it completes
	Meta   bool   // the write is marked as metadata; false if the transport cannot know
	NoHole bool   // OpZero: the range keeps its space allocated
	Data   []byte // Len bytes; OpWrite: a private copy of the content; OpRead: filled in by Do
}

// check returns an error if the request is invalid on a disk of size bytes. It never computes
// Off+Len, which could overflow.
func (r *Request) check(size uint64) error {
	if r.Off > size || r.Len > size-r.Off {
		return fmt.Errorf("%s of %d bytes at %d: %w of %d bytes",
			r.Op, r.Len, r.Off, ErrRange, size)
	}
	switch r.Op {
	case OpFlush:
		return nil
	case OpRead, OpWrite:
		if uint64(len(r.Data)) != r.Len {
			return fmt.Errorf("%s of %d bytes at %d with a buffer of %d bytes",
				r.Op, r.Len, r.Off, len(r.Data))
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

// A Disk is the storage behind a device. Its methods may be called concurrently.
type Disk interface {
	io.ReaderAt
	io.WriterAt
	Flush() error // all completed writes are durable when it returns
	Trim(off, n uint64) error
	Zero(off, n uint64) error
	Size() uint64 // bytes
	Close() error
}

// A Hook decides about every request that changes the disk. The device calls Handle for one request
// at a time, in order, before it performs the request. Handle either calls do, which performs the
// request, and returns do's error; or it refuses the request: it does not call do and returns an
// error such as ErrRefused. It must not return nil without calling do: that would acknowledge a
// write that was not performed. Handle may block, for example to hold a commit.
type Hook interface {
	Handle(ctx context.Context, r *Request, do func() error) error
}

// A Splitter is a Hook that takes long requests in parts. For each part the device calls Run and
// then Handle, as if the part were a request of its own. If one fails, those after it are not
// performed.
type Splitter interface {
	// Run returns the length of the first part of the n bytes from off on, in whole sectors. A result
	// of 0, or of more than n, means all n bytes. n is at least one sector.
	Run(off, n uint64) uint64
}

// A Delayer is a Hook that may let a change wait for other requests.
type Delayer interface {
	// Delay returns when the device may perform a change: when it may record it and call Handle. The
	// device calls Delay while no other change is in progress. meanwhile(f) calls f and lets other
	// changes be performed until f returns. If ctx ends, Delay returns soon.
	Delay(ctx context.Context, r *Request, meanwhile func(f func()))
}

// A FlushHook is a Hook that also learns of flushes.
//
// The device calls Flushing when a flush begins, unless a change is in progress, so that Flushing
// and Handle never run at the same time.
//
// The device calls Flushed after a flush has succeeded, with the Seq of the last change that was
// complete when the flush began. These numbers never decrease. Flushed may run at the same time as
// Handle.
//
// Both must return at once.
type FlushHook interface {
	Flushing()
	Flushed(seq uint64)
}

// A Device performs requests on a disk through a hook. It performs changes one at a time, so that
// the hook sees them in the same order as the disk. Reads and flushes run in parallel with all
// other requests. A Device is safe for concurrent use.
type Device struct {
	disk     Disk
	hook     Hook // may be nil
	rec      Recorder
	changing *sync.Mutex   // held from the call of the hook until the change is complete
	seq      atomic.Uint64 // Seq of the last change that began
	done     atomic.Uint64 // Seq of the last change that is complete
	requests atomic.Uint64 // number of valid requests so far, with reads and flushes

	reporting sync.Mutex // held during FlushHook.Flushed, so that the numbers do not decrease
	flushed   uint64     // the argument of the last call
}

// NewDevice returns a device that performs requests on disk. hook may be nil.
func NewDevice(disk Disk, hook Hook) *Device {
	return &Device{disk: disk, hook: hook, changing: &sync.Mutex{}}
}

// TakeTurns makes several devices perform their changes one at a time, so that a shared hook or
// recorder sees all changes in one order. Call it before the devices are served.
func TakeTurns(devices ...*Device) {
	changing := &sync.Mutex{}
	for _, d := range devices {
		d.changing = changing
	}
}

// A Recorder logs every change and every flush. The device calls Log before it calls the hook, so
// that the log also contains changes that were refused and the change during which the process
// ended. It logs a flush on arrival. The log may show a flush after a change that was still in
// progress when the flush began; the flush need not cover that change. If Log fails, the device
// does not perform the request and returns the error, so that the log of a trace.Writer is never
// incomplete. A recorder whose failure must not touch the guest returns nil. A Recorder is safe for
// concurrent use.
type Recorder interface {
	Log(r *Request) error
}

// An UndoRecorder is a Recorder that also learns which changes were not performed. The device calls
// Undone for a change after Log, before the next change: the hook refused it, or the disk failed,
// which may have left a part of it on the disk.
type UndoRecorder interface {
	Recorder
	Undone(r *Request)
}

// Record makes rec log the device's changes and flushes. Call it before the device is served.
func (d *Device) Record(rec Recorder) { d.rec = rec }

// Size returns the size of the disk in bytes.
func (d *Device) Size() uint64 { return d.disk.Size() }

// Disk returns the disk behind the device.
func (d *Device) Disk() Disk { return d.disk }

// Requests returns the number of valid requests so far.
func (d *Device) Requests() uint64 { return d.requests.Load() }

// Between calls f while no change is in progress on this device or on a device that takes turns
// with it.
func (d *Device) Between(f func()) {
	d.changing.Lock()
	defer d.changing.Unlock()
	f()
}

// Do performs a request and returns when it is complete; a write with FUA is then durable. It
// returns an error without calling hook or disk if the request is invalid (ErrRange, ErrUnaligned),
// and if ctx ends while a change waits for its turn (ctx.Err).
func (d *Device) Do(ctx context.Context, r *Request) error {
	if err := r.check(d.disk.Size()); err != nil {
		return err
	}
	d.requests.Add(1)
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
	// Flush for a FUA write after the lock is released: later changes do not depend on the flush, and
	// the guest gets its answer only after it.
	if err == nil && r.FUA {
		err = d.disk.Flush()
	}
	return err
}

// flush flushes the disk and reports the durable changes to the hook.
func (d *Device) flush() error {
	seq := d.done.Load()
	h, reports := d.hook.(FlushHook)
	if reports && d.changing.TryLock() {
		h.Flushing()
		d.changing.Unlock()
	}
	if err := d.disk.Flush(); err != nil {
		return err
	}
	if reports {
		d.reporting.Lock()
		defer d.reporting.Unlock()
		d.flushed = max(d.flushed, seq)
		h.Flushed(d.flushed)
	}
	return nil
}

// ordered waits until no other change is in progress, then performs a change.
func (d *Device) ordered(ctx context.Context, r *Request) error {
	d.changing.Lock()
	defer d.changing.Unlock()
	if delayer, ok := d.hook.(Delayer); ok {
		delayer.Delay(ctx, r, d.meanwhile)
	}
	// If the connection was cut, the change must not mix with those of the guest's next connection.
	if err := ctx.Err(); err != nil {
		return err
	}
	splitter, splits := d.hook.(Splitter)
	if !splits || r.Len == 0 {
		return d.one(ctx, r)
	}
	for at := uint64(0); at < r.Len; {
		n := splitter.Run(r.Off+at, r.Len-at)
		if n == 0 || n >= r.Len-at {
			n = r.Len - at
		}
		if n == r.Len {
			return d.one(ctx, r)
		}
		part := *r
		part.Off, part.Len = r.Off+at, n
		if r.Op == OpWrite {
			part.Data = r.Data[at : at+n]
		}
		if err := d.one(ctx, &part); err != nil {
			return err
		}
		at += n
	}
	return nil
}

// meanwhile lets other changes be performed while f runs. The caller may perform changes.
func (d *Device) meanwhile(f func()) {
	d.changing.Unlock()
	defer d.changing.Lock()
	f()
}

// one records a change, and performs it through the hook.
func (d *Device) one(ctx context.Context, r *Request) error {
	r.Seq = d.seq.Add(1)
	defer d.done.Store(r.Seq)
	if d.rec != nil {
		if err := d.rec.Log(r); err != nil {
			return err
		}
	}
	err := d.perform(ctx, r)
	if rec, ok := d.rec.(UndoRecorder); ok && err != nil {
		rec.Undone(r)
	}
	return err
}

// perform performs a change through the hook.
func (d *Device) perform(ctx context.Context, r *Request) error {
	if d.hook == nil {
		return d.change(r)
	}
	return d.hook.Handle(ctx, r, func() error { return d.change(r) })
}

// change performs a change on the disk.
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
