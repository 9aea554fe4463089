// Package minix reads the tree of a Minix file system, and fills an empty one. It knows versions 1
// to 3 with blocks and zones of 1 KiB, as mkfs.minix makes them.
package minix

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// BlockSize is the size of blocks and zones in bytes.
const BlockSize = 1024

// Types of files in a mode.
const (
	TypeMask  = 0o170000
	FIFO      = 0o010000
	CharDev   = 0o020000
	Directory = 0o040000
	BlockDev  = 0o060000
	Regular   = 0o100000
	Symlink   = 0o120000
)

// Root is the number of the root's inode.
const Root = 1

const direct = 7 // pointers of an inode to data

// A layout is what the versions differ in.
type layout struct {
	version   int
	inodeSize uint64
	pointer   uint64 // bytes
	pointerAt uint64 // of the first, in an inode
	levels    uint64 // of indirect blocks
	numberLen uint64 // of an inode's number in a directory entry
	entryLen  uint64
}

// A FS is a Minix file system on a disk.
type FS struct {
	disk io.ReaderAt
	size uint64
	layout
	inodes    uint64
	zones     uint64
	imap      uint64 // blocks
	zmap      uint64
	firstData uint64
}

// layouts by magic number. At 16 stands that of versions 1 and 2, at 24 that of version 3.
var layouts = map[uint16]layout{
	0x137f: {1, 32, 2, 14, 2, 2, 16},
	0x138f: {1, 32, 2, 14, 2, 2, 32},
	0x2468: {2, 64, 4, 24, 3, 2, 16},
	0x2478: {2, 64, 4, 24, 3, 2, 32},
	0x4d5a: {3, 64, 4, 24, 3, 4, 64},
}

// Open reads the superblock.
func Open(disk io.ReaderAt, size uint64) (*FS, error) {
	b := make([]byte, 32)
	if _, err := disk.ReadAt(b, BlockSize); err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	f := &FS{disk: disk, size: size}
	if l, ok := layouts[le.Uint16(b[16:])]; ok && l.version < 3 {
		f.layout = l
		f.inodes, f.zones = uint64(le.Uint16(b)), uint64(le.Uint16(b[2:]))
		if l.version == 2 {
			f.zones = uint64(le.Uint32(b[20:]))
		}
		f.imap, f.zmap = uint64(le.Uint16(b[4:])), uint64(le.Uint16(b[6:]))
		f.firstData = uint64(le.Uint16(b[8:]))
	} else if l, ok := layouts[le.Uint16(b[24:])]; ok && l.version == 3 {
		f.layout = l
		f.inodes, f.zones = uint64(le.Uint32(b)), uint64(le.Uint32(b[20:]))
		f.imap, f.zmap = uint64(le.Uint16(b[6:])), uint64(le.Uint16(b[8:]))
		f.firstData = uint64(le.Uint16(b[10:]))
		if le.Uint16(b[28:]) != BlockSize {
			return nil, fmt.Errorf("minix: blocks of %d bytes are not supported", le.Uint16(b[28:]))
		}
	} else {
		return nil, errors.New("minix: no superblock")
	}
	return f, nil
}

// An Inode is an inode as it is on the disk.
type Inode struct {
	Mode, Links, UID, GID uint32
	Size                  uint64
	Off                   uint64 // address
	raw                   []byte
	layout                *layout
}

// Type returns the type of the file.
func (i *Inode) Type() uint32 { return i.Mode & TypeMask }

// Pointer returns a pointer of the inode: 0 to 6 to data, then one to an indirect block of each
// level.
func (i *Inode) Pointer(n uint64) uint64 { return i.layout.get(i.raw, i.layout.pointerAt, n) }

func (l *layout) get(b []byte, at, n uint64) uint64 {
	if l.pointer == 2 {
		return uint64(binary.LittleEndian.Uint16(b[at+2*n:]))
	}
	return uint64(binary.LittleEndian.Uint32(b[at+4*n:]))
}

func (l *layout) put(b []byte, at, n, v uint64) {
	if l.pointer == 2 {
		binary.LittleEndian.PutUint16(b[at+2*n:], uint16(v))
	} else {
		binary.LittleEndian.PutUint32(b[at+4*n:], uint32(v))
	}
}

