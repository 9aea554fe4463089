package ext3

import (
	"math"

	"fsward/change"
	"fsward/interp/ext3/ondisk"
)

// A view answers the queries of rules from a state. It keeps no more than the bounded cache of the
// state.
type view struct {
	Snapshot
	names   *change.Names
	orphan  func(ino uint32) bool
	owners  *ownerView   // of a file system whose records are not kept; nil: of others
	parents *parentTable // of a whole file system; nil: of others
	near    struct {     // where the last name was found
		dir   uint32
		block uint64 // of the directory
	}

	// sides holds the inodes that were read last, each at its number modulo recentInodes: rules ask
	// for several fields of an inode, and one rule after the other goes through the same records. nil
	// until an inode is read.
	sides *[recentInodes]recentInode
	super []change.Value // fields of the superblock; nil: not read yet
}

// recentInodes is the number of inodes that are found without their block. It is of the size of a
// batch of records.
const recentInodes = 1 << 10

type recentInode struct {
	ino uint32 // 0: none
	side
}

// Fork returns a View of the same state with a cache of its own.
func (v *view) Fork(names *change.Names) change.View {
	return &view{Snapshot: Snapshot{v.Layout, v.State.fork()}, names: names, orphan: v.orphan,
		owners: v.owners, parents: v.parents}
}

// fits reports whether the number of an object is in the range of its kind.
func (v *view) fits(o change.Object) bool {
	switch o.Kind {
	case ondisk.KindSuperblock:
		return o.ID == 0
	case ondisk.KindGroup:
		return o.ID < uint64(v.Geo.Groups)
	case ondisk.KindInode, ondisk.KindInodeBit, ondisk.KindDirent, ondisk.KindOrphan:
		return o.ID >= 1 && o.ID <= uint64(v.Geo.Inodes)
	default:
		return o.ID <= math.MaxUint32 && v.Geo.InRange(uint32(o.ID))
	}
}

func (v *view) side(ino uint32) (s side, err error) {
	if v.sides == nil {
		v.sides = new([recentInodes]recentInode)
	}
	recent := &v.sides[ino%recentInodes]
	if ino == recent.ino && ino != 0 {
		return recent.side, nil
	}
	if s.inode, err = v.Inode(ino); err != nil {
		return s, err
	}
	if s.marked, err = v.marked(ino); err != nil {
		return s, err
	}
	*recent = recentInode{ino, s}
	return s, nil
}

// superField returns a field of the superblock.
func (v *view) superField(f change.Field) (value change.Value, err error) {
	if v.super == nil {
		sb, err := v.State.super()
		if err != nil {
			return value, err
		}
		get := ondisk.SuperValue(sb)
		v.super = make([]change.Value, len(schema.Fields))
		for _, f := range schema.Kinds[ondisk.KindSuperblock].Fields {
			v.super[f] = get(f)
		}
	}
	if int(f) < len(v.super) {
		value = v.super[f]
	}
	return value, nil
}

// Get returns a field of an object.
func (v *view) Get(o change.Object, f change.Field) (change.Value, bool, error) {
	if f == change.FieldObject {
		ok, err := v.Exists(o)
		return change.Present, ok, err
	}
	if !v.fits(o) {
		return change.Value{}, false, nil
	}
	value, err := v.get(o, f)
	return value, err == nil && !value.IsNull(), err
}

// Values reads several fields of an object.
func (v *view) Values(o change.Object, fields []change.Field, values []change.Value) (err error) {
	clear(values)
	for i := 0; i < len(fields) && err == nil && v.fits(o); i++ {
		values[i], err = v.get(o, fields[i])
	}
	return err
}

