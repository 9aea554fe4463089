package fieldmap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
)

// A Checksum is a field that holds a checksum of bytes. From, Size, Seed, Salt and Prefix are
// expressions, as is If; From counts from the begin of the structure.
type Checksum struct {
	Kind  string `yaml:"kind"`  // one of sums
	Field string `yaml:"field"` // in the structure
	If    string `yaml:"if"`    // the checksum exists only if this is not 0
	From  string `yaml:"from"`
	Size  string `yaml:"size"`
	Seed  string `yaml:"seed"`
	// Salt has numbers of 32 bits, and Prefix the address of four bytes, that are summed before the
	// bytes. Only kinds that begin with a seed of CRC32C can have them.
	Salt   []string `yaml:"salt"`
	Prefix string   `yaml:"prefix"`
	// Shift is the number of low bits of the checksum that the field leaves out.
	Shift uint `yaml:"shift"`
	// Repeat is the number of bytes that the checksum fills again and again; 0: those of the field.
	Repeat int `yaml:"repeat"`
}

// maxSummed bounds the bytes under one checksum.
const maxSummed = 1 << 20

// A Seal is a checksum at its place on an image.
type Seal struct {
	Kind      string // one of sums
	Off       uint64 // of the field, in bytes
	Width     int    // of the field, in bytes
	From, Len uint64 // of the bytes that are summed
	Seed      uint32
	Prefix    uint64 // address of four bytes that are summed first; 0: there are none
	Shift     uint
	Repeat    int
	Big       bool // the field is big-endian
}

// Seals are the checksums of an image. One over other checksums comes after them.
type Seals []Seal

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// raw continues a CRC32C that is not inverted at its ends.
func raw(seed uint32, b []byte) uint32 { return ^crc32.Update(^seed, castagnoli, b) }

