package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"fsward/blocktap"
)

// MaxData is the most data, in bytes, that Next returns at once. Pieces of a longer entry end at
// multiples of it on the device, so that no metadata block is cut.
const MaxData = 8 << 20

// Entry is an entry of a log, or a piece of one that is longer than MaxData.
type Entry struct {
	Index uint64 // of the entry in the log, from 0
	Pos   int64  // where its header stands in the log, bytes
	Off   uint64 // on the device, bytes
	Len   uint64 // bytes; Off+Len does not overflow an int64
	Flags Flags  // of a piece: Flush only on the first, FUA only on the last
	Data  []byte // what was written, Len bytes; nil for discard, mark and flush. Valid until the next Next
	Mark  string // the text of a mark
}

// Request returns the request that an entry records; ok is false for a mark. A write that has the Flush
// flag was preceded by a flush, which is not part of the request.
func (e *Entry) Request() (r blocktap.Request, ok bool) {
	switch {
	case e.Flags&Mark != 0:
		return blocktap.Request{}, false
	case e.Flags&Discard != 0:
		return blocktap.Request{Op: blocktap.OpTrim, Off: e.Off, Len: e.Len}, true
	case e.Len == 0:
		return blocktap.Request{Op: blocktap.OpFlush}, true
	default:
		return blocktap.Request{Op: blocktap.OpWrite, Off: e.Off, Len: e.Len, Data: e.Data, FUA: e.Flags&FUA != 0, Meta: e.Flags&Metadata != 0}, true
	}
}

// A FormatError is a place in a log that cannot be read. Its text names the entry and the file offset.
type FormatError struct {
	Entry uint64 // index of the entry; of no meaning if Super
	Super bool   // it is the superblock
	Pos   int64  // offset in the log (unpacked), bytes
	Err   error
}

func (e *FormatError) Error() string {
	if e.Super {
		return fmt.Sprintf("write log: superblock: %v", e.Err)
	}
	return fmt.Sprintf("write log: entry %d at byte %d: %v", e.Entry, e.Pos, e.Err)
}

func (e *FormatError) Unwrap() error { return e.Err }

// Reader reads a log from its beginning to its end. It takes a bounded amount of memory, whatever the
// log says. Used by one goroutine.
type Reader struct {
	r          io.Reader
	pos        int64
	sectorSize uint64
	nrEntries  uint64
	index      uint64 // of the next entry
	sector     []byte // the header's
	buf        []byte // the data's
	rest       Entry  // what is still to come of an entry that is read in pieces; Len 0: nothing
	err        error  // the first error; Next repeats it
}

// NewReader reads the superblock of a log.
func NewReader(src io.Reader) (*Reader, error) {
	r := &Reader{r: src}
	bad := func(format string, args ...any) (*Reader, error) {
		return nil, &FormatError{Super: true, Err: fmt.Errorf(format, args...)}
	}
	var b [superLen]byte
	if err := r.read(b[:]); err != nil {
		return bad("%w", err)
	}
	if m := binary.LittleEndian.Uint64(b[0:8]); m != magic {
		return bad("magic is %#x, want %#x: not a dm-log-writes log", m, uint64(magic))
	}
	if v := binary.LittleEndian.Uint64(b[8:16]); v != version {
		return bad("version %d, only %d is known", v, version)
	}
	r.nrEntries = binary.LittleEndian.Uint64(b[16:24])
	size := binary.LittleEndian.Uint32(b[24:28])
	if size < minSectorSize || size > maxSectorSize || size&(size-1) != 0 {
		return bad("sector size %d, want a power of two from %d to %d", size, minSectorSize, maxSectorSize)
	}
	r.sectorSize = uint64(size)
	r.sector = make([]byte, size)
	if err := r.read(r.sector[superLen:]); err != nil {
		return bad("%w", err)
	}
	return r, nil
}

// Entries returns the number of entries that the superblock counts.
func (r *Reader) Entries() uint64 { return r.nrEntries }

