package btrfs

import (
	"encoding/binary"

	"fsward/change"
	"fsward/interp/disk"
)

// Flags of inodes that exist: BTRFS_INODE_FLAG_MASK below, BTRFS_INODE_RO_FLAG_MASK in the upper half.
const inodeFlags = 1<<12 - 1 | 1<<31 | 1<<32

// inodeItem follows check_inode_item, as far as it is about one item alone.
func (d *decoder) inodeItem(k key, r disk.Region) error {
	if r.Len() != inodeItemLayout.size {
		return sizeError(&itemTypes[kindInodeItem], r, inodeItemLayout.size)
	}
	if k.offset != 0 {
		return violatedAt(itemRule, r.Addr(), "the key offset of an inode_item is %d, want 0", k.offset)
	}
	if flags := r.U64(64); flags&^inodeFlags != 0 {
		return violatedAt(itemRule, r.Addr()+64, "flags of btrfs_inode_item is %#x, unknown are %#x", flags, flags&^inodeFlags)
	}
	d.begin(kindInodeItem, k.objectid, 0, 0)
	return d.structure(&inodeItemLayout, r, inodeItemLayout.size)
}

// nameIn returns a name of n bytes at an offset; a name has from 1 to 255.
func nameIn(r disk.Region, off, n uint64) ([]byte, error) {
	if n == 0 || n > maxNameLen {
		return nil, violatedAt(itemRule, r.Addr(), "name_len is %d, from 1 to %d are allowed", n, maxNameLen)
	}
	name, err := r.Sub(off, n)
	if err != nil {
		return nil, violatedAt(itemRule, r.Addr(), "name_len is %d, beyond the end of the item", n)
	}
	return name.Bytes(), nil
}

// link puts what a name leads to together with which name it is. It is the same in each record of a name
// and in no record of another, where names with one hash stand side by side under one key.
func (d *decoder) link(id uint64, kind change.Kind, name []byte) {
	if d.all {
		d.put(fieldLink, true, d.names.Key(id, kind, nameID(name)))
	}
}

// inodeRefs follows check_inode_ref: names of one inode in one directory, each with its index.
func (d *decoder) inodeRefs(k key, r disk.Region) error {
	for off := uint64(0); ; {
		head, err := r.Sub(off, uint64(inodeRefLayout.size))
		if err != nil {
			return violatedAt(itemRule, r.Addr(), "inode_ref: %v", err)
		}
		n := uint64(head.U16(8))
		name, err := nameIn(r, off+uint64(inodeRefLayout.size), n)
		if err != nil {
			return err
		}
		d.begin(kindInodeRef, k.objectid, k.offset, head.U64(0))
		if err := d.structure(&inodeRefLayout, head, head.Len()); err != nil {
			return err
		}
		d.put(fieldName, false, d.names.Intern(name))
		d.link(k.objectid, kindInodeItem, name)
		if off += uint64(inodeRefLayout.size) + n; off == uint64(r.Len()) {
			return nil
		}
	}
}

// inodeExtrefs reads the names of an inode that did not fit into its inode_refs.
func (d *decoder) inodeExtrefs(k key, r disk.Region) error {
	for off := uint64(0); ; {
		head, err := r.Sub(off, uint64(inodeExtrefLayout.size))
		if err != nil {
			return violatedAt(itemRule, r.Addr(), "inode_extref: %v", err)
		}
		n := uint64(head.U16(16))
		name, err := nameIn(r, off+uint64(inodeExtrefLayout.size), n)
		if err != nil {
			return err
		}
		parent := head.U64(0)
		if h := extrefHash(parent, name); h != k.offset {
			return violatedAt(itemRule, r.Addr(), "the key offset of an inode_extref is %d, the hash of its name is %d", k.offset, h)
		}
		d.begin(kindInodeExtref, k.objectid, parent, head.U64(8))
		if err := d.structure(&inodeExtrefLayout, head, head.Len()); err != nil {
			return err
		}
		d.put(fieldName, false, d.names.Intern(name))
		d.link(k.objectid, kindInodeItem, name)
		if off += uint64(inodeExtrefLayout.size) + n; off == uint64(r.Len()) {
			return nil
		}
	}
}

// dirItems follows check_dir_item: entries whose names have the same hash share an item.
func (d *decoder) dirItems(kind change.Kind, k key, r disk.Region) error {
	for off := uint64(0); ; {
		head, err := r.Sub(off, uint64(dirItemLayout.size))
		if err != nil {
			return violatedAt(itemRule, r.Addr(), "%s: %v", itemTypes[kind].name, err)
		}
		location, dataLen, nameLen, typ := readKey(head, 0), uint64(head.U16(25)), uint64(head.U16(27)), head.U8(29)
		name, err := nameIn(r, off+uint64(dirItemLayout.size), nameLen)
		if err != nil {
			return err
		}
		if _, err := r.Sub(off+uint64(dirItemLayout.size)+nameLen, dataLen); err != nil {
			return violatedAt(itemRule, r.Addr(), "data_len is %d, beyond the end of the item", dataLen)
		}
		aux := uint64(0)
		if kind != kindDirIndex {
			aux = nameID(name)
		}
		d.begin(kind, k.objectid, k.offset, aux)
		if kind == kindXattrItem {
			if err := checkXattr(k, location, name, typ, head); err != nil {
				return err
			}
			d.num(fieldNameLen, nameLen)
			d.num(fieldDataLen, dataLen)
		} else {
			if dataLen != 0 {
				return violatedAt(itemRule, head.Addr()+25, "data_len of a directory entry is %d", dataLen)
			}
			if location.typ != inodeItemKey && location.typ != rootItemKey {
				return violatedAt(itemRule, head.Addr(), "a directory entry leads to %s", keyText(location))
			}
			if err := d.structure(&dirItemLayout, head, head.Len()); err != nil {
				return err
			}
			d.link(location.objectid, kindByType[location.typ], name)
		}
		d.put(fieldName, false, d.names.Intern(name))
		if off += uint64(dirItemLayout.size) + nameLen + dataLen; off == uint64(r.Len()) {
			return nil
		}
	}
}

