package btrfs

import (
	"slices"

	"fsward/change"
	"fsward/interp/btrfs/ondisk"
)

// maxGroup bounds the objects that a View holds to answer one question: the names of an inode, of
// which the kernel allows 65,535 (BTRFS_LINK_MAX), or the references to an extent.
const maxGroup = 1 << 21

// A view answers questions about one state by searching its trees.
type view struct {
	state *state
	dec   decoder // of the item that a walk has reached; collects objects without fields
	named decoder // of the item with a name that is looked for; collects objects without fields
	// caches has the last objects of each kind. Rules ask for several fields of one object, and for
	// several names of one inode, with questions about other kinds in between. Without caches, an
	// inode with thousands of names would be decoded for each question.
	caches  [ondisk.KindCount]*cachedObjects
	filters *nameFilters
	emptied uint64           // the value of Names.Emptied when the caches were filled
	meter   change.WorkMeter // of the judgment
	tree    uint64           // of root; 0: root is unset
	root    treeRoot
}

// cachedObjects are the sorted objects in some items of a tree, with all fields that look-ups have
// asked for so far.
type cachedObjects struct {
	valid     bool
	requested fieldSet
	tree      uint64
	keys      [2]keyBounds
	dec       decoder
	near      position // the end of the last search for objects of the kind
}

var (
	_ change.Forker = (*view)(nil)
	_ change.Walker = (*view)(nil)
	_ change.Namer  = (*view)(nil)
)

// newView returns a view of a state. It has its own cache of recent nodes. What it reads is charged
// to work.
func newView(s *state, names *change.Names, work *change.Work) *view {
	s = withRecent(s)
	s.work = work
	return &view{state: s, dec: newDecoder(s, names, &fieldSet{}),
		named: newDecoder(s, names, &fieldSet{}), filters: newNameFilters(), emptied: names.Emptied(),
		meter: change.NewWorkMeter(work)}
}

// Fork returns a view of the same state for another goroutine.
func (v *view) Fork(names *change.Names) change.View {
	s := *v.state
	s.roots = make(map[treeKey]treeRoot)
	return newView(&s, names, s.work)
}

// newDecoder returns a decoder for the View: it collects the fields in only, view-only ones too.
func newDecoder(s *state, names *change.Names, only *fieldSet) decoder {
	return decoder{
		ctx:           s.itemContext(),
		objectBuilder: objectBuilder{all: true, only: only, names: names},
	}
}

// itemContext returns the context for the checks of the state's items.
func (s *state) itemContext() itemContext {
	generation := s.sb.Generation()
	if s.log.logical != 0 {
		generation++ // the log belongs to the running transaction
	}
	return itemContext{
		sectorSize: s.sb.SectorSize(), nodeSize: s.sb.NodeSize(), generation: generation,
		incompat: s.sb.Incompat(), csum: s.sb.CsumType(), fsid: s.sb.MetadataUUID(),
		rewritten: inRewrite(s.sb), devs: s.devs, chunks: s.chunks, where: s.chunks,
	}
}

// Get returns the value of a field of an object.
func (v *view) Get(o change.Object, f change.Field) (change.Value, bool, error) {
	if f == change.FieldObject {
		ok, err := v.Exists(o)
		return change.Present, ok && err == nil, err
	}
	h, e, ok, err := v.lookup(o, []change.Field{f})
	if !ok || err != nil {
		return change.Value{}, false, err
	}
	value := valueOf(h.dec.vals[e.from:e.to], f)
	return value, !value.IsNull(), nil
}

// Values reads several fields of an object. A field that the object does not have gets the null
// value.
func (v *view) Values(o change.Object, fields []change.Field, values []change.Value) error {
	clear(values)
	h, e, ok, err := v.lookup(o, fields)
	if !ok || err != nil {
		return err
	}
	for i, f := range fields {
		values[i] = valueOf(h.dec.vals[e.from:e.to], f)
	}
	return nil
}

// Exists reports whether there is such an object.
func (v *view) Exists(o change.Object) (bool, error) {
	_, _, ok, err := v.lookup(o, nil)
	return ok, err
}

// lookup finds an object, with the given fields, in the items that can hold it. The result is valid
// until the next look-up of the same kind.
func (v *view) lookup(
	o change.Object, fields []change.Field,
) (h *cachedObjects, e entity, ok bool, err error) {
	if o.Kind >= ondisk.KindCount {
		return nil, entity{}, false, nil
	}
	if h, err = v.objectsFor(o, fields); err != nil {
		return nil, entity{}, false, err
	}
	if ents := h.dec.ents; len(ents) == 1 { // the usual case
		return h, ents[0], ents[0].obj == o, nil
	}
	i, ok := slices.BinarySearchFunc(h.dec.ents, o, entity.compareObject)
	if !ok {
		return nil, entity{}, false, nil
	}
	return h, h.dec.ents[i], true, nil
}

