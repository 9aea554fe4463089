package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"fsward/blocktap"
)

// zeroPiece is the most that one entry makes zeros. Tools that read logs load an entry whole.
const zeroPiece = 1 << 20

// Writer writes a log. The count in the superblock is brought up to date with each entry, after the
// entry itself: a process that is killed leaves a log that reads to the last entry it finished. Against
// a crash of the machine Close syncs the file, and nothing does before. Safe for concurrent use.
//
// A request for zeros is recorded as writes of zeros, which is what the kernel makes of it before
// dm-log-writes sees it (the target does not take write-zeroes); in the log's file they are holes.
type Writer struct {
	order   *order // held while the log changes
	w       io.WriterAt
	f       *os.File // of Create; else nil
	next    int64    // where the next entry goes, bytes
	entries uint64
	err     error // the first failure: nothing is written after it
}

var _ blocktap.Recorder = (*Writer)(nil)

// NewWriter begins a log with sectors of 512 bytes. w must be empty: zeros are left out of it.
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

// Create begins a log in a new file. A file that is there already is left alone: it is a record.
func Create(path string) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("%s: there is a file already, and a record is not written over", path)
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

// Log records a request. What changes nothing leaves no trace. After an error the log takes no more entries, and
// reads to the one before.
func (l *Writer) Log(r *blocktap.Request) error {
	if (r.Off|r.Len)%blocktap.SectorSize != 0 {
		return fmt.Errorf("write log: %s of %d bytes at %d: %w", r.Op, r.Len, r.Off, blocktap.ErrUnaligned)
	}
	if r.Op == blocktap.OpWrite && uint64(len(r.Data)) != r.Len {
		return fmt.Errorf("write log: write of %d bytes with %d bytes of data", r.Len, len(r.Data))
	}
	if r.Op == blocktap.OpRead || r.Op != blocktap.OpFlush && r.Len == 0 {
		return nil // nothing changes
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
		return fmt.Errorf("write log: operation %s", r.Op)
	}
}

// Mark records a text, which a reader can stop at.
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

// Close ends the log. A file that Create made is synced and closed.
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

// zeros records that a range became zeros, in entries of bounded size.
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

// append writes an entry: its data, or zeros where there are none, then the count. The data of a mark
// stands in the header's sector.
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
		// A hole, closed by its last sector.
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

// write does nothing after a failure.
func (l *Writer) write(b []byte, at int64) {
	if l.err != nil {
		return
	}
	if _, err := l.w.WriteAt(b, at); err != nil {
		l.err = fmt.Errorf("write log: %w", err)
	}
}
