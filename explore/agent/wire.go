package agent

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// errShort means that a payload ends within a value, or within a list whose length it gives.
var errShort = errors.New("the payload is too short")

// A decoder takes values off a payload. After the first error it returns zero values, and finish
// returns the error.
type decoder struct {
	b   []byte
	err error
}

// fail records the first error.
func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
	d.b = nil
}

// number decodes a varint.
func (d *decoder) number() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail(errShort)
		return 0
	}
	d.b = d.b[n:]
	return v
}

// upTo decodes a number, and fails if it is larger than most.
func (d *decoder) upTo(most uint64) uint64 {
	v := d.number()
	if v > most {
		d.fail(fmt.Errorf("a number is %d, the limit is %d", v, most))
		return 0
	}
	return v
}

// count decodes the number of elements in a list. Since each takes at least one byte, count fails
// if fewer bytes are left than elements.
func (d *decoder) count(most int) int {
	n := d.upTo(uint64(most))
	if n > uint64(len(d.b)) {
		d.fail(errShort)
		return 0
	}
	return int(n)
}

// bytes decodes a byte string of at most most bytes. The result is a part of the payload.
func (d *decoder) bytes(most int) []byte {
	n := d.count(most)
	v := d.b[:n:n]
	d.b = d.b[n:]
	return v
}

// text decodes a text of at most most bytes.
func (d *decoder) text(most int) string { return string(d.bytes(most)) }

// flag decodes a boolean.
func (d *decoder) flag() bool { return d.upTo(1) == 1 }

// finish returns the first error, after what. Bytes that are left over are an error.
func (d *decoder) finish(what string) error {
	if d.err == nil && len(d.b) > 0 {
		d.err = fmt.Errorf("%d bytes are left over", len(d.b))
	}
	if d.err != nil {
		return fmt.Errorf("%s: %w", what, d.err)
	}
	return nil
}

func appendNumber(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

func appendBytes[T string | []byte](b []byte, v T) []byte {
	return append(appendNumber(b, uint64(len(v))), v...)
}

func appendFlag(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}
