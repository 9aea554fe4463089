package nbd

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"fsward/blocktap"
)

// Types and flags of structured reply chunks that this server does not send, but others do.
const (
	chunkOffsetHole  = 2
	chunkErrorOffset = 1<<15 + 2
	chunkIsError     = 1 << 15
	// maxChunks bounds the chunks of the answer to one request, maxStatus the bytes of a description
	// of extents, and maxErrorText those of an error.
	maxChunks    = 1 << 16
	maxStatus    = 16 << 20
	maxErrorText = 64 << 10
)

// A call is a request that waits for its answer. The receiving goroutine fills in the results and
// closes done.
type call struct {
	cmd    command
	flags  commandFlags
	off    uint64
	length uint32
	data   []byte // of a write; or the buffer of a read

	got     []span // parts of a read that have arrived
	chunks  int
	extents []blocktap.Extent
	err     error
	done    chan struct{}
}

// A span is a part of a read.
type span struct{ start, end uint32 }

// receive receives answers until the connection ends. It then fails all calls.
func (d *Remote) receive() {
	defer close(d.received)
	r := bufio.NewReaderSize(d.nc, 64<<10)
	var err error
	for err == nil {
		err = d.reply(r)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the server has closed it")
	}
	d.fail(err)
	d.mu.Lock()
	defer d.mu.Unlock()
	for cookie, c := range d.calls {
		c.err = d.lostError()
		delete(d.calls, cookie)
		close(c.done)
	}
}

// reply receives a simple reply or one chunk of a structured one. An error ends the connection.
func (d *Remote) reply(r *bufio.Reader) error {
	var magic [4]byte
	if _, err := io.ReadFull(r, magic[:]); err != nil {
		return err
	}
	switch m := binary.BigEndian.Uint32(magic[:]); {
	case m == magicSimpleReply:
		return d.simple(r)
	case m == magicStructuredReply && d.structured:
		return d.chunk(r)
	default:
		return fmt.Errorf("reply with magic %#x", m)
	}
}

