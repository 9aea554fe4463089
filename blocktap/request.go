// Package blocktap is the block device between a guest and its disk: requests, the disk behind them,
// and the hook that sees every request before it is done. Transports (nbd, fuse) are packages below it.
package blocktap

import (
	"context"
	"errors"
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
	return [...]string{"invalid", "read", "write", "flush", "trim", "zero"}[min(o, OpZero)%6]
}

// A Request is one request of a guest, checked by the transport: Off and Len lie within the disk.
type Request struct {
	Seq  uint64 // order in which the device performs writes; set by Device.Do, from 1
	Off  uint64 // bytes
	Len  uint64 // bytes
	Op   Op
	FUA  bool   // the write is durable when it completes
	Data []byte // OpWrite: a private copy of the contents; OpRead: filled in
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

// ErrRefused is the error of a write that the hook would not let through. Transports report it as EIO.
var ErrRefused = errors.New("refused: the write would violate an invariant")

// A Hook is shown every request that changes the disk, before it is done, one at a time and in order.
// It calls do to let the request through and returns do's error, or returns an error of its own
// (ErrRefused) without calling it. It may block: that is how a commit is held. A hook that returns nil
// without calling do has acknowledged a write that is not done, and must not.
type Hook interface {
	Handle(ctx context.Context, r *Request, do func() error) error
}

// A Device performs requests on a disk through a hook. Changes are serialised, since the hook has to
// see them in the order in which the disk does; reads and flushes run in parallel with everything.
// Safe for concurrent use.
type Device struct {
	disk Disk
	hook Hook
	mu   sync.Mutex // held over hook and disk by whatever changes the disk
	seq  atomic.Uint64
}

// NewDevice returns a device; hook may be nil.
func NewDevice(disk Disk, hook Hook) *Device { return &Device{disk: disk, hook: hook} }

// Size returns the size of the disk in bytes.
func (d *Device) Size() uint64 { return d.disk.Size() }

// Disk returns the disk behind the device.
func (d *Device) Disk() Disk { return d.disk }

// Do performs a request and returns when it is done: a write with FUA is then durable.
func (d *Device) Do(ctx context.Context, r *Request) error {
	switch r.Op {
	case OpRead:
		_, err := d.disk.ReadAt(r.Data, int64(r.Off))
		return err
	case OpFlush:
		return d.disk.Flush()
	}
	d.mu.Lock()
	r.Seq = d.seq.Add(1)
	var err error
	if d.hook == nil {
		err = d.change(r)
	} else {
		err = d.hook.Handle(ctx, r, func() error { return d.change(r) })
	}
	d.mu.Unlock()
	// The flush of a FUA write waits outside the lock: nothing that follows depends on it, and the
	// guest is told only after it.
	if err == nil && r.FUA {
		err = d.disk.Flush()
	}
	return err
}

func (d *Device) change(r *Request) error {
	switch r.Op {
	case OpWrite:
		_, err := d.disk.WriteAt(r.Data, int64(r.Off))
		return err
	case OpTrim:
		return d.disk.Trim(r.Off, r.Len)
	case OpZero:
		return d.disk.Zero(r.Off, r.Len)
	default:
		return errors.New("invalid operation")
	}
}
