package btrfs

import (
	"bytes"

	"fsward/change"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// inodeFlags are the known flags of inodes: BTRFS_INODE_FLAG_MASK in the lower half, and
// BTRFS_INODE_RO_FLAG_MASK in the upper half.
const inodeFlags = 1<<12 - 1 | 1<<31 | 1<<32

// Bits of the mode of an inode.
const (
	modeMask  = 0o177777 // all bits that exist
	modeType  = 0o170000 // S_IFMT
	directory = 0o040000 // S_IFDIR
)

// inodeID reports whether a number can be the number of an inode (check_inode_key).
func inodeID(id uint64) bool {
	return id >= ondisk.FirstFreeID && id <= ondisk.LastFreeID ||
		id == ondisk.RootTreeDirID || id == ondisk.FreeInoID
}

// inodeItem decodes an inode. It follows check_inode_item. The generations must not exceed that of
// the superblock, as in btrfs check: an inode of a later generation has not been committed.
func (d *decoder) inodeItem(k ondisk.Key, r disk.Region) error {
	v, ok := ondisk.ViewInodeItem(r)
	if !ok || r.Len() > ondisk.InodeItemSize {
		return sizeError(&ondisk.ItemTypes[ondisk.KindInodeItem], r, ondisk.InodeItemSize)
	}
	bad := func(off int, format string, args ...any) error {
		return violatedAt(itemRule, r.Addr()+uint64(off), "inode_item: "+format, args...)
	}
	generation, transid, nlink := v.Generation(), v.TransID(), v.NLink()
	mode, flags := v.Mode(), v.Flags()
	switch {
	case !inodeID(k.ObjectID):
		return bad(0, "objectid %d is no inode number", int64(k.ObjectID))
	case k.Offset != 0:
		return bad(0, "key offset is %d, want 0", k.Offset)
	case generation > d.ctx.generation:
		return bad(ondisk.InodeItemGenerationAt, "generation is %d, the superblock's is %d",
			generation, d.ctx.generation)
	case transid > d.ctx.generation:
		return bad(ondisk.InodeItemTransIDAt, "transid is %d, the superblock's generation is %d",
			transid, d.ctx.generation)
	case mode > modeMask:
		return bad(ondisk.InodeItemModeAt, "mode is %#o, unknown are %#o", mode, mode&^modeMask)
	case mode&modeType == directory && nlink > 1:
		return bad(ondisk.InodeItemNLinkAt, "nlink of a directory is %d, at most 1", nlink)
	case flags&^inodeFlags != 0:
		return bad(ondisk.InodeItemFlagsAt, "flags is %#x, unknown are %#x", flags, flags&^inodeFlags)
	}
	d.begin(ondisk.KindInodeItem, k.ObjectID, 0, 0)
	return d.structure(&ondisk.InodeItemLayout, r, ondisk.InodeItemSize)
}

// nameIn returns the name of n bytes at an offset. n must be from 1 to 255.
func nameIn(r disk.Region, off, n uint64) ([]byte, error) {
	if n == 0 || n > ondisk.MaxNameLen {
		return nil, violatedAt(itemRule, r.Addr(), "name_len is %d, from 1 to %d are allowed",
			n, ondisk.MaxNameLen)
	}
	name, err := r.Sub(off, n)
	if err != nil {
		return nil, violatedAt(itemRule, r.Addr(), "name_len is %d, beyond the end of the item", n)
	}
	return name.Bytes(), nil
}

// inodeRefs decodes the names of one inode in one directory, each with its index. It follows
// check_inode_ref.
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
			return violatedAt(itemRule, r.Addr(),
				"the root directory %d has the name %q in itself, want \"..\"", k.ObjectID, name)
		}
		o := change.Object{Kind: ondisk.KindInodeRef, ID: k.ObjectID, Sub: k.Offset, Aux: ref.Index()}
		if err := d.inodeName(o, &ondisk.InodeRefLayout, head, name); err != nil {
			return err
		}
		if off += uint64(ondisk.InodeRefSize) + n; off == uint64(r.Len()) {
			return nil
		}
	}
}