func (d *Remote) simple(r *bufio.Reader) error {
	var head [simpleReplyLen - 4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	cookie := binary.BigEndian.Uint64(head[4:])
	c, err := d.find(cookie)
	if err != nil {
		return err
	}
	if e := errno(binary.BigEndian.Uint32(head[:])); e != errnoOK {
		c.fail(remoteErrno(e), "")
	} else if c.cmd == cmdRead {
		if d.structured {
			return errors.New("simple reply to a read after structured replies were chosen")
		}
		if _, err := io.ReadFull(r, c.data); err != nil {
			return err
		}
		c.got = []span{{0, c.length}}
	}
	d.finish(cookie, c)
	return nil
}

// find returns the call that an answer belongs to.
func (d *Remote) find(cookie uint64) (*call, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.calls[cookie]; c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("reply to request %d, which was not sent", cookie)
}

// finish ends a call whose answer is complete.
func (d *Remote) finish(cookie uint64, c *call) {
	d.mu.Lock()
	delete(d.calls, cookie)
	d.mu.Unlock()
	if c.err == nil {
		c.err = c.complete()
	}
	if c.err != nil {
		c.err = fmt.Errorf("%s: %w", d.name, c.err)
	}
	close(c.done)
}

// chunk receives a chunk of a structured reply.
func (d *Remote) chunk(r *bufio.Reader) error {
	var head [structuredReplyLen - 4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	flags, typ := binary.BigEndian.Uint16(head[0:]), binary.BigEndian.Uint16(head[2:])
	cookie, length := binary.BigEndian.Uint64(head[4:]), binary.BigEndian.Uint32(head[12:])
	c, err := d.find(cookie)
	if err != nil {
		return err
	}
	if c.chunks++; c.chunks > maxChunks {
		return fmt.Errorf("more than %d chunks in an answer", maxChunks)
	}
	switch {
	case typ == chunkNone && length == 0:
	case typ == chunkOffsetData && c.cmd == cmdRead:
		err = c.receiveData(r, length)
	case typ == chunkOffsetHole && c.cmd == cmdRead && length == 12:
		err = c.receiveHole(r)
	case typ == chunkBlockStatus && c.cmd == cmdBlockStatus:
		err = c.receiveStatus(r, length, d.contextID)
	case typ&chunkIsError != 0:
		err = c.receiveError(r, length)
	default:
		err = fmt.Errorf("chunk of type %d with %d bytes as answer to command %d", typ, length, c.cmd)
	}
	if err == nil && flags&chunkFlagDone != 0 {
		d.finish(cookie, c)
	}
	return err
}

// fail notes an error of the server; the first one counts.
func (c *call) fail(err error, text string) {
	if c.err != nil {
		return
	}
	if text != "" {
		err = fmt.Errorf("%w (the server says: %s)", err, text)
	}
	c.err = err
}

// place returns the part of a read that n bytes at an offset of the disk belong to.
func (c *call) place(off, n uint64) (span, error) {
	if n == 0 || off < c.off || off-c.off > uint64(c.length) || n > uint64(c.length)-(off-c.off) {
		return span{}, fmt.Errorf("%d bytes at %d as answer to a read of %d bytes at %d",
			n, off, c.length, c.off)
	}
	start := uint32(off - c.off)
	return span{start, start + uint32(n)}, nil
}

func (c *call) receiveData(r io.Reader, length uint32) error {
	var off [8]byte
	if length < 8 {
		return fmt.Errorf("chunk of data with %d bytes", length)
	}
	if _, err := io.ReadFull(r, off[:]); err != nil {
		return err
	}
	s, err := c.place(binary.BigEndian.Uint64(off[:]), uint64(length-8))
	if err != nil {
		return err
	}
	c.got = append(c.got, s)
	_, err = io.ReadFull(r, c.data[s.start:s.end])
	return err
}

func (c *call) receiveHole(r io.Reader) error {
	var b [12]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return err
	}
	s, err := c.place(binary.BigEndian.Uint64(b[:]), uint64(binary.BigEndian.Uint32(b[8:])))
	if err != nil {
		return err
	}
	c.got = append(c.got, s)
	clear(c.data[s.start:s.end])
	return nil
}

// receiveStatus receives the description of extents. It ignores extents beyond the range, and those
// beyond the number that a caller takes.
func (c *call) receiveStatus(r io.Reader, length, context uint32) error {
	if length < 12 || length%8 != 4 || length > maxStatus {
		return fmt.Errorf("block status of %d bytes", length)
	}
	b := make([]byte, length)
	if _, err := io.ReadFull(r, b); err != nil {
		return err
	}
	if id := binary.BigEndian.Uint32(b); id != context {
		return fmt.Errorf("block status of the metadata context %d, which was not chosen", id)
	}
	left := c.length
	for b = b[4:]; len(b) > 0 && left > 0 && len(c.extents) < blocktap.MaxExtents; b = b[8:] {
		n, state := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
		if n == 0 {
			return errors.New("block status with an extent of no length")
		}
		n = min(n, left)
		left -= n
		hole := state&(stateHole|stateZero) == stateHole|stateZero
		c.extents = append(c.extents, blocktap.Extent{Len: uint64(n), Hole: hole})
	}
	return nil
}

func (c *call) receiveError(r io.Reader, length uint32) error {
	if length < 6 || length > maxErrorText {
		return fmt.Errorf("error of %d bytes", length)
	}
	b := make([]byte, length)
	if _, err := io.ReadFull(r, b); err != nil {
		return err
	}
	text := b[6:]
	if n := int(binary.BigEndian.Uint16(b[4:])); n <= len(text) {
		text = text[:n]
	}
	e := errno(binary.BigEndian.Uint32(b))
	if e == errnoOK {
		return errors.New("error chunk without an error")
	}
	c.fail(remoteErrno(e), printable(text))
	return nil
}

// complete returns an error unless the answer covers the whole request.
func (c *call) complete() error {
	switch c.cmd {
	case cmdRead:
		slices.SortFunc(c.got, func(a, b span) int { return int(int64(a.start) - int64(b.start)) })
		var at uint32
		for _, s := range c.got {
			if s.start != at {
				return fmt.Errorf("the answer to a read has a gap or an overlap at byte %d", at)
			}
			at = s.end
		}
		if at != c.length {
			return fmt.Errorf("the answer to a read of %d bytes has %d", c.length, at)
		}
	case cmdBlockStatus:
		if len(c.extents) == 0 {
			return errors.New("the answer to a block status request has no extent")
		}
	}
	return nil
}