// objectsFor returns the objects in the items that can hold o, with the given fields. The kind of o
// must be known or 0.
func (v *view) objectsFor(o change.Object, fields []change.Field) (*cachedObjects, error) {
	if n := v.dec.names.Emptied(); n != v.emptied {
		v.emptied = n
		for _, h := range v.caches {
			if h != nil {
				h.valid = false
			}
		}
	}
	h := v.cacheOf(o.Kind)
	for _, f := range fields {
		if !h.requested.has(f) {
			h.requested.add(f)
			h.valid = false
		}
	}
	if keys := itemKeys(o); !h.valid || h.tree != o.Tree || h.keys != keys {
		h.valid = false
		decode := func() error { return v.decodeItems(h, o.Tree, keys) }
		if o.Tree == blockTree {
			decode = func() error { return v.decodeBlockObject(h, o) }
		}
		if err := decode(); err != nil {
			return nil, err
		}
		h.valid, h.tree, h.keys = true, o.Tree, keys
	}
	return h, nil
}

// cacheOf returns the cache for a kind. Unknown kinds share one.
func (v *view) cacheOf(k change.Kind) *cachedObjects {
	if k >= ondisk.KindCount {
		k = 0
	}
	if v.caches[k] == nil {
		h := &cachedObjects{}
		h.dec = newDecoder(v.state, v.dec.names, &h.requested)
		v.caches[k] = h
	}
	return v.caches[k]
}

// treeRoot is state.treeRoot with a cache for the last tree, since most questions are about it.
func (v *view) treeRoot(tree uint64) (root treeRoot, ok bool, err error) {
	if v.tree != 0 && v.tree == tree {
		return v.root, true, nil
	}
	root, ok, err = v.state.treeRoot(tree)
	if ok && err == nil {
		v.tree, v.root = tree, root
	}
	return root, ok, err
}

// start returns a position in a tree from which a search for objects of a kind can begin.
func (v *view) start(k change.Kind, tree uint64) position {
	if p := &v.cacheOf(k).near; p.placed && p.tree == tree {
		return *p
	}
	return position{state: v.state, tree: tree}
}

// seek finds the first item of a tree whose key is not below k, in a search for objects of a kind.
func (v *view) seek(
	kind change.Kind, tree uint64, root pointer, k ondisk.Key,
) (p position, ok bool, err error) {
	p = v.start(kind, tree)
	ok, err = p.seek(root, k)
	v.cacheOf(kind).near = p
	return p, ok, err
}

// decodeItems decodes the items with the given keys.
func (v *view) decodeItems(h *cachedObjects, tree uint64, keys [2]keyBounds) error {
	h.dec.reset()
	h.dec.tree = tree
	if tree == ondisk.SuperObject.Tree {
		err := h.dec.superBlock(v.state.sb)
		if v.state.logOf != 0 {
			h.dec.num(ondisk.FieldLogOf, v.state.logOf)
		}
		return err
	}
	root, ok, err := v.treeRoot(tree)
	if !ok || err != nil {
		return err
	}
	p := &h.near
	if p.tree != tree || !p.placed {
		*p = position{state: v.state, tree: tree}
	}
	if err := h.decodeSpan(root.pointer, keys[0]); err != nil {
		return err
	}
	if keys[1] != (keyBounds{}) {
		if err := h.decodeSpan(root.pointer, keys[1]); err != nil {
			return err
		}
	}
	slices.SortFunc(h.dec.ents, func(a, b entity) int { return a.obj.Compare(b.obj) })
	return v.meter.Spend(int64(len(h.dec.ents)))
}

// decodeSpan decodes the items whose keys lie in a span, and leaves h.near near them.
func (h *cachedObjects) decodeSpan(root pointer, keys keyBounds) error {
	p := &h.near
	ok, err := p.seek(root, keys.lo)
	for ; ok && err == nil && p.key().Compare(keys.hi) <= 0; ok, err = p.move(1) {
		item := p.item()
		if err := h.dec.ref(&item); err != nil {
			return err
		}
		if keys.lo == keys.hi {
			break
		}
		if len(h.dec.ents) > maxGroup {
			return &budgetError{"objects under one key", maxGroup}
		}
	}
	return err
}

// decode decodes the item at a position into v.dec. The objects are in the order of the item.
func (v *view) decode(p *position) error {
	v.dec.reset()
	v.dec.tree = p.tree
	item := p.item()
	return v.dec.ref(&item)
}
