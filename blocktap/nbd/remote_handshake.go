package nbd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
)

const (
	// maxReplies bounds the replies to one option, maxReplyLen the bytes of one.
	maxReplies  = 64
	maxReplyLen = 64 << 10
	// defaultPayload is the largest read or write in bytes if the server announces no limit.
	defaultPayload = 32 << 20

	repErrTLSRequired = 1<<31 + 5
	repIsError        = 1 << 31
)

// A handshake is a client's side of the fixed newstyle handshake.
type handshake struct{ nc io.ReadWriter }

// run chooses an export, with structured replies and base:allocation if the server has them.
func (h *handshake) run(export string) (p props, err error) {
	if len(export) > maxString {
		return p, fmt.Errorf("the name of the export has %d bytes, at most %d are possible",
			len(export), maxString)
	}
	if err := h.greet(); err != nil {
		return p, err
	}
	if p.structured, err = h.option(optStructuredReply, nil, nil); err != nil {
		return p, err
	}
	if p.structured {
		query := encode(export)
		query = binary.BigEndian.AppendUint32(query, 1)
		query = append(query, encode(contextAllocation)...)
		known, err := h.option(optSetMetaContext, query, func(typ uint32, b []byte) error {
			if typ == repMetaContext && len(b) >= 4 && string(b[4:]) == contextAllocation {
				p.allocation, p.contextID = true, binary.BigEndian.Uint32(b)
			}
			return nil
		})
		if err != nil {
			return p, err
		}
		p.allocation = p.allocation && known
	}
	return p, h.choose(export, &p)
}

// greet reads the greeting and answers it.
func (h *handshake) greet() error {
	var b [greetingLen]byte
	if _, err := io.ReadFull(h.nc, b[:]); err != nil {
		return fmt.Errorf("no NBD greeting: %w", err)
	}
	flags := binary.BigEndian.Uint16(b[16:])
	if binary.BigEndian.Uint64(b[:]) != magicServer ||
		binary.BigEndian.Uint64(b[8:]) != magicOption || flags&handshakeFixedNewstyle == 0 {
		return errors.New("it does not speak the fixed newstyle handshake of NBD")
	}
	answer := uint32(handshakeFixedNewstyle)
	if flags&handshakeNoZeroes != 0 {
		answer |= handshakeNoZeroes
	}
	_, err := h.nc.Write(binary.BigEndian.AppendUint32(nil, answer))
	return err
}

// encode encodes a string with its length before it.
func encode(s string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...)
}

// option sends an option, passes each reply except the last to each, and reports whether the server
// has accepted the option.
func (h *handshake) option(opt option, data []byte,
	each func(typ uint32, b []byte) error) (accepted bool, err error) {
	refused, err := h.ask(opt, data, each)
	var no *optionError
	if errors.As(refused, &no) && no.typ == repErrTLSRequired {
		return false, refused
	}
	return refused == nil, err
}

// An optionError is a server's refusal of an option.
type optionError struct {
	opt  option
	typ  uint32
	text string
}

func (e *optionError) Error() string {
	switch {
	case e.typ == repErrTLSRequired:
		return "it requires TLS, which is not supported"
	case e.text != "":
		return "it says: " + e.text
	case e.typ == repErrUnknown:
		return "it has no such export"
	default:
		return fmt.Sprintf("it refuses option %d with error %d", e.opt, e.typ&^repIsError)
	}
}

// ask sends an option and reads its replies. refused is an *optionError if the server refuses the
// option; err is an error of the connection or of the protocol.
func (h *handshake) ask(opt option, data []byte,
	each func(typ uint32, b []byte) error) (refused, err error) {
	b := binary.BigEndian.AppendUint64(nil, magicOption)
	b = binary.BigEndian.AppendUint32(b, uint32(opt))
	b = binary.BigEndian.AppendUint32(b, uint32(len(data)))
	if _, err := h.nc.Write(append(b, data...)); err != nil {
		return nil, err
	}
	for range maxReplies {
		typ, b, err := h.reply(opt)
		switch {
		case err != nil:
			return nil, err
		case typ == repAck:
			return nil, nil
		case typ&repIsError != 0:
			return &optionError{opt, typ, printable(b)}, nil
		case each != nil:
			if err := each(typ, b); err != nil {
				return nil, err
			}
		}
	}
	return nil, fmt.Errorf("more than %d replies to option %d", maxReplies, opt)
}

// reply reads one reply to an option.
func (h *handshake) reply(opt option) (typ uint32, data []byte, err error) {
	var head [optionReplyLen]byte
	if _, err := io.ReadFull(h.nc, head[:]); err != nil {
		return 0, nil, err
	}
	length := binary.BigEndian.Uint32(head[16:])
	if binary.BigEndian.Uint64(head[:]) != magicOptionReply ||
		option(binary.BigEndian.Uint32(head[8:])) != opt || length > maxReplyLen {
		return 0, nil, fmt.Errorf("malformed reply to option %d", opt)
	}
	data = make([]byte, length)
	_, err = io.ReadFull(h.nc, data)
	return binary.BigEndian.Uint32(head[12:]), data, err
}

// choose enters the transmission phase with an export.
func (h *handshake) choose(export string, p *props) error {
	data := encode(export)
	data = binary.BigEndian.AppendUint16(data, 1)
	data = binary.BigEndian.AppendUint16(data, infoBlockSize)
	p.maxPayload = defaultPayload
	described := false
	refused, err := h.ask(optGo, data, func(typ uint32, b []byte) error {
		if typ != repInfo || len(b) < 2 {
			return nil
		}
		switch kind, b := binary.BigEndian.Uint16(b), b[2:]; {
		case kind == infoExport && len(b) == 10:
			p.size, p.flags = binary.BigEndian.Uint64(b), binary.BigEndian.Uint16(b[8:])
			described = true
		case kind == infoBlockSize && len(b) == 12:
			return p.blockSize(binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[8:]))
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case refused != nil:
		return refused
	case !described:
		return errors.New("it does not describe the export")
	case p.size > 1<<63-1:
		return fmt.Errorf("an export of %d bytes", p.size)
	}
	return nil
}

// blockSize sets the limits of an export, in bytes. It returns an error if no request fits them.
func (p *props) blockSize(smallest, largest uint32) error {
	if smallest > minBlock {
		return fmt.Errorf("its smallest request has %d bytes, more than %d", smallest, minBlock)
	}
	// The limit is a whole number of blocks, so that parts of a request are aligned.
	largest = min(largest, defaultPayload) / preferredBlock * preferredBlock
	if largest == 0 {
		return errors.New("its largest request is smaller than a block")
	}
	p.maxPayload = largest
	return nil
}

// printable returns a text of a server without control characters.
func printable(b []byte) string {
	s := strconv.Quote(string(b[:min(len(b), maxString)]))
	return s[1 : len(s)-1]
}
