package agent

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// A frame is a header and a payload. The header, in little-endian order:
//
//	0  u32 magic
//	4  u16 version
//	6  u16 kind; an answer has the kind of its request, combined with kindAnswer
//	8  u64 id of the request
//	16 u32 length of the payload, at most MaxPayload
//	20 u32 CRC-32C of the 20 bytes before
//
// The port carries bytes reliably, so the payload has no checksum. The header has one because a
// restore of the guest to a checkpoint can interrupt the stream in the middle of a frame. The
// reader then searches the stream for the next header.
const (
	magic      = 0x41575346 // "FSWA"
	headerSize = 24
)

// Version is the version of the protocol. Both sides must have the same one.
const Version = 6

// MaxPayload bounds the payload of a frame, in bytes.
const MaxPayload = 4 << 20

// ErrVersion means that the other side speaks another version of the protocol.
var ErrVersion = errors.New("the other side speaks another version of the agent's protocol " +
	"(make guest rebuilds the guest)")

// A kind is the kind of a request or an answer.
type kind uint16

const (
	kindHello   kind = 1 + iota
	kindPing         // the answer has the payload of the request
	kindRun          // a Command
	kindDo           // a Batch
	kindLog          // read a part of the RAM disks' log
	kindHold         // ignore all requests up to the next kindRelease
	kindRelease      // end kindHold; it is always answered
	kindWrites       // read a part of the log of fsw_ekm
)

// Flags of the kind of an answer.
const (
	kindAnswer kind = 0x8000
	kindFailed kind = 0x4000 // the request failed; the payload is the reason as text
)

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// crcOf returns the CRC-32C of b.
func crcOf(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// A frame is one message of the protocol.
type frame struct {
	kind    kind
	id      uint64
	payload []byte
}

// encode returns the bytes of the frame. The caller limits the payload to MaxPayload bytes.
func (f *frame) encode() []byte {
	b := le.AppendUint32(make([]byte, 0, headerSize+len(f.payload)), magic)
	b = le.AppendUint16(b, Version)
	b = le.AppendUint16(b, uint16(f.kind))
	b = le.AppendUint64(b, f.id)
	b = le.AppendUint32(b, uint32(len(f.payload)))
	b = le.AppendUint32(b, crcOf(b))
	return append(b, f.payload...)
}

// A frameReader finds frames in a stream of bytes.
type frameReader struct{ r *bufio.Reader }

func newFrameReader(r io.Reader) *frameReader {
	return &frameReader{bufio.NewReaderSize(r, 64<<10)}
}

// next returns the next frame, and skips bytes that do not belong to a frame. It returns io.EOF if
// the stream ends between two frames, io.ErrUnexpectedEOF if it ends within one, and ErrVersion for
// a frame of another version.
func (r *frameReader) next() (frame, error) {
	for {
		h, err := r.r.Peek(headerSize)
		if err != nil {
			if errors.Is(err, io.EOF) && len(h) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return frame{}, err
		}
		length := le.Uint32(h[16:])
		if le.Uint32(h) != magic || le.Uint32(h[20:]) != crcOf(h[:20]) || length > MaxPayload {
			if _, err := r.r.Discard(1); err != nil {
				return frame{}, err
			}
			continue
		}
		f := frame{kind: kind(le.Uint16(h[6:])), id: le.Uint64(h[8:])}
		if v := le.Uint16(h[4:]); v != Version {
			return frame{}, fmt.Errorf("%w: %d, this side speaks %d", ErrVersion, v, Version)
		}
		if _, err := r.r.Discard(headerSize); err != nil {
			return frame{}, err
		}
		// CopyN allocates memory as data arrives, so that a wrong length alone takes none.
		var buf bytes.Buffer
		if _, err := io.CopyN(&buf, r.r, int64(length)); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return frame{}, err
		}
		f.payload = buf.Bytes()
		return f, nil
	}
}
