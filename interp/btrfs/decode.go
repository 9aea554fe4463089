package btrfs

import (
	"fmt"
	"math/bits"

	"fsward/change"
	"fsward/interp/disk"
)

// A fieldValue is one field of an object on one side of a change.
type fieldValue struct {
	field change.Field
	quiet bool // the View answers it, records leave it out
	value change.Value
}

// An entity is an object found in an item, with its fields vals[from:to] of the decoder.
type entity struct {
	obj      change.Object
	from, to int
}

// itemContext is what the contents of items are checked against.
type itemContext struct {
	sectorSize, nodeSize uint32
	generation           uint64 // of the superblock
	devID, deviceSize    uint64
	chunks               *chunkMap // nil while the chunk tree itself is read
}

// A decoder turns items into objects with fields. It is emptied by reset and reused.
type decoder struct {
	ctx   itemContext
	tree  uint64
	names *change.Names
	ents  []entity
	vals  []fieldValue
}

func (d *decoder) reset() {
	d.ents, d.vals = d.ents[:0], d.vals[:0]
}

// begin starts an object; the fields that follow are its.
func (d *decoder) begin(kind change.Kind, id, sub, aux uint64) {
	obj := change.Object{Tree: d.tree, ID: id, Kind: kind, Sub: sub, Aux: aux}
	d.ents = append(d.ents, entity{obj, len(d.vals), len(d.vals)})
}

func (d *decoder) put(f change.Field, quiet bool, v change.Value) {
	d.vals = append(d.vals, fieldValue{f, quiet, v})
	d.ents[len(d.ents)-1].to = len(d.vals)
}

func (d *decoder) num(f change.Field, n uint64) { d.put(f, false, change.Num(n)) }

// read returns a member of up to 8 bytes.
func read(r disk.Region, off, width int) uint64 {
	switch width {
	case 1:
		return uint64(r.U8(off))
	case 2:
		return uint64(r.U16(off))
	case 4:
		return uint64(r.U32(off))
	default:
		return r.U64(off)
	}
}

// structure puts the fields of a structure. The caller has checked that r has at least its size, or as
// many bytes as limit says, where a structure may be cut short.
func (d *decoder) structure(s *structure, r disk.Region, limit int) error {
	for i := range s.fields {
		f := &s.fields[i]
		if f.off+f.width > limit {
			continue
		}
		if f.width == keySize {
			k := readKey(r, f.off)
			d.put(f.field, f.quiet, d.keyValue(k))
			continue
		}
		n := read(r, f.off, f.width)
		if f.field != 0 {
			v, err := wordOrNum(n, f.words)
			if err != nil {
				return violatedAt(itemRule, r.Addr()+uint64(f.off), "%s of %s is %d", f.member, s.name, n)
			}
			d.put(f.field, f.quiet, v)
		}
		for _, p := range f.parts {
			v, err := wordOrNum(n&p.mask>>p.shift, p.words)
			if err != nil {
				return violatedAt(itemRule, r.Addr()+uint64(f.off), "%s of %s is %#x", f.member, s.name, n)
			}
			d.put(p.field, p.quiet, v)
		}
	}
	return nil
}

var errNoWord = fmt.Errorf("no such value")

func wordOrNum(n uint64, words []change.WordID) (change.Value, error) {
	if words == nil {
		return change.Num(n), nil
	}
	if n >= uint64(len(words)) || words[n] == wordNone {
		return change.Value{}, errNoWord
	}
	return change.WordValue(words[n]), nil
}

// keyValue makes the value of a key that stands in an item. A type that is not known has kind 0.
func (d *decoder) keyValue(k key) change.Value {
	return d.names.Key(k.objectid, kindByType[k.typ], k.offset)
}

