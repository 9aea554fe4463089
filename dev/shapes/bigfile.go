package main

import (
	"context"
	"encoding/binary"
	"errors"
	"os"

	"fsward/dev/load"
	"fsward/interp/ext3/ondisk"
)

// A bigFile is a file that is put into an empty ext3. Only pointers and bitmaps are written, so
// that an image has holes in place of the contents, and a file of a terabyte takes a gigabyte.
type bigFile struct {
	image  *os.File
	geo    *ondisk.Geometry
	desc   []byte // the group descriptors
	group  uint32 // the group from which blocks are taken
	bitmap []byte // of this group
	next   uint32 // bit in the bitmap
	taken  uint32 // blocks, indirect blocks included
	left   uint64 // blocks of the file without a pointer
}

// makeBigFile makes a file f of so many bytes, a multiple of the size of a block.
func makeBigFile(ctx context.Context, path string, size uint64) error {
	if err := load.Command(ctx, "debugfs", "-w", "-R", "write /dev/null f", path); err != nil {
		return err
	}
	image, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer image.Close()
	info, err := image.Stat()
	if err != nil {
		return err
	}
	super := make([]byte, ondisk.SuperLen)
	if _, err := image.ReadAt(super, ondisk.SuperOff); err != nil {
		return err
	}
	f := bigFile{image: image}
	if f.geo, err = ondisk.ParseGeometry(super, uint64(info.Size())); err != nil {
		return err
	}
	f.left = size / uint64(f.geo.BlockSize)
	f.desc = make([]byte, f.geo.DescBlocks*f.geo.BlockSize)
	if err := f.read(f.geo.DescBlock(0), f.desc); err != nil {
		return err
	}
	if err := f.open(0); err != nil {
		return err
	}
	if err := f.inode(size); err != nil {
		return err
	}
	if err := f.close(); err != nil {
		return err
	}
	if err := f.write(f.geo.DescBlock(0), f.desc); err != nil {
		return err
	}
	free := super[ondisk.SuperFreeBlocksCountAt:]
	binary.LittleEndian.PutUint32(free, binary.LittleEndian.Uint32(free)-f.taken)
	_, err = image.WriteAt(super, ondisk.SuperOff)
	return errors.Join(err, image.Sync())
}

func (f *bigFile) read(block uint32, b []byte) error {
	_, err := f.image.ReadAt(b, int64(f.geo.Addr(block)))
	return err
}

func (f *bigFile) write(block uint32, b []byte) error {
	_, err := f.image.WriteAt(b, int64(f.geo.Addr(block)))
	return err
}

// inode writes the fields of the inode that debugfs made. lost+found has the first inode that is
// not reserved, and f the second.
func (f *bigFile) inode(size uint64) error {
	pointers := make([]byte, 4*ondisk.NPointers)
	for n := range ondisk.NPointers {
		if f.left == 0 {
			break
		}
		block, err := f.tree(max(0, n-ondisk.NDirect+1))
		if err != nil {
			return err
		}
		binary.LittleEndian.PutUint32(pointers[4*n:], block)
	}
	table := ondisk.GroupDescOf(f.desc).InodeTable()
	at := int64(f.geo.Addr(table)) + int64(f.geo.FirstIno)*int64(f.geo.InodeSize)
	inode := make([]byte, ondisk.InodeLen)
	if _, err := f.image.ReadAt(inode, at); err != nil {
		return err
	}
	copy(inode[ondisk.InodeBlock0At:], pointers)
	binary.LittleEndian.PutUint32(inode[ondisk.InodeSizeAt:], uint32(size))
	binary.LittleEndian.PutUint32(inode[ondisk.InodeSizeHighAt:], uint32(size>>32))
	binary.LittleEndian.PutUint32(inode[ondisk.InodeBlocksAt:], f.taken*(f.geo.BlockSize/512))
	_, err := f.image.WriteAt(inode, at)
	return err
}

// tree makes a pointer of a level with everything below it, up to the end of the file.
func (f *bigFile) tree(level int) (block uint32, err error) {
	if block, err = f.take(); err != nil {
		return 0, err
	}
	if level == 0 {
		f.left--
		return block, nil
	}
	below := make([]byte, f.geo.BlockSize)
	for at := 0; at < len(below) && f.left > 0; at += 4 {
		b, err := f.tree(level - 1)
		if err != nil {
			return 0, err
		}
		binary.LittleEndian.PutUint32(below[at:], b)
	}
	return block, f.write(block, below)
}

// take marks the next free block as used.
func (f *bigFile) take() (uint32, error) {
	for {
		for ; f.next < f.geo.GroupBlocks(f.group); f.next++ {
			if !ondisk.Bit(f.bitmap, f.next) {
				f.mark()
				return f.geo.GroupStart(f.group) + f.next, nil
			}
		}
		if f.group+1 == f.geo.Groups {
			return 0, errors.New("the file system has too few free blocks")
		}
		if err := f.close(); err != nil {
			return 0, err
		}
		if err := f.open(f.group + 1); err != nil {
			return 0, err
		}
	}
}

// mark marks a block as used, and counts it.
func (f *bigFile) mark() {
	f.bitmap[f.next/8] |= 1 << (f.next % 8)
	count := f.desc[f.group*ondisk.GroupDescLen+ondisk.GroupDescFreeBlocksCountAt:]
	binary.LittleEndian.PutUint16(count, binary.LittleEndian.Uint16(count)-1)
	f.taken++
}

// open begins to take blocks from a group.
func (f *bigFile) open(group uint32) error {
	f.group, f.next, f.bitmap = group, 0, make([]byte, f.geo.BlockSize)
	return f.read(f.bitmapBlock(), f.bitmap)
}

// close writes the bitmap of the group.
func (f *bigFile) close() error { return f.write(f.bitmapBlock(), f.bitmap) }

func (f *bigFile) bitmapBlock() uint32 {
	return ondisk.GroupDescOf(f.desc[f.group*ondisk.GroupDescLen:]).BlockBitmap()
}