func checkXattr(k, location key, name []byte, typ uint8, head disk.Region) error {
	switch {
	case typ != fileTypeXattr:
		return violatedAt(itemRule, head.Addr()+29, "type of an xattr_item is %d, want %d", typ, fileTypeXattr)
	case location != key{}:
		return violatedAt(itemRule, head.Addr(), "an xattr_item has location %s", keyText(location))
	case nameHash(name) != k.offset:
		return violatedAt(itemRule, head.Addr(), "the key offset of an xattr_item is %d, the hash of its name is %d", k.offset, nameHash(name))
	}
	return nil
}

// fileExtent follows check_extent_data_item.
func (d *decoder) fileExtent(k key, r disk.Region) error {
	const inlineStart = 21 // BTRFS_FILE_EXTENT_INLINE_DATA_START
	bad := func(format string, args ...any) error {
		return violatedAt(itemRule, r.Addr(), "extent_data: "+format, args...)
	}
	if r.Len() < inlineStart {
		return bad("%d bytes, at least %d are needed", r.Len(), inlineStart)
	}
	ram, compression, typ := r.U64(8), r.U8(16), r.U8(20)
	switch {
	case typ > 2:
		return bad("type is %d", typ)
	case compression > 3:
		return bad("compression is %d", compression)
	case r.U8(17) != 0 || r.U16(18) != 0:
		return bad("encryption is %d, other_encoding is %d", r.U8(17), r.U16(18))
	case k.offset%uint64(d.ctx.sectorSize) != 0:
		return bad("its file offset is not a multiple of sectorsize")
	}
	d.begin(kindExtentData, k.objectid, k.offset, 0)
	if typ == 0 {
		if k.offset != 0 {
			return bad("inline data at file offset %d", k.offset)
		}
		if compression == 0 && uint64(r.Len()-inlineStart) != ram {
			return bad("ram_bytes is %d, the item has %d bytes of data", ram, r.Len()-inlineStart)
		}
		sector := uint64(d.ctx.sectorSize)
		d.extentSpan(ram, (ram+sector-1)/sector*sector)
		return d.structure(&fileExtentLayout, r, inlineStart)
	}
	if r.Len() != fileExtentLayout.size {
		return sizeError(&itemTypes[kindExtentData], r, fileExtentLayout.size)
	}
	bytenr, length, num := r.U64(21), r.U64(29), r.U64(45)
	for _, m := range []uint64{ram, bytenr, length, r.U64(37), num} {
		if m%uint64(d.ctx.sectorSize) != 0 {
			return bad("%d is not a multiple of sectorsize", m)
		}
	}
	if k.offset+num < k.offset {
		return bad("num_bytes is %d at file offset %d", num, k.offset)
	}
	if bytenr != 0 && d.ctx.chunks != nil {
		if c := d.ctx.chunks.find(bytenr, length); c == nil || c.typ&groupData == 0 {
			return bad("disk_bytenr %d with disk_num_bytes %d does not lie in a chunk of data", bytenr, length)
		}
	}
	counted := num
	if bytenr == 0 {
		counted = 0
	}
	d.extentSpan(counted, k.offset+num)
	if err := d.structure(&fileExtentLayout, r, fileExtentLayout.size); err != nil {
		return err
	}
	if bytenr != 0 {
		d.dataBackref(bytenr, k.objectid, k.offset-r.U64(37))
	}
	return nil
}

// dataBackref puts the key of the back reference that the extent has of a file extent, unless the leaf
// counts as a whole (FULL_BACKREF), and that leaf: the root in it is the owner of the leaf, which a
// snapshot may share. offset is where in the file the extent would begin.
func (d *decoder) dataBackref(bytenr, objectid, offset uint64) {
	root, leaf := d.tree, uint64(0)
	if d.leaf != nil {
		root, leaf = d.leaf.owner(), d.leaf.logical()
	}
	var ref [24]byte
	binary.LittleEndian.PutUint64(ref[0:], root)
	binary.LittleEndian.PutUint64(ref[8:], objectid)
	binary.LittleEndian.PutUint64(ref[16:], offset)
	d.put(fieldBackref, false, d.names.Key(bytenr, kindExtentDataRef, extentDataRefHash(ref[:])))
	d.put(fieldLeaf, true, change.Num(leaf))
}

// extentSpan puts what an extent counts for in the nbytes of its inode, and where in the file it ends
// (btrfs_file_extent_end).
func (d *decoder) extentSpan(nbytes, end uint64) {
	d.num(fieldNBytes, nbytes)
	d.put(fieldEndOffset, true, change.Num(end))
}
