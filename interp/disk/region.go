// Package disk reads on-disk structures: a Region is a bounded view on bytes that knows its device
// address. Start with Region.Sub.
package disk

import (
	"encoding/binary"
	"fmt"
)

// A Region is a range of bytes of a known device address. All access at a variable offset or of a
// variable length goes through it and is checked. Errors name the address.
type Region struct {
	b    []byte
	addr uint64
}

// NewRegion returns the Region of bytes at a device address.
func NewRegion(b []byte, addr uint64) Region { return Region{b: b, addr: addr} }

// Len returns the number of bytes.
func (r Region) Len() int { return len(r.b) }

// Addr returns the device address of the first byte.
func (r Region) Addr() uint64 { return r.addr }

// Bytes returns the bytes. The caller must not change them.
func (r Region) Bytes() []byte { return r.b }

// A BoundsError is an access outside a Region.
type BoundsError struct {
	Addr uint64 // of the region
	Len  int    // of the region
	Off  uint64 // that was asked for
	N    uint64 // that was asked for
}

func (e *BoundsError) Error() string {
	return fmt.Sprintf("bytes %d to %d lie outside the %d bytes at device address %d", e.Off,
		e.Off+e.N, e.Len, e.Addr)
}

// Sub returns n bytes at off. The check cannot overflow.
func (r Region) Sub(off, n uint64) (Region, error) {
	size := uint64(len(r.b))
	if off > size || n > size-off {
		return Region{}, &BoundsError{Addr: r.addr, Len: len(r.b), Off: off, N: n}
	}
	return Region{b: r.b[off : off+n : off+n], addr: r.addr + off}, nil
}

// U8, U16, U32 and U64 read a little-endian number at an offset that the caller has checked against
// Len.
func (r Region) U8(off int) uint8   { return r.b[off] }
func (r Region) U16(off int) uint16 { return binary.LittleEndian.Uint16(r.b[off:]) }
func (r Region) U32(off int) uint32 { return binary.LittleEndian.Uint32(r.b[off:]) }
func (r Region) U64(off int) uint64 { return binary.LittleEndian.Uint64(r.b[off:]) }
