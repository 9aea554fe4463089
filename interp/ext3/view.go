package ext3

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"fsward/change"
)

// A view answers the queries of rules from a state. It keeps no more than the state's bounded cache.
type view struct {
	*layout
	state  *state
	names  *change.Names
	orphan func(ino uint32) bool
	owners *ownerView // of a file system that is not held; nil for others
	near   struct {   // where a name was found last
		dir   uint32
		block uint64 // of the directory
	}

	// What was asked last of inodes, since rules ask for several fields of one, and go through the records in order.
	last struct {
		ino uint32 // 0: none
		side
	}
	super []change.Value // fields of the superblock that were asked for; nil until then
}

// Fork returns a View of the same state that keeps blocks of its own.
func (v *view) Fork(names *change.Names) change.View {
	return &view{layout: v.layout, state: v.state.fork(), names: names, orphan: v.orphan, owners: v.owners}
}

var errNoScan = errors.New("ext3: the owners of a block can be queried one by one only, not listed")

// fits tells whether a number of an object is one of a group, inode or block.
func (v *view) fits(o change.Object) bool {
	switch o.Kind {
	case kindSuperblock:
		return o.ID == 0
	case kindGroup:
		return o.ID < uint64(v.geo.groups)
	case kindInode, kindInodeBit, kindDirent, kindOrphan:
		return o.ID >= 1 && o.ID <= uint64(v.geo.inodes)
	default:
		return o.ID <= math.MaxUint32 && v.geo.inRange(uint32(o.ID))
	}
}

func (v *view) side(ino uint32) (s side, err error) {
	if ino == v.last.ino && ino != 0 {
		return v.last.side, nil
	}
	if s.inode, err = v.inode(v.state, ino); err != nil {
		return s, err
	}
	if s.marked, err = v.marked(v.state, ino); err != nil {
		return s, err
	}
	v.last.ino, v.last.side = ino, s
	return s, nil
}

