package ext3

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"fsward/change"
	"fsward/interp/ext3/ondisk"
)

// A view answers the queries of rules from a state. It keeps no more than the bounded cache of the
// state.
type view struct {
	Snapshot
	names  *change.Names
	orphan func(ino uint32) bool
	owners *ownerView // of a file system whose records are not kept; nil: of others
	near   struct {   // where the last name was found
		dir   uint32
		block uint64 // of the directory
	}

	// The inode that was read last: rules ask for several fields of one inode, and go through the
	// records in order.
	last struct {
		ino uint32 // 0: none
		side
	}
	super []change.Value // fields of the superblock; nil: not read yet
}

// Fork returns a View of the same state with a cache of its own.
func (v *view) Fork(names *change.Names) change.View {
	return &view{Snapshot: Snapshot{v.Layout, v.State.fork()}, names: names, orphan: v.orphan, owners: v.owners}
}

var errNoScan = errors.New("ext3: the owners of a block can be queried one by one only, not listed")

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
	if ino == v.last.ino && ino != 0 {
		return v.last.side, nil
	}
	if s.inode, err = v.Inode(ino); err != nil {
		return s, err
	}
	if s.marked, err = v.marked(ino); err != nil {
		return s, err
	}
	v.last.ino, v.last.side = ino, s
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
		e, err := v.find(uint32(o.ID), v.names.At(o.Sub))
		switch {
		case err != nil || e.Ino == 0:
			return value, err
		case f == ondisk.FieldInode:
			return change.Num(uint64(e.Ino)), nil
		case f == ondisk.FieldFileType && v.Geo.FileType:
			return ondisk.TypeWord(e.Type), nil
		}
		return value, nil
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
	case o.Kind == ondisk.KindXattrBlock && f == ondisk.FieldRefcount:
		b, err := v.State.Block(uint32(o.ID))
		if err != nil {
			return value, err
		}
		return change.Num(uint64(ondisk.XattrHeadOf(b).Refcount())), nil
	}
	return value, nil
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
		return v.allocated(uint32(o.ID))
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
		return v.FixedMeta(uint32(o.ID)), nil
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

// each calls visit for the entries of a directory.
func (v *view) each(dir uint32, visit func(ondisk.Entry)) error {
	s, err := v.side(dir)
	if err != nil || s.mapped(dir) == nil {
		return err
	}
	for n := range s.inode.DirBlocks(v.Geo.BlockSize) {
		if err := v.eachIn(s.inode, n, visit); err != nil {
			return err
		}
	}
	return nil
}

// eachIn calls visit for the entries in a block of a directory.
func (v *view) eachIn(dir ondisk.Inode, n uint64, visit func(ondisk.Entry)) error {
	block, err := v.mapBlock(dir, n)
	if err != nil || block == 0 || !v.Geo.InRange(block) {
		return err
	}
	b, err := v.State.Block(block)
	if err == nil {
		ondisk.Entries(b, v.Geo.FileType, visit)
	}
	return err
}

// find looks a name up in a directory. Rules ask for names roughly in the order in which they stand
// there, so find searches from the place of the last name outward, in both directions. It does not
// rely on the index of the directory.
func (v *view) find(dir uint32, name string) (found ondisk.Entry, err error) {
	s, err := v.side(dir)
	if err != nil || s.mapped(dir) == nil {
		return found, err
	}
	dots := name == "." || name == ".."
	blocks, from := s.inode.DirBlocks(v.Geo.BlockSize), uint64(0)
	if dir == v.near.dir && !dots {
		from = min(v.near.block, blocks)
	}
	look := func(n uint64) (bool, error) {
		err := v.eachIn(s.inode, n, func(e ondisk.Entry) {
			if found.Ino == 0 && string(e.Name) == name {
				found = e
			}
		})
		if found.Ino != 0 && !dots {
			v.near.dir, v.near.block = dir, n
		}
		return err != nil || found.Ino != 0, err
	}
	for away := uint64(0); away <= from || from+away < blocks; away++ {
		if from+away < blocks {
			if end, err := look(from + away); end {
				return found, err
			}
		}
		if away > 0 && away <= from {
			if end, err := look(from - away); end {
				return found, err
			}
		}
	}
	return found, nil
}

// Scan yields the objects of one kind from lo to hi.
func (v *view) Scan(lo, hi change.Object) iter.Seq2[change.Object, error] { return v.scan(lo, hi, 1) }

// ScanDown yields the objects of one kind from hi to lo.
func (v *view) ScanDown(lo, hi change.Object) iter.Seq2[change.Object, error] {
	return v.scan(lo, hi, -1)
}