// Next returns the next entry, or the next piece of a long one. The end of the log is io.EOF; any other
// error is a *FormatError, and the log cannot be read on.
func (r *Reader) Next() (*Entry, error) {
	if r.err != nil {
		return nil, r.err
	}
	e, err := r.next()
	if err != nil {
		r.err = err
		return nil, err
	}
	return e, nil
}

func (r *Reader) next() (*Entry, error) {
	if r.rest.Len > 0 {
		return r.piece()
	}
	if r.index >= r.nrEntries {
		return nil, io.EOF
	}
	e := Entry{Index: r.index, Pos: r.pos}
	if err := r.read(r.sector); err != nil {
		return nil, e.bad("%w", err)
	}
	h := parseHeader((*[headerLen]byte)(r.sector[:headerLen]))
	if err := r.check(h); err != nil {
		return nil, e.bad("%w", err)
	}
	r.index++
	e.Off, e.Len, e.Flags = h.sector*r.sectorSize, h.nrSectors*r.sectorSize, h.flags
	switch {
	case h.flags&Mark != 0:
		e.Mark = string(r.sector[headerLen : headerLen+h.dataLen])
		return &e, nil
	case h.flags&Discard != 0, h.nrSectors == 0:
		return &e, nil
	}
	r.rest = e
	return r.piece()
}

// check holds a header against what the kernel can have written.
func (r *Reader) check(h header) error {
	if h.flags&^knownFlags != 0 {
		return fmt.Errorf("unknown flags %#x", uint64(h.flags&^knownFlags))
	}
	if limit := math.MaxInt64 / r.sectorSize; h.nrSectors > limit || h.sector > limit-h.nrSectors {
		return fmt.Errorf("%d sectors at sector %d: no device is that large", h.nrSectors, h.sector)
	}
	switch {
	case h.flags&Mark != 0:
		if h.nrSectors != 0 {
			return fmt.Errorf("a mark with %d sectors", h.nrSectors)
		}
		if h.dataLen > r.sectorSize-headerLen {
			return fmt.Errorf("a mark of %d bytes in a sector of %d", h.dataLen, r.sectorSize)
		}
	case h.dataLen > h.nrSectors*r.sectorSize: // a DAX write counts its bytes here
		return fmt.Errorf("data_len is %d in an entry of %d sectors", h.dataLen, h.nrSectors)
	case h.nrSectors == 0 && h.flags&Flush == 0:
		return errors.New("an entry without sectors that is neither flush nor mark")
	}
	return nil
}

// piece reads what comes next of the entry in rest.
func (r *Reader) piece() (*Entry, error) {
	e := r.rest
	e.Len = min(e.Len, MaxData-e.Off%MaxData)
	r.rest.Off += e.Len
	r.rest.Len -= e.Len
	r.rest.Flags &^= Flush
	if r.rest.Len > 0 {
		e.Flags &^= FUA
	}
	if uint64(cap(r.buf)) < e.Len {
		r.buf = make([]byte, e.Len)
	}
	e.Data = r.buf[:e.Len]
	if err := r.read(e.Data); err != nil {
		return nil, e.bad("%w", err)
	}
	return &e, nil
}

// read fills b. A log that ends before is cut off.
func (r *Reader) read(b []byte) error {
	n, err := io.ReadFull(r.r, b)
	r.pos += int64(n)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the log ends at byte %d: %w", r.pos, io.ErrUnexpectedEOF)
	default:
		return fmt.Errorf("at byte %d: %w", r.pos, err)
	}
}

func (e *Entry) bad(format string, args ...any) error {
	return &FormatError{Entry: e.Index, Pos: e.Pos, Err: fmt.Errorf(format, args...)}
}

// File is a log in a file.
type File struct {
	*Reader
	plain io.Closer
	f     *os.File
}

// Open opens a log, which may be compressed with zstd or gzip.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	plain, _, err := blocktap.Decompress(f)
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	l := &File{plain: plain, f: f}
	if l.Reader, err = NewReader(plain); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return l, nil
}

// Close closes the file.
func (l *File) Close() error { return errors.Join(l.plain.Close(), l.f.Close()) }
