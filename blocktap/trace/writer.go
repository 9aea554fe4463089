package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"fsward/blocktap"
)

// zeroPiece is the largest number of bytes that one entry zeros. Tools that read logs load a whole
// entry into memory.
const zeroPiece = 1 << 20

// A Writer writes a log. After each entry it updates the count in the superblock, so that the log
// of a killed process contains all complete entries. Only Close syncs the file: before that, a
// crash of the machine can damage the log. A Writer is safe for concurrent use.
//
// A Writer records OpZero as writes of zeros, which are holes in the file. The kernel does the same
// above dm-log-writes, because that target does not accept write-zeroes.
type Writer struct {
	order   *order // its lock is held while the log changes
	w       io.WriterAt
	f       *os.File // nil unless Create made the Writer
	next    int64    // offset of the next entry, in bytes
	entries uint64
	err     error // the first error; no entry is written after it
}

var _ blocktap.Recorder = (*Writer)(nil)

// NewWriter begins a log with sectors of 512 bytes. w must be empty, because the Writer skips
// zeros.
func NewWriter(w io.WriterAt) (*Writer, error) {
	l := &Writer{order: &order{}, w: w, next: blocktap.SectorSize}
	var b [blocktap.SectorSize]byte
	binary.LittleEndian.PutUint64(b[0:], magic)
	binary.LittleEndian.PutUint64(b[8:], version)
	binary.LittleEndian.PutUint32(b[24:], blocktap.SectorSize)
	if _, err := w.WriteAt(b[:], 0); err != nil {
		return nil, fmt.Errorf("write log: %w", err)
	}
	return l, nil
}

// Create begins a log in a new file. If the file exists, it returns an error and does not change
// the file.
func Create(path string) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("%s exists already: a log needs a new file", path)
	}
	if err != nil {
		return nil, err
	}
	l, err := NewWriter(f)
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	l.f = f
	return l, nil
}

// Log records a request. It skips reads and changes of length 0. After a failed write, the log
// accepts no more entries and contains those before the failure.
func (l *Writer) Log(r *blocktap.Request) error {
	if (r.Off|r.Len)%blocktap.SectorSize != 0 {
		return fmt.Errorf("write log: %s of %d bytes at %d: %w",
			r.Op, r.Len, r.Off, blocktap.ErrUnaligned)
	}
	if r.Op == blocktap.OpWrite && uint64(len(r.Data)) != r.Len {
		return fmt.Errorf("write log: write of %d bytes with %d bytes of data", r.Len, len(r.Data))
	}
	if r.Op == blocktap.OpRead || r.Op != blocktap.OpFlush && r.Len == 0 {
		return nil
	}
	h := header{sector: r.Off / blocktap.SectorSize, nrSectors: r.Len / blocktap.SectorSize}
	if r.FUA {
		h.flags |= FUA
	}
	if r.Meta {
		h.flags |= Metadata
	}
	l.order.mu.Lock()
	defer l.order.mu.Unlock()
	if err := l.takeTurn(); err != nil {
		return err
	}
	switch r.Op {
	case blocktap.OpFlush:
		return l.append(header{flags: Flush}, nil)
	case blocktap.OpTrim:
		h.flags |= Discard
		return l.append(h, nil)
	case blocktap.OpWrite:
		return l.append(h, r.Data)
	case blocktap.OpZero:
		return l.zeros(h)
	default:
		return fmt.Errorf("write log: cannot record operation %s", r.Op)
	}
}

// Mark records a text. A reader can stop at it.
func (l *Writer) Mark(text string) error {
	if most := blocktap.SectorSize - headerLen - 1; len(text) > most {
		return fmt.Errorf("write log: a mark of %d bytes, at most %d fit", len(text), most)
	}
	l.order.mu.Lock()
	defer l.order.mu.Unlock()
	if err := l.takeTurn(); err != nil {
		return err
	}
	return l.append(header{flags: Mark, dataLen: uint64(len(text))}, []byte(text))
}

// Entries returns the number of entries written.
func (l *Writer) Entries() uint64 {
	l.order.mu.Lock()
	defer l.order.mu.Unlock()
	return l.entries
}

// Size returns the length of the log in bytes.
func (l *Writer) Size() int64 {
	l.order.mu.Lock()
	defer l.order.mu.Unlock()
	return l.next
}

// Close ends the log. If Create made the file, Close syncs and closes it.
func (l *Writer) Close() error {
	l.order.mu.Lock()
	defer l.order.mu.Unlock()
	if l.err == nil {
		l.err = errors.New("write log: closed")
	}
	if l.f == nil {
		return nil
	}
	return errors.Join(l.f.Sync(), l.f.Close())
}

// zeros records zeroing of a range in entries of at most zeroPiece bytes.
func (l *Writer) zeros(h header) error {
	const most = zeroPiece / blocktap.SectorSize
	for n := h.nrSectors; n > 0; {
		piece := h
		piece.nrSectors = min(n, most)
		h.sector += piece.nrSectors
		n -= piece.nrSectors
		if n > 0 {
			piece.flags &^= FUA
		}
		if err := l.append(piece, nil); err != nil {
			return err
		}
	}
	return nil
}

// append writes an entry: the header, the data or zeros if data is empty, and then the new count.
// The data of a mark is in the header's sector.
func (l *Writer) append(h header, data []byte) error {
	if l.err != nil {
		return l.err
	}
	var head [blocktap.SectorSize]byte
	h.put(head[:])
	end := l.next + blocktap.SectorSize
	if h.flags&Discard == 0 {
		end += int64(h.nrSectors) * blocktap.SectorSize
	}
	if h.flags&Mark != 0 {
		copy(head[headerLen:], data)
		data = nil
	}
	var count [8]byte
	binary.LittleEndian.PutUint64(count[:], l.entries+1)

	l.write(head[:], l.next)
	if len(data) > 0 {
		l.write(data, l.next+blocktap.SectorSize)
	} else if end > l.next+blocktap.SectorSize {
		// Write the last sector. The sectors before it become a hole.
		var last [blocktap.SectorSize]byte
		l.write(last[:], end-blocktap.SectorSize)
	}
	l.write(count[:], nrEntriesAt)
	if l.err != nil {
		return l.err
	}
	l.next, l.entries = end, l.entries+1
	return nil
}

// write writes b unless an earlier write has failed.
func (l *Writer) write(b []byte, at int64) {
	if l.err != nil {
		return
	}
	if _, err := l.w.WriteAt(b, at); err != nil {
		l.err = fmt.Errorf("write log: %w", err)
	}
}
