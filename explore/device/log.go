package device

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// A LogHeader is what a record says of itself before its data.
type LogHeader struct {
	Seq  uint64 // its number, from 1
	Step uint64 // how far it is from the one before: 1, or for a record that tells of lost ones, how many they are
	Data uint32 // bytes of data that follow; whoever decodes it has bounded them
}

// Log reads the stream of a module's log (kmod/ring.c): records, each followed by its data and zeros up to a multiple of 8 bytes. It checks
// that none is missing; an error is final. Used by one goroutine.
type Log struct {
	name string // for errors
	r    io.Reader
	head []byte
	buf  bytes.Buffer
	seq  uint64 // of the last record; 0 before the first
	err  error
}

// NewLog reads from a log that is open, or from a copy of the stream, which may begin at any record. size is that of a record without data.
func NewLog(name string, r io.Reader, size int) *Log {
	return &Log{name: name, r: r, head: make([]byte, size)}
}

// Next reads a record and returns its data, valid until the next call. decode is given the record, and tells why the module cannot have
// written it. The end of the stream, between two records, is io.EOF.
func (l *Log) Next(decode func(record []byte) (LogHeader, error)) ([]byte, error) {
	if l.err != nil {
		return nil, l.err
	}
	data, err := l.next(decode)
	if err != nil {
		return nil, l.Fail(err)
	}
	return data, nil
}

// Fail ends the log with an error that whoever reads it has found in the data, and returns it with its place.
func (l *Log) Fail(err error) error {
	if !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%s log: after record %d: %w", l.name, l.seq, err)
	}
	l.err = err
	return err
}

func (l *Log) next(decode func(record []byte) (LogHeader, error)) ([]byte, error) {
	if _, err := io.ReadFull(l.r, l.head); err != nil {
		return nil, err
	}
	h, err := decode(l.head)
	switch {
	case err != nil:
		return nil, err
	case h.Step == 0:
		return nil, errors.New("a record that says that none is lost")
	case l.seq != 0 && h.Seq != l.seq+h.Step:
		return nil, fmt.Errorf("record %d follows, which is not the next", h.Seq)
	case h.Seq < h.Step:
		return nil, fmt.Errorf("record %d of %d lost ones", h.Seq, h.Step)
	}
	l.buf.Reset()
	// A length that is not true takes no more memory than there is data.
	padded := (int64(h.Data) + 7) &^ 7
	if n, err := io.CopyN(&l.buf, l.r, padded); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("record %d: %d of %d bytes of data: %w", h.Seq, n, padded, err)
	}
	l.seq = h.Seq
	return l.buf.Bytes()[:h.Data], nil
}
