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
//	6  u16 kind; an answer has that of its request with kindAnswer
//	8  u64 id of the request
//	16 u32 length of the payload, at most MaxPayload
//	20 u32 CRC-32C of the 20 bytes before
//
// The port carries bytes reliably, so the payload has no sum. The header has one because the stream can be cut in the middle
// of a frame, when the guest is put back to a checkpoint: what follows is searched for the next header.
const (
	magic      = 0x41575346 // "FSWA"
	headerSize = 24
)

// Version is that of the protocol. Both sides have to have the same.
const Version = 2

// MaxPayload bounds a frame, bytes.
const MaxPayload = 4 << 20

// ErrVersion means that the other side speaks another version.
var ErrVersion = errors.New("the other side speaks another version of the agent's protocol (make guest builds the guest anew)")

type kind uint16

const (
	kindHello   kind = 1 + iota
	kindPing         // the payload comes back
	kindRun          // a Command
	kindDo           // a Batch
	kindLog          // a piece of the RAM disks' log
	kindHold         // all requests up to the next release are passed over
	kindRelease      // answered in any case
	kindWrites       // a piece of the log of fsw_ekm
)

const (
	kindAnswer kind = 0x8000
	kindFailed kind = 0x4000 // of an answer: the payload is a text that says why
)

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

func crcOf(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

type frame struct {
	kind    kind
	id      uint64
	payload []byte
}

// encode returns the frame as it is sent. The payload is at most MaxPayload long.
func (f *frame) encode() []byte {
	b := le.AppendUint32(make([]byte, 0, headerSize+len(f.payload)), magic)
	b = le.AppendUint16(b, Version)
	b = le.AppendUint16(b, uint16(f.kind))
	b = le.AppendUint64(b, f.id)
	b = le.AppendUint32(b, uint32(len(f.payload)))
	b = le.AppendUint32(b, crcOf(b))
	return append(b, f.payload...)
}

// frameReader finds frames in a stream.
type frameReader struct{ r *bufio.Reader }

func newFrameReader(r io.Reader) *frameReader { return &frameReader{bufio.NewReaderSize(r, 64<<10)} }

// next returns the next frame; what is none is passed over. The end of the stream between two frames is io.EOF.
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
			return frame{}, fmt.Errorf("%w: %d, here it is %d", ErrVersion, v, Version)
		}
		if _, err := r.r.Discard(headerSize); err != nil {
			return frame{}, err
		}
		// A length that is not true takes no more memory than there is data.
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
