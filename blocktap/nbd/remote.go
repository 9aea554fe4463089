package nbd

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"fsward/blocktap"
)

const (
	// rangePayload is the largest trim or zero in bytes that is one request. The protocol's limit is
	// 4 GiB less one byte; some servers round that up.
	rangePayload = 1 << 30
	// partingTime bounds how long Close tries to say goodbye.
	partingTime = time.Second
)

// ErrLost is the error of every request after the connection to a server has ended.
var ErrLost = errors.New("the connection to the NBD server is lost")

// A Remote is a blocktap.Disk that an NBD server exports. Its requests run concurrently. It never
// reconnects: the server may have lost what was not flushed, so that every request after the loss
// of the connection fails with ErrLost.
type Remote struct {
	nc   net.Conn
	name string // for errors
	props

	sendMu sync.Mutex // held while a whole request is sent

	mu       sync.Mutex
	calls    map[uint64]*call // by cookie
	cookie   uint64           // of the last request
	lost     error            // why the connection ended
	flushErr error            // the first failure of a flush

	received chan struct{} // closed when the receiving goroutine has ended
}

// props are the properties of an export, which the handshake finds out.
type props struct {
	size       uint64
	flags      uint16 // flagHasFlags, …
	maxPayload uint32 // largest read or write, bytes
	structured bool
	allocation bool   // the server answers block status requests
	contextID  uint32 // the server's number for base:allocation
}

// RemoteOptions are the options of Dial.
type RemoteOptions struct {
	Export   string // name of the export; "" for the server's default
	ReadOnly bool   // fail writes here, whatever the server allows
}

// Dial connects to an NBD server and chooses an export. network and address are those of net.Dial.
// ctx bounds the handshake. A server that does not offer flushes is an error unless the disk is
// read-only: fsward could not promise that a write is durable.
func Dial(ctx context.Context, network, address string, opt RemoteOptions) (*Remote, error) {
	var dialer net.Dialer
	nc, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	d := &Remote{nc: nc, name: address, calls: make(map[uint64]*call),
		received: make(chan struct{})}
	stop := context.AfterFunc(ctx, func() { _ = nc.SetDeadline(time.Now()) })
	d.props, err = (&handshake{nc: nc}).run(opt.Export)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = d.usable(opt)
	}
	if err != nil {
		_ = nc.Close() // report the first error
		return nil, fmt.Errorf("NBD server at %s: %w", address, err)
	}
	go d.receive()
	return d, nil
}

// usable returns an error if the export does not fit the options.
func (d *Remote) usable(opt RemoteOptions) error {
	d.size = d.size / blocktap.SectorSize * blocktap.SectorSize
	if d.size == 0 {
		return fmt.Errorf("the export is too small for a disk")
	}
	if opt.ReadOnly {
		d.flags |= flagReadOnly
	}
	switch {
	case opt.ReadOnly:
		return nil
	case d.flags&flagReadOnly != 0:
		return fmt.Errorf("the export: %w", blocktap.ErrReadOnly)
	case d.flags&flagSendFlush == 0:
		return errors.New("the server offers no flush, so no write could be made durable")
	}
	return nil
}

// Size returns the size of the export in bytes, rounded down to whole sectors.
func (d *Remote) Size() uint64 { return d.size }

// Lost is closed when the connection has ended, also after Close.
func (d *Remote) Lost() <-chan struct{} { return d.received }

// ReadAt reads len(p) bytes at off.
func (d *Remote) ReadAt(p []byte, off int64) (int, error) {
	if err := d.bounds(off, uint64(len(p))); err != nil {
		return 0, err
	}
	// In one chunk: otherwise QEMU ends the connection if the read fails.
	var flags commandFlags
	if d.structured && d.flags&flagSendDF != 0 {
		flags = cmdFlagDF
	}
	return d.pieces(p, uint64(off), func(piece []byte, at uint64) error {
		return d.do(&call{cmd: cmdRead, flags: flags, off: at, length: uint32(len(piece)),
			data: piece})
	})
}

// WriteAt writes p at off.
func (d *Remote) WriteAt(p []byte, off int64) (int, error) {
	if err := d.writable(off, uint64(len(p))); err != nil {
		return 0, err
	}
	return d.pieces(p, uint64(off), func(piece []byte, at uint64) error {
		return d.do(&call{cmd: cmdWrite, off: at, length: uint32(len(piece)), data: piece})
	})
}

// pieces calls do for parts of p that fit into a request.
func (d *Remote) pieces(p []byte, off uint64, do func([]byte, uint64) error) (done int, err error) {
	for done < len(p) {
		piece := p[done:min(done+int(d.maxPayload), len(p))]
		if err := do(piece, off+uint64(done)); err != nil {
			return done, err
		}
		done += len(piece)
	}
	return done, nil
}

// Flush makes all completed writes durable. After a failure, all later calls return the same error:
// the server may have dropped what it could not write.
func (d *Remote) Flush() error {
	if d.flags&flagReadOnly != 0 {
		return nil
	}
	d.mu.Lock()
	err := d.flushErr
	d.mu.Unlock()
	if err != nil {
		return err
	}
	if err = d.do(&call{cmd: cmdFlush}); err != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.flushErr == nil {
			d.flushErr = err
		}
		return d.flushErr
	}
	return nil
}

// Trim tells the server that a range is no longer needed. It does nothing if the server does not
// support that.
func (d *Remote) Trim(off, n uint64) error {
	if err := d.writable(int64(off), n); err != nil || d.flags&flagSendTrim == 0 {
		return err
	}
	return d.ranges(cmdTrim, 0, off, n)
}