// inodeExtrefs decodes the names of an inode that did not fit into its inode_refs.
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
			return violatedAt(itemRule, r.Addr(),
				"the key offset of an inode_extref is %d, the hash of its name is %d", k.Offset, h)
		}
		o := change.Object{Kind: ondisk.KindInodeExtref, ID: k.ObjectID, Sub: parent, Aux: ref.Index()}
		if err := d.inodeName(o, &ondisk.InodeExtrefLayout, head, name); err != nil {
			return err
		}
		if off += uint64(ondisk.InodeExtrefSize) + n; off == uint64(r.Len()) {
			return nil
		}
	}
}

// inodeName adds a name of an inode, if it is wanted.
func (d *decoder) inodeName(o change.Object, layout *ondisk.Structure, head disk.Region,
	name []byte) error {
	if d.named != nil && !bytes.Equal(d.named, name) {
		return nil
	}
	d.begin(o.Kind, o.ID, o.Sub, o.Aux)
	if err := d.structure(layout, head, head.Len()); err != nil {
		return err
	}
	d.name(name)
	d.link(o.ID, ondisk.KindInodeItem, name)
	return nil
}

// dirItems decodes directory entries or extended attributes. It follows check_dir_item: entries
// whose names have the same hash share an item. The limit BTRFS_MAX_XATTR_SIZE needs no check,
// since the name and the data lie within the item.
func (d *decoder) dirItems(kind change.Kind, k ondisk.Key, r disk.Region) error {
	for off := uint64(0); ; {
		head, err := r.Sub(off, uint64(ondisk.DirItemSize))
		if err != nil {
			return violatedAt(itemRule, r.Addr(), "%s: %v", ondisk.ItemTypes[kind].Name, err)
		}
		entry := ondisk.DirItem{Region: head}
		dataLen, nameLen := uint64(entry.DataLen()), uint64(entry.NameLen())
		name, err := nameIn(r, off+uint64(ondisk.DirItemSize), nameLen)
		if err != nil {
			return err
		}
		if _, err := r.Sub(off+uint64(ondisk.DirItemSize)+nameLen, dataLen); err != nil {
			return violatedAt(itemRule, r.Addr(), "data_len is %d, beyond the end of the item",
				dataLen)
		}
		aux := uint64(0)
		if kind != ondisk.KindDirIndex {
			if h := ondisk.NameHash(name); h != k.Offset {
				return violatedAt(itemRule, head.Addr(),
					"the key offset of a %s is %d, the hash of its name is %d",
					ondisk.ItemTypes[kind].Name, k.Offset, h)
			}
			aux = nameID(name)
		}
		d.begin(kind, k.ObjectID, k.Offset, aux)
		if kind == ondisk.KindXattrItem {
			if err := checkXattr(entry); err != nil {
				return err
			}
			d.num(ondisk.FieldNameLen, nameLen)
			d.num(ondisk.FieldDataLen, dataLen)
		} else {
			if err := checkEntry(entry); err != nil {
				return err
			}
			if err := d.structure(&ondisk.DirItemLayout, head, head.Len()); err != nil {
				return err
			}
			location := entry.Location()
			d.link(location.ObjectID, ondisk.KindByType[location.Type], name)
		}
		d.name(name)
		if off += uint64(ondisk.DirItemSize) + nameLen + dataLen; off == uint64(r.Len()) {
			return nil
		}
	}
}

// checkXattr checks the dir_item of an extended attribute.
func checkXattr(attribute ondisk.DirItem) error {
	if typ := attribute.Type(); typ != ondisk.FileTypeXattr {
		return violatedAt(itemRule, attribute.Addr()+ondisk.DirItemTypeAt,
			"type of an xattr_item is %d, want %d", typ, ondisk.FileTypeXattr)
	}
	if location := attribute.Location(); location != (ondisk.Key{}) {
		return violatedAt(itemRule, attribute.Addr(), "an xattr_item has location %s",
			location.String())
	}
	return nil
}

// checkEntry checks the dir_item of a directory entry.
func checkEntry(entry ondisk.DirItem) error {
	if n := entry.DataLen(); n != 0 {
		return violatedAt(itemRule, entry.Addr()+ondisk.DirItemDataLenAt,
			"data_len of a directory entry is %d", n)
	}
	if location := entry.Location(); !entryLocation(location) {
		return violatedAt(itemRule, entry.Addr(), "a directory entry leads to %s",
			location.String())
	}
	return nil
}

// entryLocation reports whether a directory entry may lead to a key: the key of an inode, or of the
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