// sums has the checksums that a map can name. The field of the checksum is at an offset of the
// bytes; it counts as zeros, or is left out, as the file system has it. The shim of package paths
// has the same functions in C.
var sums = map[string]func(b []byte, at int, seed uint32) uint32{
	// XFS: the field counts as zeros, and is little-endian.
	"crc32c": func(b []byte, at int, _ uint32) uint32 {
		return crc32.Checksum(zeroed(b, at, 4), castagnoli)
	},
	// F2FS: the bytes before the field; the sum begins with a seed and is not inverted.
	"crc32_seeded": func(b []byte, at int, seed uint32) uint32 {
		return ^crc32.Update(^seed, crc32.IEEETable, b[:max(0, min(at, len(b)))])
	},
	// ext4: all bytes; the sum begins with a seed and is not inverted.
	"crc32c_seeded": func(b []byte, _ int, seed uint32) uint32 { return raw(seed, b) },
	// ext4's group descriptors: a field of 16 bits counts as zeros.
	"ext4_group": func(b []byte, at int, seed uint32) uint32 { return raw(seed, zeroed(b, at, 2)) },
	// ext4's inodes: both halves of the checksum count as zeros, if the inode has the upper one.
	"ext4_inode": func(b []byte, _ int, seed uint32) uint32 {
		b = zeroed(b, 124, 2)
		if len(b) > 132 && binary.LittleEndian.Uint16(b[128:]) >= 4 {
			b = zeroed(b, 130, 2)
		}
		return raw(seed, b)
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

// zeroed returns a copy of b in which n bytes at an offset are zeros.
func zeroed(b []byte, at, n int) []byte {
	c := append([]byte{}, b...)
	if at >= 0 && at < len(c) {
		clear(c[at:min(at+n, len(c))])
	}
	return c
}

// check reports what is wrong with a checksum of a structure with fields.
func (c *Checksum) check(fields []Field) error {
	if sums[c.Kind] == nil {
		return fmt.Errorf("checksum %q is not known", c.Kind)
	}
	salted := c.Kind == "crc32c_seeded" || c.Kind == "ext4_group" || c.Kind == "ext4_inode"
	if !salted && (len(c.Salt) > 0 || c.Prefix != "") {
		return fmt.Errorf("checksum %q has no salt and no prefix", c.Kind)
	}
	if c.Repeat < 0 || c.Repeat > 1<<16 || c.Shift > 31 {
		return fmt.Errorf("a checksum fills %d bytes, without %d bits", c.Repeat, c.Shift)
	}
	if !slices.ContainsFunc(fields, func(f Field) bool { return f.Name == c.Field }) {
		return fmt.Errorf("the checksum's field %q does not exist", c.Field)
	}
	return nil
}

// seal adds the checksums of an element.
func (f *finder) seal(structure *Structure, s *scope) error {
	for i := range structure.Checksums {
		c := &structure.Checksums[i]
		is, err := number(c.If, s, 1)
		from, err1 := number(c.From, s, 0)
		size, err2 := number(c.Size, s, 0)
		seed, err3 := number(c.Seed, s, 0)
		prefix, err4 := number(c.Prefix, s, 0)
		if err := errors.Join(err, err1, err2, err3, err4); err != nil {
			return err
		}
		if is == 0 {
			continue
		}
		at := s.values["at"]
		one := Seal{Kind: c.Kind, From: at + from, Len: size, Seed: uint32(seed), Prefix: prefix,
			Shift: c.Shift, Repeat: c.Repeat, Big: f.m.BigEndian && c.Kind != "crc32c"}
		for _, text := range c.Salt {
			salt, err := number(text, s, 0)
			if err != nil {
				return err
			}
			one.Seed = raw(one.Seed, binary.LittleEndian.AppendUint32(nil, uint32(salt)))
		}
		disk := f.disk.Size()
		if size > maxSummed || one.From > disk || size > disk-one.From || prefix > disk-min(4, disk) {
			return fmt.Errorf("a checksum of %d bytes at %d", size, one.From)
		}
		for _, field := range structure.Fields {
			if field.Name == c.Field {
				one.Off, one.Width = at+field.At, field.Width
			}
		}
		f.seals = append(f.seals, one)
	}
	return nil
}

// A Change is new bytes at an address of the image.
type Change struct {
	Off  uint64
	Data []byte
}

// Mend returns the changes that make the checksums right after other changes. A checksum that was
// changed itself stays as it is.
func (s Seals) Mend(disk Disk, changes []Change) (made []Change, err error) {
	for i := range s {
		seal := &s[i]
		if touch(changes, seal.Off, uint64(seal.Width)) ||
			!seal.covers(changes) && !seal.covers(made) {
			continue
		}
		sum, err := seal.sum(disk, slices.Concat(changes, made))
		if err != nil {
			return nil, err
		}
		made = append(made, sum)
	}
	return made, nil
}

// touch reports whether changes overlap n bytes.
func touch(changes []Change, off, n uint64) bool {
	return slices.ContainsFunc(changes, func(c Change) bool {
		return c.Off < off+n && off < c.Off+uint64(len(c.Data))
	})
}

func (s *Seal) covers(changes []Change) bool {
	return touch(changes, s.From, s.Len) || s.Prefix != 0 && touch(changes, s.Prefix, 4)
}

// sum returns the change that makes the checksum right on a disk with changes.
func (s *Seal) sum(disk Disk, changes []Change) (Change, error) {
	b, err := read(disk, s.From, s.Len, changes)
	if err != nil {
		return Change{}, err
	}
	seed := s.Seed
	if s.Prefix != 0 {
		prefix, err := read(disk, s.Prefix, 4, changes)
		if err != nil {
			return Change{}, err
		}
		seed = raw(seed, prefix)
	}
	value := sums[s.Kind](b, int(s.Off-s.From), seed) >> s.Shift
	field := Found{Width: s.Width, big: s.Big}
	return Change{s.Off, bytes.Repeat(field.Bytes(uint64(value)), max(1, s.Repeat/s.Width))}, nil
}

// read reads n bytes of a disk with changes.
func read(disk Disk, off, n uint64, changes []Change) ([]byte, error) {
	b := make([]byte, n)
	if _, err := disk.ReadAt(b, int64(off)); err != nil {
		return nil, err
	}
	for _, c := range changes {
		for i, v := range c.Data {
			if at := c.Off + uint64(i); at >= off && at-off < n {
				b[at-off] = v
			}
		}
	}
	return b, nil
}