// Zero makes a range read as zeros; the server may deallocate its space.
func (d *Remote) Zero(off, n uint64) error { return d.zero(0, off, n) }

// ZeroReserved makes a range read as zeros and keeps its space allocated.
func (d *Remote) ZeroReserved(off, n uint64) error { return d.zero(cmdFlagNoHole, off, n) }

func (d *Remote) zero(flags commandFlags, off, n uint64) error {
	if err := d.writable(int64(off), n); err != nil {
		return err
	}
	if d.flags&flagSendWriteZeroes != 0 {
		return d.ranges(cmdWriteZeroes, flags, off, n)
	}
	zeros := make([]byte, min(n, 1<<20))
	for n > 0 {
		piece := zeros[:min(n, uint64(len(zeros)))]
		if _, err := d.WriteAt(piece, int64(off)); err != nil {
			return err
		}
		off, n = off+uint64(len(piece)), n-uint64(len(piece))
	}
	return nil
}

// ranges sends requests without data for a range of any length.
func (d *Remote) ranges(cmd command, flags commandFlags, off, n uint64) error {
	for n > 0 {
		piece := min(n, rangePayload)
		if err := d.do(&call{cmd: cmd, flags: flags, off: off, length: uint32(piece)}); err != nil {
			return err
		}
		off, n = off+piece, n-piece
	}
	return nil
}

// Extents describes a range by the metadata context base:allocation. Without that context all of it
// is data.
func (d *Remote) Extents(off, n uint64) ([]blocktap.Extent, error) {
	if err := d.bounds(int64(off), n); err != nil || n == 0 {
		return nil, err
	}
	if !d.allocation {
		return []blocktap.Extent{{Len: n}}, nil
	}
	c := &call{cmd: cmdBlockStatus, off: off, length: uint32(min(n, rangePayload))}
	if err := d.do(c); err != nil {
		return nil, err
	}
	return c.extents, nil
}

// Close ends the connection. It does not flush. Later calls return nil.
func (d *Remote) Close() error {
	d.mu.Lock()
	open := d.lost == nil
	if open {
		d.lost = errors.New("closed")
	}
	d.mu.Unlock()
	if open {
		_ = d.nc.SetWriteDeadline(time.Now().Add(partingTime))
		d.sendMu.Lock()
		_, _ = d.nc.Write(requestHeader(&call{cmd: cmdDisc}, 0)) // the server may be gone already
		d.sendMu.Unlock()
		_ = d.nc.Close()
	}
	<-d.received
	return nil
}

// bounds checks that a range lies within the disk. It never computes off+n, which could overflow.
func (d *Remote) bounds(off int64, n uint64) error {
	if off < 0 || uint64(off) > d.size || n > d.size-uint64(off) {
		return fmt.Errorf("%d bytes at %d: %w of %d bytes", n, off, blocktap.ErrRange, d.size)
	}
	return nil
}

func (d *Remote) writable(off int64, n uint64) error {
	if d.flags&flagReadOnly != 0 {
		return fmt.Errorf("%s: %w", d.name, blocktap.ErrReadOnly)
	}
	return d.bounds(off, n)
}

// do sends a request and waits for its answer.
func (d *Remote) do(c *call) error {
	c.done = make(chan struct{})
	d.mu.Lock()
	if d.lost != nil {
		defer d.mu.Unlock()
		return d.lostError()
	}
	d.cookie++
	cookie := d.cookie
	d.calls[cookie] = c
	d.mu.Unlock()
	if err := d.send(c, cookie); err != nil {
		// The receiving goroutine ends too, and then every call.
		d.fail(fmt.Errorf("cannot send: %w", err))
	}
	<-c.done
	return c.err
}

func (d *Remote) send(c *call, cookie uint64) error {
	bufs := net.Buffers{requestHeader(c, cookie)}
	if c.cmd == cmdWrite {
		bufs = append(bufs, c.data)
	}
	d.sendMu.Lock()
	defer d.sendMu.Unlock()
	_, err := bufs.WriteTo(d.nc)
	return err
}

// fail ends the connection because of err. The first error counts.
func (d *Remote) fail(err error) {
	d.mu.Lock()
	if d.lost == nil {
		d.lost = err
	}
	d.mu.Unlock()
	_ = d.nc.Close()
}

// lostError returns the error of requests after the end of the connection. The caller holds d.mu.
func (d *Remote) lostError() error {
	return fmt.Errorf("%s: %w: %w", d.name, ErrLost, d.lost)
}

// requestHeader returns the header of a request.
func requestHeader(c *call, cookie uint64) []byte {
	b := make([]byte, 0, requestLen)
	b = binary.BigEndian.AppendUint32(b, magicRequest)
	b = binary.BigEndian.AppendUint16(b, uint16(c.flags))
	b = binary.BigEndian.AppendUint16(b, uint16(c.cmd))
	b = binary.BigEndian.AppendUint64(b, cookie)
	b = binary.BigEndian.AppendUint64(b, c.off)
	return binary.BigEndian.AppendUint32(b, c.length)
}

// remoteErrno returns the error of a reply, as blocktap.Errno understands it.
func remoteErrno(e errno) error {
	switch e {
	case errnoPerm:
		return blocktap.ErrReadOnly
	case errnoNoSpace:
		return syscall.ENOSPC
	case errnoInvalid:
		return errors.New("the server calls the request invalid")
	default:
		return syscall.EIO
	}
}
