package nbd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"

	"go.uber.org/zap"

	"fsward/blocktap"
)

// transmit reads requests until the client ends the connection or breaks the protocol, and performs
// each on its own goroutine. It reads the whole data of a write even if the write is invalid, so
// that it finds the beginning of the next request.
func (c *conn) transmit(e *Export) error {
	var head [requestLen]byte
	for {
		if err := c.read(head[:]); err != nil {
			return err
		}
		r, ok := parseRequest(&head)
		if !ok {
			return malformed("request with magic %#x", binary.BigEndian.Uint32(head[:4]))
		}
		if r.cmd == cmdDisc {
			return errDone
		}
		budget, size := c.reads, uint32(0) // size: bytes of memory that the request takes
		switch r.cmd {
		case cmdWrite:
			if r.length > maxPayload {
				return malformed("write of %d bytes, at most %d are allowed", r.length, maxPayload)
			}
			budget, size = c.changes, r.length
		case cmdTrim, cmdWriteZeroes:
			budget = c.changes
		case cmdRead:
			size = min(r.length, maxPayload)
		}
		if err := budget.acquire(c.ctx, size); err != nil {
			return err
		}
		var payload []byte
		if r.cmd == cmdWrite {
			payload = make([]byte, r.length)
			if err := c.read(payload); err != nil {
				budget.release(size)
				return err
			}
		}
		c.inFlight.Go(func() {
			defer budget.release(size)
			c.perform(e, r, payload)
		})
	}
}

// perform performs a request and answers it. If send fails, it closes the connection, so that the
// reading goroutine ends.
func (c *conn) perform(e *Export, r request, payload []byte) {
	if r.cmd == cmdBlockStatus {
		chunk, err := c.blockStatus(e, r)
		if err != nil {
			c.fail(e, r, err)
			return
		}
		_ = c.send(append(structuredReply(r.cookie, chunkBlockStatus, len(chunk)), chunk...))
		return
	}
	q, err := c.translate(e, r, payload)
	if err == nil {
		err = e.Device.Do(c.ctx, q)
	}
	switch {
	case err != nil:
		c.fail(e, r, err)
	case r.cmd == cmdRead && c.structured:
		head := structuredReply(r.cookie, chunkOffsetData, 8+len(q.Data))
		_ = c.send(binary.BigEndian.AppendUint64(head, r.off), q.Data)
	case r.cmd == cmdRead:
		_ = c.send(simpleReply(r.cookie, errnoOK), q.Data)
	case c.structured:
		_ = c.send(structuredReply(r.cookie, chunkNone, 0))
	default:
		_ = c.send(simpleReply(r.cookie, errnoOK))
	}
}

// errInvalid is the error of an invalid request, wrapped with the reason.
var errInvalid = errors.New("invalid request")

// translate returns the device request for a client's request.
func (c *conn) translate(e *Export, r request, payload []byte) (*blocktap.Request, error) {
	q := &blocktap.Request{Off: r.off, Len: uint64(r.length), FUA: r.flags&cmdFlagFUA != 0}
	allowed := cmdFlagFUA // with every command; without effect unless the command writes
	switch r.cmd {
	case cmdRead:
		q.Op, q.FUA = blocktap.OpRead, false
		if c.structured {
			allowed |= cmdFlagDF
		}
		if r.length > maxPayload {
			return nil, fmt.Errorf("%w: read of %d bytes, at most %d are allowed",
				errInvalid, r.length, maxPayload)
		}
	case cmdWrite:
		q.Op, q.Data = blocktap.OpWrite, payload
	case cmdFlush:
		q = &blocktap.Request{Op: blocktap.OpFlush}
		if r.flags&^allowed != 0 || r.off != 0 || r.length != 0 {
			return nil, fmt.Errorf("%w: flush with flags, offset or length", errInvalid)
		}
		return q, nil
	case cmdTrim:
		q.Op = blocktap.OpTrim
	case cmdWriteZeroes:
		q.Op, q.NoHole = blocktap.OpZero, r.flags&cmdFlagNoHole != 0
		allowed |= cmdFlagNoHole // FAST_ZERO is not offered
	default:
		return nil, fmt.Errorf("%w: unknown command %d", errInvalid, r.cmd)
	}
	if bad := r.flags &^ allowed; bad != 0 {
		return nil, fmt.Errorf("%w: flags %#x with command %d", errInvalid, uint16(bad), r.cmd)
	}
	if r.length == 0 {
		return nil, fmt.Errorf("%w: the length is 0", errInvalid)
	}
	if e.ReadOnly && q.Op != blocktap.OpRead {
		return nil, blocktap.ErrReadOnly
	}
	// Check the range before the allocation of memory for it.
	if err := e.checkRange(r); err != nil {
		return nil, err
	}
	if q.Op == blocktap.OpRead {
		q.Data = make([]byte, r.length)
	}
	return q, nil
}

