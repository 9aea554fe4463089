package ext3

import (
	"fmt"

	"fsward/interp/ext3/ondisk"
)

// A Snapshot is a file system in one state: the places of its metadata, and the contents of its
// blocks.
type Snapshot struct {
	*Layout
	*State
}

// Inode reads an inode. ino is from 1 to Geo.Inodes.
func (s Snapshot) Inode(ino uint32) (ondisk.Inode, error) {
	if ino == 0 || ino > s.Geo.Inodes {
		return nil, fmt.Errorf("ext3: there is no inode %d", ino)
	}
	block, off := s.inodePlace(ino)
	b, err := s.Block(block)
	if err != nil {
		return nil, err
	}
	return ondisk.Inode(b[off : off+ondisk.InodeLen]), nil
}

// marked reports whether the inode bitmap marks an inode as used.
func (s Snapshot) marked(ino uint32) (bool, error) {
	b, err := s.Block(s.Places[(ino-1)/s.Geo.InodesPerGroup].InodeBitmap)
	if err != nil {
		return false, err
	}
	return ondisk.Bit(b, (ino-1)%s.Geo.InodesPerGroup), nil
}

// allocated reports whether the block bitmap marks a block as used. block is in range.
func (s Snapshot) allocated(block uint32) (bool, error) {
	g := s.Geo.GroupOf(block)
	b, err := s.Block(s.Places[g].BlockBitmap)
	if err != nil {
		return false, err
	}
	return ondisk.Bit(b, block-s.Geo.GroupStart(g)), nil
}

// desc returns the bytes of the descriptor of a group.
func (s Snapshot) desc(g uint32) ([]byte, error) {
	perBlock := s.Geo.PerDescBlock()
	b, err := s.Block(s.Geo.DescBlock(g / perBlock))
	if err != nil {
		return nil, err
	}
	off := g % perBlock * ondisk.GroupDescLen
	return b[off : off+ondisk.GroupDescLen], nil
}

// super returns the bytes of the superblock.
func (s *State) super() ([]byte, error) {
	b, err := s.Block(s.geo.SuperBlock())
	if err != nil {
		return nil, err
	}
	off := ondisk.SuperOff % s.geo.BlockSize
	return b[off : off+ondisk.SuperLen], nil
}