// item decodes one item and checks its contents (btrfs_check_leaf's check_leaf_item). The error is a
// *structureError or an *interp.UnsupportedError.
func (d *decoder) item(k key, r disk.Region) error {
	kind := kindByType[k.typ]
	if kind == 0 || itemTypes[kind].trees&classOf(d.tree) == 0 {
		return violatedAt(itemTypeRule, r.Addr(), "an item of type %d in tree %s", k.typ, change.NumText(d.tree)).in(d.tree, k)
	}
	err := d.contents(kind, k, r)
	if e, ok := err.(*structureError); ok {
		return e.in(d.tree, k)
	}
	return err
}

func (d *decoder) contents(kind change.Kind, k key, r disk.Region) error {
	t := &itemTypes[kind]
	switch kind {
	case kindInodeItem:
		return d.inodeItem(k, r)
	case kindInodeRef:
		return d.inodeRefs(k, r)
	case kindInodeExtref:
		return d.inodeExtrefs(k, r)
	case kindXattrItem, kindDirItem, kindDirIndex:
		return d.dirItems(kind, k, r)
	case kindExtentData:
		return d.fileExtent(k, r)
	case kindExtentCsum:
		return d.extentCsum(k, r)
	case kindRootItem:
		return d.rootItem(k, r)
	case kindRootRef, kindRootBackref:
		return d.rootRef(kind, k, r)
	case kindExtentItem, kindMetadataItem:
		return d.extentItem(kind, k, r)
	case kindTreeBlockRef, kindSharedBlockRef:
		if r.Len() != 0 {
			return sizeError(t, r, 0)
		}
		d.blockRef(kind, k.objectid, k.offset)
		return nil
	case kindExtentDataRef:
		if r.Len() != extentDataRefLayout.size {
			return sizeError(t, r, extentDataRefLayout.size)
		}
		return d.extentDataRef(k.objectid, r)
	case kindSharedDataRef:
		if r.Len() != sharedDataRefLayout.size {
			return sizeError(t, r, sharedDataRefLayout.size)
		}
		return d.sharedDataRef(k.objectid, k.offset, r)
	case kindBlockGroupItem:
		return d.blockGroup(k, r)
	case kindQgroupStatus:
		if r.Len() == t.layout.size+8 { // enable_gen, since Linux 6.7
			d.begin(kind, k.objectid, k.offset, 0)
			return d.structure(t.layout, r, t.layout.size)
		}
	case kindFreeSpaceBitmap:
		return d.freeSpaceBitmap(k, r)
	case kindChunkItem:
		if _, err := parseChunk(k, r, d.ctx.sectorSize, d.ctx.devID, d.ctx.deviceSize); err != nil {
			return err
		}
		d.begin(kind, k.objectid, k.offset, 0)
		return d.structure(t.layout, r, t.layout.size)
	}
	d.begin(kind, k.objectid, k.offset, 0)
	switch {
	case t.layout != nil:
		if r.Len() != t.layout.size {
			return sizeError(t, r, t.layout.size)
		}
		return d.structure(t.layout, r, t.layout.size)
	case t.extra == nil: // all is in the key
		if r.Len() != 0 {
			return sizeError(t, r, 0)
		}
	default:
		d.num(fieldSize, uint64(r.Len()))
	}
	return nil
}

func sizeError(t *itemType, r disk.Region, want int) error {
	return violatedAt(itemRule, r.Addr(), "%s has %d bytes, want %d", t.name, r.Len(), want)
}

// superBlock decodes the superblock as an object.
func (d *decoder) superBlock(s superblock) error {
	d.begin(superObject.Kind, superObject.ID, superObject.Sub, superObject.Aux)
	return d.structure(&superLayout, disk.NewRegion(s.b[:], s.bytenr()), superSize)
}

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
	return d.structure(&fileExtentLayout, r, fileExtentLayout.size)
}

// extentCsum follows check_csum_item.
func (d *decoder) extentCsum(k key, r disk.Region) error {
	if k.objectid != extentCsumID || k.offset%uint64(d.ctx.sectorSize) != 0 || r.Len() == 0 || r.Len()%csumSize != 0 {
		return violatedAt(itemRule, r.Addr(), "extent_csum with %d bytes", r.Len())
	}
	d.begin(kindExtentCsum, k.objectid, k.offset, 0)
	d.num(fieldNSums, uint64(r.Len()/csumSize))
	return nil
}