// maxCompressed bounds the bytes of a compressed extent, both on disk (BTRFS_MAX_COMPRESSED) and in
// memory (BTRFS_MAX_UNCOMPRESSED).
const maxCompressed = 128 << 10

// fileExtent decodes a file extent. It follows check_extent_data_item, and process_file_extent of
// btrfs check in the bounds on lengths.
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
		return bad("ram_bytes is %d, at most %d are compressed together",
			ram, maxCompressed)
	}
	d.begin(ondisk.KindExtentData, k.ObjectID, k.Offset, 0)
	if typ == ondisk.ExtentInline {
		return d.inlineExtent(k, v)
	}
	if r.Len() != ondisk.FileExtentSize {
		return sizeError(&ondisk.ItemTypes[ondisk.KindExtentData], r, ondisk.FileExtentSize)
	}
	bytenr, offset, num := v.DiskBytenr(), v.Offset(), v.NumBytes()
	if err := d.ctx.checkExtentRange(k, v); err != nil {
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
	if bytenr != 0 && d.tree != ondisk.TreeLogID { // log replay adds the back reference
		d.dataBackref(bytenr, k.ObjectID, k.Offset-offset)
	}
	return nil
}

// checkExtentRange checks the place of the data of a file extent, and its lengths.
func (c *itemContext) checkExtentRange(k ondisk.Key, v ondisk.FileExtent) error {
	bad := func(format string, args ...any) error { return extentDataError(v.Region, format, args...) }
	ram, compression, typ := v.RAMBytes(), v.Compression(), v.Type()
	bytenr, length, offset, num := v.DiskBytenr(), v.DiskNumBytes(), v.Offset(), v.NumBytes()
	for _, m := range [...]struct {
		name  string
		value uint64
	}{
		{"ram_bytes", ram}, {"disk_bytenr", bytenr}, {"disk_num_bytes", length},
		{"offset", offset}, {"num_bytes", num},
	} {
		if !c.aligned(m.value) {
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
	if bytenr != 0 && c.chunks != nil {
		chunk := c.chunks.find(bytenr, length)
		if chunk == nil || chunk.typ&ondisk.GroupData == 0 {
			return bad("disk_bytenr %d with disk_num_bytes %d does not lie in a chunk of data",
				bytenr, length)
		}
	}
	return nil
}

// dataBackref puts the key of the back reference from a data extent to a file extent, and the
// address of the leaf of the file extent. The root in the back reference is the owner of the leaf,
// because snapshots may share the leaf. If the leaf has FULL_BACKREF, the extent refers to the leaf
// instead. offset is the position in the file where the whole data extent would begin.
func (d *decoder) dataBackref(bytenr, objectid, offset uint64) {
	root, leaf := d.tree, uint64(0)
	if d.leaf != nil {
		root, leaf = d.leaf.Owner(), d.leaf.Logical()
	}
	if d.wants(ondisk.FieldBackref, false) {
		hash := ondisk.DataRefHash(root, objectid, offset)
		d.put(ondisk.FieldBackref, false, d.names.Key(bytenr, ondisk.KindExtentDataRef, hash))
	}
	d.put(ondisk.FieldLeaf, true, change.Num(leaf))
}

// inlineExtent decodes a file extent whose data lie in the item itself: at most one sector before
// compression.
func (d *decoder) inlineExtent(k ondisk.Key, v ondisk.FileExtent) error {
	bad := func(format string, args ...any) error { return extentDataError(v.Region, format, args...) }
	ram, compressed := v.RAMBytes(), v.Compression() != 0
	data, sector := uint64(v.Len()-ondisk.InlineStart), uint64(d.ctx.sectorSize)
	switch {
	case k.Offset != 0:
		return bad("inline data at file offset %d", k.Offset)
	case ram == 0 || data == 0:
		return bad("inline data of %d bytes, ram_bytes is %d", data, ram)
	case !compressed && data != ram:
		return bad("ram_bytes is %d, the item has %d bytes of data", ram, data)
	case ram > sector || data >= sector:
		return bad("inline data of %d bytes, ram_bytes is %d: more than a sector", data, ram)
	}
	d.extentSpan(ram, (ram+sector-1)/sector*sector)
	return d.structure(&ondisk.FileExtentLayout, v.Region, ondisk.InlineStart)
}

func extentDataError(r disk.Region, format string, args ...any) error {
	return violatedAt(itemRule, r.Addr(), "extent_data: "+format, args...)
}
