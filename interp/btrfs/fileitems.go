package btrfs

import (
	"fsward/change"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// Flags of inodes that exist: BTRFS_INODE_FLAG_MASK below, BTRFS_INODE_RO_FLAG_MASK in the upper
// half.
const inodeFlags = 1<<12 - 1 | 1<<31 | 1<<32

// inodeID reports whether a number can be that of an inode (check_inode_key).
func inodeID(id uint64) bool {
	return id >= ondisk.FirstFreeID && id <= ondisk.LastFreeID || id == ondisk.RootTreeDirID || id == ondisk.FreeInoID
}

// inodeItem follows check_inode_item. The generations are held to that of the superblock itself, as
// btrfs check does: an inode of a later one has not been committed.
func (d *decoder) inodeItem(k ondisk.Key, r disk.Region) error {
	v, ok := ondisk.ViewInodeItem(r)
	if !ok || r.Len() > ondisk.InodeItemSize {
		return sizeError(&ondisk.ItemTypes[ondisk.KindInodeItem], r, ondisk.InodeItemSize)
	}
	bad := func(off int, format string, args ...any) error {
		return violatedAt(itemRule, r.Addr()+uint64(off), "inode_item: "+format, args...)
	}
	generation, transid, nlink, mode, flags := v.Generation(), v.TransID(), v.NLink(), v.Mode(), v.Flags()
	switch {
	case !inodeID(k.ObjectID):
		return bad(0, "%d is no number of an inode", int64(k.ObjectID))
	case k.Offset != 0:
		return bad(0, "key offset is %d, want 0", k.Offset)
	case generation > d.ctx.generation:
		return bad(ondisk.InodeItemGenerationAt, "generation is %d, the superblock's is %d", generation, d.ctx.generation)
	case transid > d.ctx.generation:
		return bad(ondisk.InodeItemTransIDAt, "transid is %d, the superblock's generation is %d", transid, d.ctx.generation)
	case mode > 0o177777:
		return bad(ondisk.InodeItemModeAt, "mode is %#o, unknown are %#o", mode, mode&^0o177777)
	case mode&0o170000 == 0o040000 && nlink > 1:
		return bad(ondisk.InodeItemNLinkAt, "nlink of a directory is %d, at most 1", nlink)
	case flags&^inodeFlags != 0:
		return bad(ondisk.InodeItemFlagsAt, "flags is %#x, unknown are %#x", flags, flags&^inodeFlags)
	}
	d.begin(ondisk.KindInodeItem, k.ObjectID, 0, 0)
	return d.structure(&ondisk.InodeItemLayout, r, ondisk.InodeItemSize)
}

// nameIn returns a name of n bytes at an offset; a name has from 1 to 255.
func nameIn(r disk.Region, off, n uint64) ([]byte, error) {
	if n == 0 || n > ondisk.MaxNameLen {
		return nil, violatedAt(itemRule, r.Addr(), "name_len is %d, from 1 to %d are allowed", n, ondisk.MaxNameLen)
	}
	name, err := r.Sub(off, n)
	if err != nil {
		return nil, violatedAt(itemRule, r.Addr(), "name_len is %d, beyond the end of the item", n)
	}
	return name.Bytes(), nil
}

// inodeRefs follows check_inode_ref: names of one inode in one directory, each with its index.
func (d *decoder) inodeRefs(k ondisk.Key, r disk.Region) error {
	for off := uint64(0); ; {
		head, err := r.Sub(off, uint64(ondisk.InodeRefSize))
		if err != nil {
			return violatedAt(itemRule, r.Addr(), "inode_ref: %v", err)
		}
		ref := ondisk.InodeRef{Region: head}
		n := uint64(ref.NameLen())
		name, err := nameIn(r, off+uint64(ondisk.InodeRefSize), n)
		if err != nil {
			return err
		}
		if k.ObjectID == k.Offset && string(name) != ".." {
			return violatedAt(itemRule, r.Addr(), "the root directory %d has the name %q in itself, want \"..\"", k.ObjectID, name)
		}
		d.begin(ondisk.KindInodeRef, k.ObjectID, k.Offset, ref.Index())
		if err := d.structure(&ondisk.InodeRefLayout, head, head.Len()); err != nil {
			return err
		}
		d.name(name)
		d.link(k.ObjectID, ondisk.KindInodeItem, name)
		if off += uint64(ondisk.InodeRefSize) + n; off == uint64(r.Len()) {
			return nil
		}
	}
}

// inodeExtrefs reads the names of an inode that did not fit into its inode_refs.
func (d *decoder) inodeExtrefs(k ondisk.Key, r disk.Region) error {
	for off := uint64(0); ; {
		head, err := r.Sub(off, uint64(ondisk.InodeExtrefSize))
		if err != nil {
			return violatedAt(itemRule, r.Addr(), "inode_extref: %v", err)
		}
		ref := ondisk.InodeExtref{Region: head}
		n := uint64(ref.NameLen())
		name, err := nameIn(r, off+uint64(ondisk.InodeExtrefSize), n)
		if err != nil {
			return err
		}
		parent := ref.ParentObjectID()
		if h := ondisk.ExtrefHash(parent, name); h != k.Offset {
			return violatedAt(itemRule, r.Addr(), "the key offset of an inode_extref is %d, the hash of its name is %d", k.Offset, h)
		}
		d.begin(ondisk.KindInodeExtref, k.ObjectID, parent, ref.Index())
		if err := d.structure(&ondisk.InodeExtrefLayout, head, head.Len()); err != nil {
			return err
		}
		d.name(name)
		d.link(k.ObjectID, ondisk.KindInodeItem, name)
		if off += uint64(ondisk.InodeExtrefSize) + n; off == uint64(r.Len()) {
			return nil
		}
	}
}

// dirItems follows check_dir_item: entries whose names have the same hash share an item. That a
// name and its data fit into a leaf (BTRFS_MAX_XATTR_SIZE) follows from their lying in the item.
func (d *decoder) dirItems(kind change.Kind, k ondisk.Key, r disk.Region) error {
	for off := uint64(0); ; {
		head, err := r.Sub(off, uint64(ondisk.DirItemSize))
		if err != nil {
			return violatedAt(itemRule, r.Addr(), "%s: %v", ondisk.ItemTypes[kind].Name, err)
		}
		entry := ondisk.DirItem{Region: head}
		location, dataLen, nameLen, typ := entry.Location(), uint64(entry.DataLen()), uint64(entry.NameLen()), entry.Type()
		name, err := nameIn(r, off+uint64(ondisk.DirItemSize), nameLen)
		if err != nil {
			return err
		}
		if _, err := r.Sub(off+uint64(ondisk.DirItemSize)+nameLen, dataLen); err != nil {
			return violatedAt(itemRule, r.Addr(), "data_len is %d, beyond the end of the item", dataLen)
		}
		aux := uint64(0)
		if kind != ondisk.KindDirIndex {
			if h := ondisk.NameHash(name); h != k.Offset {
				return violatedAt(itemRule, head.Addr(), "the key offset of a %s is %d, the hash of its name is %d", ondisk.ItemTypes[kind].Name, k.Offset, h)
			}
			aux = nameID(name)
		}
		d.begin(kind, k.ObjectID, k.Offset, aux)
		if kind == ondisk.KindXattrItem {
			if typ != ondisk.FileTypeXattr {
				return violatedAt(itemRule, head.Addr()+ondisk.DirItemTypeAt, "type of an xattr_item is %d, want %d", typ, ondisk.FileTypeXattr)
			}
			if location != (ondisk.Key{}) {
				return violatedAt(itemRule, head.Addr(), "an xattr_item has location %s", location.String())
			}
			d.num(ondisk.FieldNameLen, nameLen)
			d.num(ondisk.FieldDataLen, dataLen)
		} else {
			if dataLen != 0 {
				return violatedAt(itemRule, head.Addr()+ondisk.DirItemDataLenAt, "data_len of a directory entry is %d", dataLen)
			}
			if !entryLocation(location) {
				return violatedAt(itemRule, head.Addr(), "a directory entry leads to %s", location.String())
			}
			if err := d.structure(&ondisk.DirItemLayout, head, head.Len()); err != nil {
				return err
			}
			d.link(location.ObjectID, ondisk.KindByType[location.Type], name)
		}
		d.name(name)
		if off += uint64(ondisk.DirItemSize) + nameLen + dataLen; off == uint64(r.Len()) {
			return nil
		}
	}
}

// entryLocation reports whether a directory entry can lead to a key: that of an inode, or of the
// root item of a subvolume (check_inode_key, check_root_key).
func entryLocation(k ondisk.Key) bool {
	switch k.Type {
	case ondisk.InodeItemKey:
		return inodeID(k.ObjectID) && k.Offset == 0
	case ondisk.RootItemKey:
		return ondisk.IsFileTree(k.ObjectID)
	}
	return false
}

// Limits of a compressed extent (fs/btrfs/compression.h): both BTRFS_MAX_COMPRESSED on disk and
// BTRFS_MAX_UNCOMPRESSED in memory.
const maxCompressed = 128 << 10

// fileExtent follows check_extent_data_item and, in the bounds on lengths, process_file_extent of
// btrfs check.
func (d *decoder) fileExtent(k ondisk.Key, r disk.Region) error {
	bad := func(format string, args ...any) error { return extentDataError(r, format, args...) }
	v, ok := ondisk.ViewFileExtent(r)
	if !ok {
		return bad("%d bytes, at least %d are needed", r.Len(), ondisk.InlineStart)
	}
	generation, ram, compression, typ := v.Generation(), v.RAMBytes(), v.Compression(), v.Type()
	switch {
	case generation > d.ctx.generation:
		return bad("generation is %d, the superblock's is %d", generation, d.ctx.generation)
	case typ > ondisk.ExtentPrealloc:
		return bad("type is %d, at most %d", typ, ondisk.ExtentPrealloc)
	case compression > 3:
		return bad("compression is %d, at most 3", compression)
	case v.Encryption() != 0 || v.OtherEncoding() != 0:
		return bad("encryption is %d, other_encoding is %d", v.Encryption(), v.OtherEncoding())
	case !d.ctx.aligned(k.Offset):
		return bad("its file offset %d is not a multiple of sectorsize", k.Offset)
	case compression != 0 && ram > maxCompressed:
		return bad("ram_bytes is %d, at most %d are compressed together", ram, maxCompressed)
	}
	d.begin(ondisk.KindExtentData, k.ObjectID, k.Offset, 0)
	if typ == ondisk.ExtentInline {
		return d.inlineExtent(k, v)
	}
	if r.Len() != ondisk.FileExtentSize {
		return sizeError(&ondisk.ItemTypes[ondisk.KindExtentData], r, ondisk.FileExtentSize)
	}
	bytenr, offset, num := v.DiskBytenr(), v.Offset(), v.NumBytes()
	if err := d.checkExtentRange(k, v); err != nil {
		return err
	}
	counted := num
	if bytenr == 0 {
		counted = 0
	}
	d.extentSpan(counted, k.Offset+num)
	if err := d.structure(&ondisk.FileExtentLayout, r, ondisk.FileExtentSize); err != nil {
		return err
	}
	if bytenr != 0 && d.tree != ondisk.TreeLogID { // an extent gets its back reference when the log is replayed
		d.dataBackref(bytenr, k.ObjectID, k.Offset-offset)
	}
	return nil
}

// checkExtentRange checks where the data of a file extent lie, and that the lengths fit together.
func (d *decoder) checkExtentRange(k ondisk.Key, v ondisk.FileExtent) error {
	bad := func(format string, args ...any) error { return extentDataError(v.Region, format, args...) }
	ram, compression, typ := v.RAMBytes(), v.Compression(), v.Type()
	bytenr, length, offset, num := v.DiskBytenr(), v.DiskNumBytes(), v.Offset(), v.NumBytes()
	for _, m := range [...]struct {
		name  string
		value uint64
	}{{"ram_bytes", ram}, {"disk_bytenr", bytenr}, {"disk_num_bytes", length}, {"offset", offset}, {"num_bytes", num}} {
		if !d.ctx.aligned(m.value) {
			return bad("%s is %d, not a multiple of sectorsize", m.name, m.value)
		}
	}
	switch {
	case num == 0 || k.Offset+num < k.Offset:
		return bad("num_bytes is %d at file offset %d", num, k.Offset)
	case offset > ram || num > ram-offset:
		return bad("offset %d and num_bytes %d lie beyond ram_bytes %d", offset, num, ram)
	case compression != 0 && typ == ondisk.ExtentPrealloc:
		return bad("a preallocated extent has compression %d", compression)
	case compression != 0 && length > maxCompressed:
		return bad("disk_num_bytes is %d, a compressed extent has at most %d", length, maxCompressed)
	case compression == 0 && bytenr != 0 && (offset > length || num > length-offset):
		return bad("offset %d and num_bytes %d lie beyond disk_num_bytes %d", offset, num, length)
	}
	if bytenr != 0 && d.ctx.chunks != nil {
		if c := d.ctx.chunks.find(bytenr, length); c == nil || c.typ&ondisk.GroupData == 0 {
			return bad("disk_bytenr %d with disk_num_bytes %d does not lie in a chunk of data", bytenr, length)
		}
	}
	return nil
}

// dataBackref puts the key of the back reference that the extent has of a file extent, unless the
// leaf counts as a whole (FULL_BACKREF), and that leaf: the root in it is the owner of the leaf,
// which a snapshot may share. offset is where in the file the extent would begin.
func (d *decoder) dataBackref(bytenr, objectid, offset uint64) {
	root, leaf := d.tree, uint64(0)
	if d.leaf != nil {
		root, leaf = d.leaf.Owner(), d.leaf.Logical()
	}
	if d.wants(ondisk.FieldBackref, false) {
		d.put(ondisk.FieldBackref, false, d.names.Key(bytenr, ondisk.KindExtentDataRef, ondisk.DataRefHash(root, objectid, offset)))
	}
	d.put(ondisk.FieldLeaf, true, change.Num(leaf))
}

// inlineExtent is of data that stand in the item itself: less than a sector before compression.
func (d *decoder) inlineExtent(k ondisk.Key, v ondisk.FileExtent) error {
	bad := func(format string, args ...any) error { return extentDataError(v.Region, format, args...) }
	ram, compressed, data := v.RAMBytes(), v.Compression() != 0, uint64(v.Len()-ondisk.InlineStart)
	switch {
	case k.Offset != 0:
		return bad("inline data at file offset %d", k.Offset)
	case ram == 0 || data == 0:
		return bad("inline data of %d bytes, ram_bytes is %d", data, ram)
	case !compressed && data != ram:
		return bad("ram_bytes is %d, the item has %d bytes of data", ram, data)
	case ram > uint64(d.ctx.sectorSize) || data >= uint64(d.ctx.sectorSize):
		return bad("inline data of %d bytes, ram_bytes is %d: more than a sector", data, ram)
	}
	sector := uint64(d.ctx.sectorSize)
	d.extentSpan(ram, (ram+sector-1)/sector*sector)
	return d.structure(&ondisk.FileExtentLayout, v.Region, ondisk.InlineStart)
}

func extentDataError(r disk.Region, format string, args ...any) error {
	return violatedAt(itemRule, r.Addr(), "extent_data: "+format, args...)
}
