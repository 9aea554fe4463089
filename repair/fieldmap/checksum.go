package fieldmap

import (
	"bytes"
	"fmt"
	"hash/crc32"
)

// A Checksum is a field that holds a checksum of bytes at its structure. From, Size and Seed are
// expressions; addresses count from the begin of the structure.
type Checksum struct {
	Kind  string `yaml:"kind"`  // one of sums
	Field string `yaml:"field"` // in the structure
	From  string `yaml:"from"`
	Size  string `yaml:"size"`
	Seed  string `yaml:"seed"`
	// Repeat is the number of bytes that the checksum fills again and again; 0: those of the field.
	Repeat int `yaml:"repeat"`
}

// maxSummed bounds the bytes under one checksum.
const maxSummed = 1 << 20

// A seal is a checksum at its place.
type seal struct {
	sum       func(b []byte, at int, seed uint32) uint32
	off       uint64 // of the field
	width     int    // of the field
	from, len uint64
	seed      uint32
	repeat    int
	little    bool // whatever the order of other numbers
}

// sums has the checksums that a map can name. The field of the checksum is at an offset of the
// bytes; it counts as zeros, or is left out, as the file system has it.
var sums = map[string]func(b []byte, at int, seed uint32) uint32{
	// XFS: the field counts as zeros, and is little-endian.
	"crc32c": func(b []byte, at int, _ uint32) uint32 {
		return crc32.Checksum(zeroed(b, at), crc32.MakeTable(crc32.Castagnoli))
	},
	// F2FS: the bytes before the field; the sum begins with a seed and is not inverted.
	"crc32_seeded": func(b []byte, at int, seed uint32) uint32 {
		return ^crc32.Update(^seed, crc32.IEEETable, b[:min(at, len(b))])
	},
	// exFAT's main boot checksum, which leaves out three bytes of the first sector that change.
	"exfat_boot": func(b []byte, _ int, _ uint32) (sum uint32) {
		for i, v := range b {
			if i != 106 && i != 107 && i != 112 {
				sum = (sum<<31 | sum>>1) + uint32(v)
			}
		}
		return sum
	},
	// exFAT's checksum of a set of directory entries, of 16 bits, which leaves itself out.
	"exfat_set": func(b []byte, _ int, _ uint32) uint32 {
		var sum uint16
		for i, v := range b {
			if i != 2 && i != 3 {
				sum = (sum<<15 | sum>>1) + uint16(v)
			}
		}
		return uint32(sum)
	},
}

// zeroed returns a copy of b in which the four bytes at an offset are zeros.
func zeroed(b []byte, at int) []byte {
	c := append([]byte{}, b...)
	if at < len(c) {
		clear(c[at:min(at+4, len(c))])
	}
	return c
}

// seals returns the checksums of an element.
func (f *finder) seals(structure *Structure, s *scope) (list []seal, err error) {
	for _, c := range structure.Checksums {
		from, err := number(c.From, s, 0)
		if err != nil {
			return nil, err
		}
		size, err := number(c.Size, s, 0)
		if err != nil {
			return nil, err
		}
		seed, err := number(c.Seed, s, 0)
		if err != nil {
			return nil, err
		}
		at := s.values["at"]
		one := seal{sum: sums[c.Kind], from: at + from, len: size, seed: uint32(seed),
			repeat: c.Repeat, little: c.Kind == "crc32c"}
		if size > maxSummed || one.from > f.disk.Size() || size > f.disk.Size()-one.from {
			return nil, fmt.Errorf("a checksum of %d bytes at %d", size, one.from)
		}
		for _, field := range structure.Fields {
			if field.Name == c.Field {
				one.off, one.width = at+field.At, field.Width
			}
		}
		list = append(list, one)
	}
	return list, nil
}

// A Change is new bytes at an address of the image.
type Change struct {
	Off  uint64
	Data []byte
}

// Seal returns the changes that make the checksums over a field right after a change of it.
func (f *Found) Seal(disk Disk, change Change) (list []Change, err error) {
	for _, s := range f.seals {
		b := make([]byte, s.len)
		if _, err := disk.ReadAt(b, int64(s.from)); err != nil {
			return nil, err
		}
		for i, v := range change.Data {
			if at := change.Off + uint64(i); at >= s.from && at-s.from < s.len {
				b[at-s.from] = v
			}
		}
		field := Found{Width: s.width, big: f.big && !s.little}
		sum := field.Bytes(uint64(s.sum(b, int(s.off-s.from), s.seed)))
		list = append(list, Change{s.off, bytes.Repeat(sum, max(1, s.repeat/s.width))})
	}
	return list, nil
}
