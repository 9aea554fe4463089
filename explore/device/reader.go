package device

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Format describes the records of one module's log. R is the Go type of a record.
type Format[R any] struct {
	Name string // of the log, in errors
	Size int    // of a record's header, in bytes; the data follows the header
	// Decode decodes the header of a record, which has Size bytes. It returns an error for a header
	// that the module cannot have written. The Reader checks sequence numbers itself.
	Decode func(header []byte) (*R, Header, error)
	// Attach gives a record its data and checks the data. The record may refer to the data until the
	// next call of Next.
	Attach func(r *R, data []byte) error
}

// Header holds the fields of a record that a Reader needs.
type Header struct {
	Seq  uint64 // number of the record, from 1
	Gap  bool   // the log was full, and this record replaces Lost others; Seq is that of the last
	Lost uint64
	Data uint32 // bytes of data that follow; Decode has bounded them
}

// Reader reads the log of a module (kmod/ring.c): a stream of records, each followed by its data
// and by zeros up to a multiple of 8 bytes. It checks that no record is missing. An error is final.
// A Reader is for one goroutine.
type Reader[R any] struct {
	format *Format[R]
	r      io.Reader
	header []byte
	data   bytes.Buffer
	seq    uint64 // of the last record; 0 before the first
	err    error
}

// NewReader returns a Reader of an open log or of a copy of one. A copy may begin at any record.
func NewReader[R any](r io.Reader, f *Format[R]) *Reader[R] {
	return &Reader[R]{format: f, r: r, header: make([]byte, f.Size)}
}

// Next returns the next record. Its data is valid until the next call. The error is io.EOF if the
// stream ends between two records. Other errors name the log and the last good record.
func (l *Reader[R]) Next() (*R, error) {
	if l.err != nil {
		return nil, l.err
	}
	rec, err := l.next()
	if err == nil {
		return rec, nil
	}
	if !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%s log: after record %d: %w", l.format.Name, l.seq, err)
	}
	l.err = err
	return nil, err
}

func (l *Reader[R]) next() (*R, error) {
	if _, err := io.ReadFull(l.r, l.header); err != nil {
		return nil, err
	}
	rec, h, err := l.format.Decode(l.header)
	if err == nil {
		err = l.follows(&h)
	}
	if err != nil {
		return nil, err
	}
	data, err := l.read(&h)
	if err == nil {
		l.seq = h.Seq
		err = l.format.Attach(rec, data)
	}
	if err != nil {
		return nil, fmt.Errorf("record %d: %w", h.Seq, err)
	}
	return rec, nil
}

// follows checks that a record has the next sequence number.
func (l *Reader[R]) follows(h *Header) error {
	step := uint64(1)
	if h.Gap {
		step = h.Lost
	}
	switch {
	case step == 0:
		return errors.New("a record of lost records counts none")
	case l.seq != 0 && h.Seq != l.seq+step:
		return fmt.Errorf("record %d follows, want record %d", h.Seq, l.seq+step)
	case h.Seq < step:
		return fmt.Errorf("record %d replaces %d lost records", h.Seq, step)
	}
	return nil
}

// read reads the data of a record and its padding. A wrong length costs no more memory than the
// stream has data.
func (l *Reader[R]) read(h *Header) ([]byte, error) {
	l.data.Reset()
	padded := (int64(h.Data) + 7) &^ 7
	if n, err := io.CopyN(&l.data, l.r, padded); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("%d of %d bytes of data: %w", n, padded, err)
	}
	return l.data.Bytes()[:h.Data], nil
}
