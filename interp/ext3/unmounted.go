package ext3

import (
	"fmt"
	"io"

	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// observeUnmounted judges a write while the file system is not mounted. Tools then write its blocks
// in any order, and only the mount afterwards is judged. What prepares a feature that fsward does
// not support is refused at once: the superblock that brings the feature comes last.
//
//   - Blocks of directories get room for the checksums of metadata_csum.
//   - The pointers of an inode become extents, as e2fsck -E bmap2extent does (rebuild_extent_tree
//     in e2fsck/extents.c). Without the feature such an inode is an error for e2fsck
//     (PR_1_EXTENT_FEATURE), and no baseline holds.
func (f *FS) observeUnmounted(w interp.Write, obs *interp.Observation) {
	bs := uint64(f.geo.BlockSize)
	if f.pending.super != nil || obs.Unknown != nil || uint64(len(w.Data)) != w.Len {
		return
	}
	first, last := uint32(w.Off/bs), uint32(min((w.Off+w.Len-1)/bs, uint64(f.geo.Blocks-1)))
	if w.Off/bs >= uint64(f.geo.Blocks) || last < f.geo.FirstData {
		return
	}
	if obs.Unknown = prepared(f.disk, bs, w); obs.Unknown != nil {
		return
	}
	for g := f.geo.GroupOf(max(first, f.geo.FirstData)); g <= f.geo.GroupOf(last); g++ {
		number, err := extended(f.disk, f.geo, w, g)
		if err != nil || number == 0 {
			continue // a tool can leave descriptors that lead nowhere
		}
		obs.Unknown = &interp.UnsupportedError{FS: schema.FS,
			Feature: fmt.Sprintf("an inode with extents (inode %d)", number)}
		return
	}
}

// prepared names the feature that a tool prepares in a block of a write to d, with blocks of bs
// bytes. It returns nil if there is none, and if the block as it was cannot be read.
func prepared(d io.ReaderAt, bs uint64, w interp.Write) error {
	for at := (w.Off + bs - 1) / bs * bs; at+bs <= w.Off+w.Len; at += bs {
		feature, err := ondisk.Prepared(w.Data[at-w.Off:][:bs], func() ([]byte, error) {
			b := make([]byte, bs)
			_, err := d.ReadAt(b, int64(at))
			return b, err
		})
		if err == nil && feature != nil {
			return feature
		}
	}
	return nil
}

// extended returns the number of the first inode of a group that gets extents with a write to d, or
// 0. The error is that of a read.
func extended(d io.ReaderAt, geo *ondisk.Geometry, w interp.Write, group uint32) (number uint32,
	err error) {
	var desc [ondisk.GroupDescLen]byte
	at := geo.Addr(geo.DescBlock(group/geo.PerDescBlock())) +
		uint64(group%geo.PerDescBlock())*ondisk.GroupDescLen
	if _, err := d.ReadAt(desc[:], int64(at)); err != nil {
		return 0, err
	}
	table, size := geo.Addr(ondisk.GroupDescOf(desc[:]).InodeTable()), uint64(geo.InodeSize)
	from := (max(w.Off, table) - table + size - 1) / size
	to := min(w.Off+w.Len, table+uint64(geo.InodesPerGroup)*size)
	for i := from; table+i*size+ondisk.InodeLen <= to; i++ {
		off := table + i*size
		is := ondisk.Inode(w.Data[off-w.Off:][:ondisk.InodeLen])
		if !is.HasExtents() {
			continue
		}
		before := make(ondisk.Inode, ondisk.InodeLen)
		if _, err := d.ReadAt(before, int64(off)); err != nil {
			return 0, err
		}
		if before.Mode() == is.Mode() && before.Generation() == is.Generation() &&
			before.Links() > 0 && !before.HasExtents() {
			return group*geo.InodesPerGroup + uint32(i) + 1, nil
		}
	}
	return 0, nil
}
