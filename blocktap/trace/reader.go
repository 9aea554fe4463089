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

// MaxData is the largest number of bytes of data that Next returns at once. Next splits a longer
// entry at device offsets that are multiples of MaxData, so that it does not split metadata blocks.
const MaxData = 8 << 20

// An Entry is an entry of a log, or a piece of an entry that is longer than MaxData.
type Entry struct {
	Index uint64 // of the entry in the log, from 0
	Pos   int64  // offset of the entry's header in the log, in bytes
	Off   uint64 // offset on the device, in bytes
	Len   uint64 // in bytes; Off+Len does not overflow an int64
	Flags Flags  // only the first piece has Flush, and only the last FUA
	Data  []byte // Len bytes, valid until the next call of Next; nil for discard, mark and flush
	Mark  string // the text of a mark
}

// Request returns the request that an entry records. ok is false for a mark. If a write has the
// Flush flag, a flush came before it, which the request does not include.
func (e *Entry) Request() (r blocktap.Request, ok bool) {
	switch {
	case e.Flags&Mark != 0:
		return blocktap.Request{}, false
	case e.Flags&Discard != 0:
		return blocktap.Request{Op: blocktap.OpTrim, Off: e.Off, Len: e.Len}, true
	case e.Len == 0:
		return blocktap.Request{Op: blocktap.OpFlush}, true
	default:
		return blocktap.Request{
			Op:   blocktap.OpWrite,
			Off:  e.Off,
			Len:  e.Len,
			Data: e.Data,
			FUA:  e.Flags&FUA != 0,
			Meta: e.Flags&Metadata != 0,
		}, true
	}
}

// A FormatError says that a log is invalid. Its text names the entry and its offset.
type FormatError struct {
	Entry uint64 // index of the invalid entry unless Super
	Super bool   // the superblock is invalid
	Pos   int64  // offset of the entry in the decompressed log, in bytes
	Err   error
}

func (e *FormatError) Error() string {
	if e.Super {
		return fmt.Sprintf("write log: superblock: %v", e.Err)
	}
	return fmt.Sprintf("write log: entry %d at byte %d: %v", e.Entry, e.Pos, e.Err)
}

func (e *FormatError) Unwrap() error { return e.Err }

// A Reader reads a log from its beginning to its end. The memory that it takes is bounded for every
// input. Only one goroutine may use it.
type Reader struct {
	r          io.Reader
	pos        int64 // bytes read so far
	sectorSize uint64
	nrEntries  uint64
	index      uint64 // of the next entry
	sector     []byte // buffer for the sector of a header
	buf        []byte // buffer for data
	rest       Entry  // the part of the current entry that was not returned yet; Len is 0 if none
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
		return bad("version %d, only version %d is supported", v, version)
	}
	r.nrEntries = binary.LittleEndian.Uint64(b[16:24])
	size := binary.LittleEndian.Uint32(b[24:28])
	if size < minSectorSize || size > maxSectorSize || size&(size-1) != 0 {
		return bad("sector size %d, want a power of two from %d to %d",
			size, minSectorSize, maxSectorSize)
	}
	r.sectorSize = uint64(size)
	r.sector = make([]byte, size)
	if err := r.read(r.sector[superLen:]); err != nil {
		return bad("%w", err)
	}
	return r, nil
}

// Entries returns the number of entries according to the superblock.
func (r *Reader) Entries() uint64 { return r.nrEntries }

// Next returns the next entry, or the next piece of a long one. At the end of the log the error is
// io.EOF. Any other error is a *FormatError; later calls return it again.
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

// check returns an error if the kernel cannot have written the header.
func (r *Reader) check(h header) error {
	if h.flags&^knownFlags != 0 {
		return fmt.Errorf("unknown flags %#x", uint64(h.flags&^knownFlags))
	}
	limit := math.MaxInt64 / r.sectorSize
	if h.nrSectors > limit || h.sector > limit-h.nrSectors {
		return fmt.Errorf("%d sectors at sector %d: no device is that large", h.nrSectors, h.sector)
	}
	switch {
	case h.flags&Mark != 0:
		if h.nrSectors != 0 {
			return fmt.Errorf("a mark with %d sectors", h.nrSectors)
		}
		if h.dataLen > r.sectorSize-headerLen {
			return fmt.Errorf("a mark of %d bytes in a sector of %d bytes", h.dataLen, r.sectorSize)
		}
	case h.dataLen > h.nrSectors*r.sectorSize: // a DAX write stores its length in data_len
		return fmt.Errorf("data_len is %d in an entry of %d sectors", h.dataLen, h.nrSectors)
	case h.nrSectors == 0 && h.flags&Flush == 0:
		return errors.New("an entry without sectors is neither flush nor mark")
	}
	return nil
}

// piece reads the next piece of the current entry.
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

// read fills b. If the log ends before, it is truncated, and the error is io.ErrUnexpectedEOF.
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

// A File is a Reader of a log in a file.
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

// Each calls visit for each entry of a log. The entry is valid until visit returns.
func Each(path string, visit func(*Entry) error) error {
	file, err := Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	for {
		e, err := file.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = visit(e)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
}