// checkRange returns an error unless the range of a request lies within the disk.
func (e *Export) checkRange(r request) error {
	if size := e.Device.Size(); r.off > size || uint64(r.length) > size-r.off {
		return fmt.Errorf("%d bytes at %d: %w of %d bytes", r.length, r.off, blocktap.ErrRange, size)
	}
	return nil
}

// fail answers a request with an error.
func (c *conn) fail(e *Export, r request, err error) {
	num := number(err)
	level := zap.WarnLevel
	if num == errnoInvalid || num == errnoPerm {
		level = zap.DebugLevel // a client can cause these errors at any rate
	}
	c.log.Log(level, "nbd: request failed", zap.String("export", e.Name),
		zap.Uint16("command", uint16(r.cmd)), zap.Uint64("offset", r.off),
		zap.Uint32("length", r.length), zap.Uint32("errno", uint32(num)), zap.Error(err))
	if !c.structured {
		_ = c.send(simpleReply(r.cookie, num))
		return
	}
	text := err.Error()
	text = text[:min(len(text), maxString)]
	b := binary.BigEndian.AppendUint32(structuredReply(r.cookie, chunkError, 6+len(text)), uint32(num))
	b = binary.BigEndian.AppendUint16(b, uint16(len(text)))
	_ = c.send(append(b, text...))
}

// number returns the protocol's number for an error. A refused write is an I/O error.
func number(err error) errno {
	if errors.Is(err, errInvalid) {
		return errnoInvalid
	}
	switch blocktap.Errno(err) {
	case 0:
		return errnoOK
	case syscall.EINVAL:
		return errnoInvalid
	case syscall.EROFS:
		return errnoPerm
	case syscall.ENOSPC:
		return errnoNoSpace
	default:
		return errnoIO
	}
}

// blockStatus returns the data of the reply to a block status request for base:allocation. If the
// disk does not know its holes, all of it is data.
func (c *conn) blockStatus(e *Export, r request) ([]byte, error) {
	if c.metaContext == nil {
		return nil, fmt.Errorf("%w: block status without a metadata context", errInvalid)
	}
	if r.flags&^(cmdFlagReqOne|cmdFlagFUA) != 0 || r.length == 0 {
		return nil, fmt.Errorf("%w: block status with flags %#x, length %d",
			errInvalid, uint16(r.flags), r.length)
	}
	if err := e.checkRange(r); err != nil {
		return nil, err
	}
	runs := []blocktap.Extent{{Len: uint64(r.length)}}
	if disk, ok := e.Device.Disk().(blocktap.Extenter); ok {
		var err error
		if runs, err = disk.Extents(r.off, uint64(r.length)); err != nil {
			return nil, err
		}
	}
	if r.flags&cmdFlagReqOne != 0 {
		runs = runs[:1]
	}
	b := binary.BigEndian.AppendUint32(nil, allocationID)
	for _, run := range runs {
		state := uint32(0)
		if run.Hole {
			state = stateHole | stateZero
		}
		b = binary.BigEndian.AppendUint32(b, uint32(run.Len))
		b = binary.BigEndian.AppendUint32(b, state)
	}
	return b, nil
}