// superField returns a field of the superblock.
func (v *view) superField(f change.Field) (value change.Value, err error) {
	if v.super == nil {
		sb, err := v.state.super()
		if err != nil {
			return value, err
		}
		get := superValue(sb)
		v.super = make([]change.Value, len(schema.Fields))
		for _, f := range schema.Kinds[kindSuperblock].Fields {
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
	case kindSuperblock:
		return v.superField(f)
	case kindGroup:
		desc, err := v.desc(v.state, uint32(o.ID))
		if err != nil {
			return value, err
		}
		return v.groupValue(uint32(o.ID), desc)(f), nil
	case kindInode:
		s, err := v.side(uint32(o.ID))
		if err != nil || !s.exists() {
			return value, err
		}
		if f == fieldEnd {
			i := s.mapped(uint32(o.ID))
			if i == nil {
				return change.Num(0), nil
			}
			n, ok, err := v.end(v.state, i)
			if err != nil || !ok {
				return value, err
			}
			return change.Num(n), nil
		}
		return v.inodeValue(uint32(o.ID), s.inode, s.marked, f), nil
	case kindDirent:
		e, err := v.find(uint32(o.ID), v.names.At(o.Sub))
		switch {
		case err != nil || e.ino == 0:
			return value, err
		case f == fieldInode:
			return change.Num(uint64(e.ino)), nil
		case f == fieldFileType && v.geo.fileType:
			return typeWord(e.typ), nil
		}
		return value, nil
	}
	ok, err := v.Exists(o)
	if err != nil || !ok {
		return value, err
	}
	switch {
	case o.Kind == kindInodeBit && f == fieldInodeGroup:
		return change.Num((o.ID - 1) / uint64(v.geo.inodesPerGroup)), nil
	case o.Kind == kindBlock && f == fieldGroup:
		return change.Num(uint64(v.geo.groupOf(uint32(o.ID)))), nil
	case o.Kind == kindXattrBlock && f == fieldRefcount:
		b, err := v.state.block(uint32(o.ID))
		if err != nil {
			return value, err
		}
		return change.Num(uint64(le32(b, xattrRefcount))), nil
	}
	return value, nil
}

// Exists tells whether there is an object.
func (v *view) Exists(o change.Object) (bool, error) {
	if !v.fits(o) {
		return false, nil
	}
	switch o.Kind {
	case kindInode:
		s, err := v.side(uint32(o.ID))
		return err == nil && s.exists(), err
	case kindInodeBit:
		return v.marked(v.state, uint32(o.ID))
	case kindBlock:
		return v.allocated(v.state, uint32(o.ID))
	case kindOwner, kindXattrOwner:
		return v.owns(o)
	case kindOrphan:
		return v.orphan(uint32(o.ID)), nil
	case kindXattrBlock:
		used, err := v.allocated(v.state, uint32(o.ID))
		if err != nil || !used {
			return false, err
		}
		b, err := v.state.block(uint32(o.ID))
		return err == nil && le32(b, 0) == xattrMagic, err
	case kindDirent:
		e, err := v.find(uint32(o.ID), v.names.At(o.Sub))
		return e.ino != 0, err
	}
	return o.Kind == kindSuperblock || o.Kind == kindGroup, nil
}

func (v *view) owns(o change.Object) (bool, error) {
	if o.Kind == kindOwner && o.Sub == 0 {
		return v.fixedMeta(uint32(o.ID)), nil
	}
	if o.Sub == 0 || o.Sub > uint64(v.geo.inodes) {
		return false, nil
	}
	s, err := v.side(uint32(o.Sub))
	if err != nil {
		return false, err
	}
	if o.Kind == kindXattrOwner {
		return uint64(s.acl()) == o.ID, nil
	}
	i := s.mapped(uint32(o.Sub))
	if i == nil || o.Aux>>40 > 3 {
		return false, nil
	}
	block, err := v.mapBlock(v.state, i, o.Aux)
	return uint64(block) == o.ID, err
}

// each calls visit for the entries of a directory.
func (v *view) each(dir uint32, visit func(entry)) error {
	s, err := v.side(dir)
	if err != nil || s.mapped(dir) == nil {
		return err
	}
	for n := range s.inode.dirBlocks(v.geo.blockSize) {
		if err := v.eachIn(s.inode, n, visit); err != nil {
			return err
		}
	}
	return nil
}

// eachIn calls visit for the entries in a block of a directory.
func (v *view) eachIn(dir inode, n uint64, visit func(entry)) error {
	block, err := v.mapBlock(v.state, dir, n)
	if err != nil || block == 0 || !v.geo.inRange(block) {
		return err
	}
	b, err := v.state.block(block)
	if err == nil {
		entries(b, v.geo.fileType, visit)
	}
	return err
}

// find looks a name up in a directory. Names are asked for about as they stand there: it goes away, in both directions,
// from where the last one was found. The index of a directory is not relied upon.
func (v *view) find(dir uint32, name string) (found entry, err error) {
	s, err := v.side(dir)
	if err != nil || s.mapped(dir) == nil {
		return found, err
	}
	dots := name == "." || name == ".."
	blocks, from := s.inode.dirBlocks(v.geo.blockSize), uint64(0)
	if dir == v.near.dir && !dots {
		from = min(v.near.block, blocks)
	}
	look := func(n uint64) (bool, error) {
		err := v.eachIn(s.inode, n, func(e entry) {
			if found.ino == 0 && string(e.name) == name {
				found = e
			}
		})
		if found.ino != 0 && !dots {
			v.near.dir, v.near.block = dir, n
		}
		return err != nil || found.ino != 0, err
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
		case kindOwner, kindXattrOwner:
			v.scanOwners(lo, hi, by, yield)
			return
		case kindDirent:
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

// from returns o, or the next object in a direction.
func (v *view) from(o change.Object, by int) (change.Object, bool, error) {
	o.Sub, o.Aux = 0, 0
	if ok, err := v.Exists(o); ok || err != nil {
		return o, ok, err
	}
	return v.step(o, by)
}

// lastID is the greatest number that an object of a kind can have.
func (v *view) lastID(k change.Kind) uint64 {
	switch k {
	case kindSuperblock:
		return 0
	case kindGroup:
		return uint64(v.geo.groups) - 1
	case kindInode, kindInodeBit, kindDirent, kindOrphan:
		return uint64(v.geo.inodes)
	default:
		return uint64(v.geo.blocks) - 1
	}
}

// Next returns the next object of o's kind; in a directory, the entry whose name was met next.
func (v *view) Next(o change.Object) (change.Object, bool, error) { return v.step(o, 1) }

// Previous returns the object of o's kind before it.
func (v *view) Previous(o change.Object) (change.Object, bool, error) { return v.step(o, -1) }

// maxGap bounds the numbers that are gone through from one object to the next: inodes or blocks that are
// not in use.
const maxGap = 1 << 20

var errGap = fmt.Errorf("ext3: more than %d numbers without an object; a narrower range is needed", maxGap)

func (v *view) step(o change.Object, by int) (change.Object, bool, error) {
	switch o.Kind {
	case kindOwner, kindXattrOwner:
		return change.Object{}, false, errNoScan
	case kindDirent:
		return v.stepEntry(o, by)
	}
	n := change.Object{Kind: o.Kind, ID: o.ID + uint64(by)}
	if o.ID == 0 && by < 0 {
		return n, false, nil
	}
	if by > 0 && !v.fits(n) && o.ID == 0 { // inodes and blocks can begin with 1
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

// entryHandles returns the handles of the names in a directory, sorted.
func (v *view) entryHandles(dir uint64) (handles []uint64, err error) {
	err = v.each(uint32(dir), func(e entry) { handles = append(handles, v.names.Handle(e.name)) })
	slices.Sort(handles)
	return slices.Compact(handles), err // a damaged directory can have a name twice
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
		if lo.Sub <= h && h <= hi.Sub && !yield(change.Object{Kind: kindDirent, ID: lo.ID, Sub: h}, nil) {
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
	return change.Object{Kind: kindDirent, ID: o.ID, Sub: handles[i]}, true, nil
}

var _ change.Forker = (*view)(nil)