func (v *view) scan(lo, hi change.Object, by int) iter.Seq2[change.Object, error] {
	return func(yield func(change.Object, error) bool) {
		switch lo.Kind {
		case ondisk.KindOwner, ondisk.KindXattrOwner:
			v.scanOwners(lo, hi, by, yield)
			return
		case ondisk.KindDirent:
			if err := v.scanEntries(lo, hi, by, yield); err != nil {
				yield(change.Object{}, err)
			}
			return
		}
		at, end := lo, hi
		if by < 0 {
			at, end = hi, lo
			at.ID = min(at.ID, v.lastID(at.Kind))
		}
		for o, ok, err := v.from(at, by); ok || err != nil; o, ok, err = v.step(o, by) {
			if err != nil {
				yield(change.Object{}, err)
				return
			}
			if by*o.Compare(end) > 0 || !yield(o, nil) {
				return
			}
		}
	}
}

// scanOwners yields the owners of one block.
func (v *view) scanOwners(lo, hi change.Object, by int, yield func(change.Object, error) bool) {
	if v.owners == nil || lo.ID != hi.ID {
		yield(change.Object{}, errNoScan)
		return
	}
	owners, err := v.owners.of(lo.Kind, lo.ID)
	if err != nil {
		yield(change.Object{}, err)
		return
	}
	if by < 0 {
		owners = slices.Clone(owners)
		slices.Reverse(owners)
	}
	for _, o := range owners {
		if o.Compare(lo) >= 0 && o.Compare(hi) <= 0 && !yield(o, nil) {
			return
		}
	}
}

// from returns o if it exists, else the next object in a direction.
func (v *view) from(o change.Object, by int) (change.Object, bool, error) {
	o.Sub, o.Aux = 0, 0
	if ok, err := v.Exists(o); ok || err != nil {
		return o, ok, err
	}
	return v.step(o, by)
}

// lastID returns the greatest number that an object of a kind can have.
func (v *view) lastID(k change.Kind) uint64 {
	switch k {
	case ondisk.KindSuperblock:
		return 0
	case ondisk.KindGroup:
		return uint64(v.Geo.Groups) - 1
	case ondisk.KindInode, ondisk.KindInodeBit, ondisk.KindDirent, ondisk.KindOrphan:
		return uint64(v.Geo.Inodes)
	default:
		return uint64(v.Geo.Blocks) - 1
	}
}

// Next returns the next object of o's kind. Entries of a directory are in the order of their
// handles.
func (v *view) Next(o change.Object) (change.Object, bool, error) { return v.step(o, 1) }

// Previous returns the object of o's kind before it.
func (v *view) Previous(o change.Object) (change.Object, bool, error) { return v.step(o, -1) }

// maxGap bounds the unused numbers of inodes or blocks between one object and the next.
const maxGap = 1 << 20

var errGap = fmt.Errorf("ext3: more than %d numbers without an object; a narrower range is needed", maxGap)

func (v *view) step(o change.Object, by int) (change.Object, bool, error) {
	switch o.Kind {
	case ondisk.KindOwner, ondisk.KindXattrOwner:
		return change.Object{}, false, errNoScan
	case ondisk.KindDirent:
		return v.stepEntry(o, by)
	}
	n := change.Object{Kind: o.Kind, ID: o.ID + uint64(by)}
	if o.ID == 0 && by < 0 {
		return n, false, nil
	}
	if by > 0 && !v.fits(n) && o.ID == 0 { // the numbers of inodes and blocks can begin with 1
		n.ID++
	}
	for gap := 0; v.fits(n); n.ID += uint64(by) {
		if ok, err := v.Exists(n); ok || err != nil {
			return n, ok, err
		}
		if gap++; gap > maxGap {
			return n, false, errGap
		}
	}
	return change.Object{}, false, nil
}

// entryHandles returns the handles of the names in a directory in ascending order.
func (v *view) entryHandles(dir uint64) (handles []uint64, err error) {
	err = v.each(uint32(dir), func(e ondisk.Entry) { handles = append(handles, v.names.Handle(e.Name)) })
	slices.Sort(handles)
	return slices.Compact(handles), err // a damaged directory can hold a name twice
}

// scanEntries yields the entries of one directory.
func (v *view) scanEntries(lo, hi change.Object, by int, yield func(change.Object, error) bool) error {
	if !v.fits(lo) || lo.ID != hi.ID {
		return nil
	}
	handles, err := v.entryHandles(lo.ID)
	if err != nil {
		return err
	}
	if by < 0 {
		slices.Reverse(handles)
	}
	for _, h := range handles {
		if lo.Sub <= h && h <= hi.Sub && !yield(change.Object{Kind: ondisk.KindDirent, ID: lo.ID, Sub: h}, nil) {
			return nil
		}
	}
	return nil
}

// stepEntry orders the entries of one directory by the handles of their names.
func (v *view) stepEntry(o change.Object, by int) (change.Object, bool, error) {
	if !v.fits(o) {
		return change.Object{}, false, nil
	}
	handles, err := v.entryHandles(o.ID)
	if err != nil {
		return change.Object{}, false, err
	}
	i, found := slices.BinarySearch(handles, o.Sub)
	switch {
	case by < 0:
		i--
	case found:
		i++
	}
	if i < 0 || i >= len(handles) {
		return change.Object{}, false, nil
	}
	return change.Object{Kind: ondisk.KindDirent, ID: o.ID, Sub: handles[i]}, true, nil
}

var _ change.Forker = (*view)(nil)
