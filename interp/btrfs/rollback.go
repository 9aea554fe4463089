package btrfs

import (
	"bytes"
	"errors"

	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// The image of the former file system, which btrfs-convert keeps (create_image): the number of its
// subvolume, ext2_saved, and of the file in it.
const (
	imageSubvolume = ondisk.FirstFreeID     // CONV_IMAGE_SUBVOL_OBJECTID
	imageInode     = ondisk.FirstFreeID + 1 // image
)

// restored reports whether a write over a superblock puts back what the former file system of a
// conversion has there. btrfs-convert -r does that for all superblocks, and the page cache of the
// device writes them in any order.
func (s *superblockWrite) restored() (bool, error) {
	root, ok, err := s.base.treeRoot(imageSubvolume)
	if err != nil || !ok {
		return false, err
	}
	offset := s.at % interp.DiskStride
	key := ondisk.Key{ObjectID: imageInode, Type: ondisk.ExtentDataKey, Offset: offset}
	pos := &position{state: s.base, tree: imageSubvolume}
	found, err := pos.seek(root.pointer, key)
	if err == nil {
		ok, err = pos.back(found, key)
	}
	if err != nil || !ok {
		return false, err
	}
	k, item := pos.key(), pos.item()
	v, whole := ondisk.ViewFileExtent(item.data())
	if !whole || k.ObjectID != imageInode || k.Type != ondisk.ExtentDataKey ||
		v.Len() < ondisk.FileExtentSize || v.DiskBytenr() == 0 || v.Compression() != 0 ||
		v.NumBytes() < ondisk.SuperSize || offset-k.Offset > v.NumBytes()-ondisk.SuperSize {
		return false, nil
	}
	logical := v.DiskBytenr() + v.Offset() + offset - k.Offset
	var former []byte
	err = (&files{s.base}).sectors(logical, 0, ondisk.SuperSize, func(p interp.Piece) error {
		former = append(former, p.Data...)
		return nil
	})
	if _, damaged := errors.AsType[*interp.ContentsError](err); damaged {
		return false, nil
	}
	return bytes.Equal(former, s.sb.Bytes()[:]), err
}