func (f *FS) inodeAt(n uint64) uint64 {
	return (2+f.imap+f.zmap)*BlockSize + (n-1)*f.inodeSize
}

// Inode reads an inode, from 1.
func (f *FS) Inode(n uint64) (*Inode, error) {
	if n == 0 || n > f.inodes {
		return nil, fmt.Errorf("minix: inode %d of %d", n, f.inodes)
	}
	i := &Inode{Off: f.inodeAt(n), raw: make([]byte, f.inodeSize), layout: &f.layout}
	if _, err := f.disk.ReadAt(i.raw, int64(i.Off)); err != nil {
		return nil, fmt.Errorf("minix: inode %d: %w", n, err)
	}
	le := binary.LittleEndian
	i.Mode = uint32(le.Uint16(i.raw))
	if f.version == 1 {
		i.UID, i.Size = uint32(le.Uint16(i.raw[2:])), uint64(le.Uint32(i.raw[4:]))
		i.GID, i.Links = uint32(i.raw[12]), uint32(i.raw[13])
	} else {
		i.Links, i.UID = uint32(le.Uint16(i.raw[2:])), uint32(le.Uint16(i.raw[4:]))
		i.GID, i.Size = uint32(le.Uint16(i.raw[6:])), uint64(le.Uint32(i.raw[8:]))
	}
	return i, nil
}

// InodeBytes returns the size of an inode in bytes.
func (f *FS) InodeBytes() uint64 { return f.inodeSize }

// Block reads a block. One outside the disk is an error.
func (f *FS) Block(n uint64) ([]byte, error) {
	b := make([]byte, BlockSize)
	if n >= f.size/BlockSize {
		return nil, fmt.Errorf("minix: block %d lies outside the disk", n)
	}
	_, err := f.disk.ReadAt(b, int64(n*BlockSize))
	return b, err
}

// Blocks calls data with each block of a file's data that is no hole, in order: its place in the
// file in blocks, and its number. It calls indirect with each block of pointers. It reads no more
// blocks than the file's size needs. An error means that the file has more blocks than the disk.
func (f *FS) Blocks(i *Inode, data func(at, block uint64), indirect func(block uint64)) error {
	most, at := (i.Size+BlockSize-1)/BlockSize, uint64(0)
	per, left := BlockSize/f.pointer, f.size/BlockSize
	var walk func(block, covers uint64) error
	walk = func(block, covers uint64) error {
		switch {
		case at >= most:
			return nil
		case block == 0:
			at += covers
			return nil
		case left == 0:
			return fmt.Errorf("minix: a file of %d bytes has more blocks than the disk", i.Size)
		}
		left--
		if covers == 1 {
			data(at, block)
			at++
			return nil
		}
		indirect(block)
		b, err := f.Block(block)
		if err != nil {
			return err
		}
		for n := uint64(0); n < per && at < most; n++ {
			if err := walk(f.get(b, 0, n), covers/per); err != nil {
				return err
			}
		}
		return nil
	}
	covers := uint64(1)
	for n := range direct + f.levels {
		if n >= direct {
			covers *= per
		}
		if err := walk(i.Pointer(n), covers); err != nil {
			return err
		}
	}
	return nil
}

// An Entry is an entry of a directory.
type Entry struct {
	Name  string
	Inode uint64
	Block uint64
}

// Entries lists the entries of a directory that are in use, without . and ..
func (f *FS) Entries(i *Inode) (list []Entry, err error) {
	left := i.Size
	walk := f.Blocks(i, func(_, block uint64) {
		if err != nil {
			return
		}
		var b []byte
		if b, err = f.Block(block); err != nil {
			return
		}
		for at := uint64(0); at+f.entryLen <= BlockSize && left >= f.entryLen; at += f.entryLen {
			left -= f.entryLen
			number := uint64(binary.LittleEndian.Uint16(b[at:]))
			if f.numberLen == 4 {
				number = uint64(binary.LittleEndian.Uint32(b[at:]))
			}
			name := cString(b[at+f.numberLen : at+f.entryLen])
			if number != 0 && name != "." && name != ".." {
				list = append(list, Entry{name, number, block})
			}
		}
	}, func(uint64) {})
	return list, errors.Join(err, walk)
}

func cString(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}