func (v *view) get(o change.Object, f change.Field) (value change.Value, err error) {
	switch o.Kind {
	case ondisk.KindSuperblock:
		return v.superField(f)
	case ondisk.KindGroup:
		desc, err := v.desc(uint32(o.ID))
		if err != nil {
			return value, err
		}
		return v.groupValue(uint32(o.ID), desc)(f), nil
	case ondisk.KindInode:
		s, err := v.side(uint32(o.ID))
		if err != nil || !s.exists() {
			return value, err
		}
		if f == ondisk.FieldEnd {
			i := s.mapped(uint32(o.ID))
			if i == nil {
				return change.Num(0), nil
			}
			n, ok, err := v.end(i)
			if err != nil || !ok {
				return value, err
			}
			return change.Num(n), nil
		}
		return v.inodeValue(uint32(o.ID), s.inode, s.marked, f), nil
	case ondisk.KindDirent:
		name := v.names.At(o.Sub)
		if f == ondisk.FieldInode && name == ".." {
			if parent, ok := v.parents.find(uint32(o.ID)); ok {
				return change.Num(uint64(parent)), nil
			}
		}
		e, err := v.find(uint32(o.ID), name)
		if err != nil {
			return value, err
		}
		return entryField(e, f, v.Geo.FileType), nil
	}
	ok, err := v.Exists(o)
	if err != nil || !ok {
		return value, err
	}
	switch {
	case o.Kind == ondisk.KindInodeBit && f == ondisk.FieldInodeGroup:
		return change.Num((o.ID - 1) / uint64(v.Geo.InodesPerGroup)), nil
	case o.Kind == ondisk.KindBlock && f == ondisk.FieldGroup:
		return change.Num(uint64(v.Geo.GroupOf(uint32(o.ID)))), nil
	case o.Kind == ondisk.KindOwner && f == ondisk.FieldLength:
		return v.length(o)
	case o.Kind == ondisk.KindXattrBlock && f == ondisk.FieldRefcount:
		b, err := v.State.Block(uint32(o.ID))
		if err != nil {
			return value, err
		}
		return change.Num(uint64(ondisk.XattrHeadOf(b).Refcount())), nil
	}
	return value, nil
}

// entryField returns a field of a directory entry; null if there is no entry. types says that
// entries have types.
func entryField(e ondisk.Entry, f change.Field, types bool) (value change.Value) {
	switch {
	case e.Ino == 0:
	case f == ondisk.FieldInode:
		value = change.Num(uint64(e.Ino))
	case f == ondisk.FieldFileType && types:
		value = ondisk.TypeWord(e.Type)
	}
	return value
}

// Exists reports whether there is an object.
func (v *view) Exists(o change.Object) (bool, error) {
	if !v.fits(o) {
		return false, nil
	}
	switch o.Kind {
	case ondisk.KindInode:
		s, err := v.side(uint32(o.ID))
		return err == nil && s.exists(), err
	case ondisk.KindInodeBit:
		return v.marked(uint32(o.ID))
	case ondisk.KindBlock:
		n, err := v.usedFrom(uint32(o.ID))
		return 0 < o.Sub && o.Sub <= uint64(n), err
	case ondisk.KindOwner, ondisk.KindXattrOwner:
		return v.owns(o)
	case ondisk.KindOrphan:
		return v.orphan(uint32(o.ID)), nil
	case ondisk.KindXattrBlock:
		used, err := v.allocated(uint32(o.ID))
		if err != nil || !used {
			return false, err
		}
		b, err := v.State.Block(uint32(o.ID))
		return err == nil && ondisk.XattrHeadOf(b).Magic() == ondisk.XattrMagic, err
	case ondisk.KindDirent:
		e, err := v.find(uint32(o.ID), v.names.At(o.Sub))
		return e.Ino != 0, err
	}
	return o.Kind == ondisk.KindSuperblock || o.Kind == ondisk.KindGroup, nil
}

func (v *view) owns(o change.Object) (bool, error) {
	if o.Kind == ondisk.KindOwner && o.Sub == 0 {
		return o.Aux == o.ID && v.FixedMeta(uint32(o.ID)), nil
	}
	if o.Sub == 0 || o.Sub > uint64(v.Geo.Inodes) {
		return false, nil
	}
	s, err := v.side(uint32(o.Sub))
	if err != nil {
		return false, err
	}
	if o.Kind == ondisk.KindXattrOwner {
		return uint64(s.acl()) == o.ID, nil
	}
	i := s.mapped(uint32(o.Sub))
	if i == nil || o.Aux>>40 > 3 {
		return false, nil
	}
	block, err := v.mapBlock(i, o.Aux)
	return uint64(block) == o.ID, err
}

var _ change.Forker = (*view)(nil)
