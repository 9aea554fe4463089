package agent

import "encoding/binary"

// Pattern fills b with the bytes that Fill writes at off. They depend on the seed and on the offset
// in the file.
func Pattern(b []byte, off, seed uint64) {
	for len(b) > 0 {
		// Each aligned group of eight bytes is splitmix64 of its position. So Pattern gives a byte the
		// same value in whatever part of the file it is asked for.
		x := seed*0x9e3779b97f4a7c15 + off/8
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
		if off%8 == 0 && len(b) >= 8 {
			binary.LittleEndian.PutUint64(b, x)
			b, off = b[8:], off+8
			continue
		}
		x >>= 8 * (off % 8)
		group := b[:min(uint64(len(b)), 8-off%8)]
		for i := range group {
			group[i] = byte(x >> (8 * i))
		}
		b, off = b[len(group):], off+uint64(len(group))
	}
}
