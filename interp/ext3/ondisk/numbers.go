package ondisk

import "encoding/binary"

// A number at a variable offset; b has to be long enough.

func LE16(b []byte, off int) uint16 { return binary.LittleEndian.Uint16(b[off:]) }
func LE32(b []byte, off int) uint32 { return binary.LittleEndian.Uint32(b[off:]) }
func BE32(b []byte, off int) uint32 { return binary.BigEndian.Uint32(b[off:]) }

// Bit reports whether bit n of a bitmap is set.
func Bit(b []byte, n uint32) bool { return b[n/8]>>(n%8)&1 != 0 }