// rootItem follows check_root_item.
func (d *decoder) rootItem(k key, r disk.Region) error {
	if r.Len() != rootItemLayout.size && r.Len() != legacyRootItemSize {
		return sizeError(&itemTypes[kindRootItem], r, rootItemLayout.size)
	}
	generation, bytenr, level := r.U64(160), r.U64(176), r.U8(238)
	switch {
	case generation > d.ctx.generation:
		return violatedAt(itemRule, r.Addr()+160, "generation is %d, the superblock's is %d", generation, d.ctx.generation)
	case bytenr%uint64(d.ctx.sectorSize) != 0:
		return violatedAt(itemRule, r.Addr()+176, "bytenr is %d, not a multiple of sectorsize", bytenr)
	case level >= maxLevel || r.U8(237) >= maxLevel:
		return violatedAt(itemRule, r.Addr()+237, "level is %d, drop_level is %d, at most %d", level, r.U8(237), maxLevel-1)
	}
	d.begin(kindRootItem, k.objectid, k.offset, 0)
	return d.structure(&rootItemLayout, r, r.Len())
}

// rootRef follows check_root_ref.
func (d *decoder) rootRef(kind change.Kind, k key, r disk.Region) error {
	if r.Len() < rootRefLayout.size {
		return sizeError(&itemTypes[kind], r, rootRefLayout.size)
	}
	name, err := nameIn(r, uint64(rootRefLayout.size), uint64(r.U16(16)))
	if err != nil {
		return err
	}
	if r.Len() != rootRefLayout.size+len(name) {
		return sizeError(&itemTypes[kind], r, rootRefLayout.size+len(name))
	}
	d.begin(kind, k.objectid, k.offset, 0)
	if err := d.structure(&rootRefLayout, r, r.Len()); err != nil {
		return err
	}
	d.put(fieldName, false, d.names.Intern(name))
	return nil
}

// blockGroup follows check_block_group_item.
func (d *decoder) blockGroup(k key, r disk.Region) error {
	if r.Len() != blockGroupLayout.size {
		return sizeError(&itemTypes[kindBlockGroupItem], r, blockGroupLayout.size)
	}
	used, flags := r.U64(0), r.U64(16)
	switch {
	case k.offset == 0 || k.objectid+k.offset < k.objectid:
		return violatedAt(itemRule, r.Addr(), "block_group_item has length %d", k.offset)
	case used > k.offset:
		return violatedAt(itemRule, r.Addr(), "used is %d in a block group of %d bytes", used, k.offset)
	case r.U64(8) != firstChunkTreeID:
		return violatedAt(itemRule, r.Addr()+8, "chunk_objectid is %d, want %d", r.U64(8), firstChunkTreeID)
	case flags&groupTypes == 0 || flags&^(groupTypes|groupProfiles) != 0:
		return violatedAt(itemRule, r.Addr()+16, "flags is %#x", flags)
	}
	d.begin(kindBlockGroupItem, k.objectid, k.offset, 0)
	return d.structure(&blockGroupLayout, r, r.Len())
}

// freeSpaceBitmap has a bit for each sector of the range in its key (free_space_bitmap_size).
func (d *decoder) freeSpaceBitmap(k key, r disk.Region) error {
	sectors := k.offset / uint64(d.ctx.sectorSize)
	if uint64(r.Len()) != (sectors+7)/8 {
		return violatedAt(itemRule, r.Addr(), "free_space_bitmap has %d bytes for %d sectors", r.Len(), sectors)
	}
	d.begin(kindFreeSpaceBitmap, k.objectid, k.offset, 0)
	d.num(fieldSize, uint64(r.Len()))
	free := 0
	for _, b := range r.Bytes() {
		free += bits.OnesCount8(b)
	}
	d.num(fieldFree, uint64(free))
	return nil
}
