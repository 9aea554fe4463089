package btrfs

import (
	"math"

	"fsward/change"
	"fsward/interp/btrfs/ondisk"
)

// A position is an item that a search found, with the path from the root. The path leads to the
// neighbors of the item, and lets the next search begin near it.
type position struct {
	state *state
	path  [ondisk.MaxLevel]struct {
		n *ondisk.Node
		i int
	}
	depth  int // of the leaf in path
	tree   uint64
	placed bool // path is valid
}

func (p *position) key() ondisk.Key { return p.path[p.depth].n.Key(p.path[p.depth].i) }
func (p *position) item() itemRef   { return itemRef{p.path[p.depth].n, p.path[p.depth].i} }

// seek returns the position of the first item of a tree whose key is not below k. ok is false if
// there is none.
func (s *state) seek(tree uint64, root pointer, k ondisk.Key) (p *position, ok bool, err error) {
	p = &position{state: s, tree: tree}
	if ok, err = p.seek(root, k); err != nil {
		return nil, false, err
	}
	return p, ok, nil
}

// seek moves to the first item whose key is not below k. If there is none, ok is false and the
// position is at the last item. The search starts at the lowest block of the path under which k has
// its place, because successive searches often end in the same leaf. root is the root of the
// position's tree.
func (p *position) seek(root pointer, k ondisk.Key) (ok bool, err error) {
	d := p.above(k)
	p.placed = false
	if d < 0 {
		if p.path[0].n, err = p.state.node(root, false); err != nil {
			return false, err
		}
		d, p.path[0].i = 0, 0
	}
	for {
		at := &p.path[d]
		i, found := at.n.SearchFrom(at.i, k)
		if at.n.Level() > 0 && !found && i > 0 {
			i-- // the child before may hold k
		}
		at.i = i
		if at.n.Level() == 0 {
			break
		}
		n, err := p.state.node(childOf(at.n, i, root.chunkTree), false)
		if err != nil {
			return false, err
		}
		d++
		p.path[d].n, p.path[d].i = n, 0
	}
	p.depth, p.placed = d, true
	at := &p.path[d]
	if at.i < at.n.NrItems() {
		return true, nil
	}
	if at.n.NrItems() == 0 {
		return false, nil
	}
	at.i--
	return p.move(1)
}

// above returns the depth of the lowest block of the path under which k has its place, or −1 if the
// path is not valid.
func (p *position) above(k ondisk.Key) int {
	if !p.placed {
		return -1
	}
	for d := p.depth; d > 0; d-- {
		n, i := p.path[d-1].n, p.path[d-1].i
		if i+1 < n.NrItems() && n.Key(i).Compare(k) <= 0 && k.Compare(n.Key(i+1)) < 0 {
			return d
		}
	}
	return 0
}

// back moves to the last item whose key is not above k, after a seek for k with the result found.
// ok is false if there is no such item.
func (p *position) back(found bool, k ondisk.Key) (ok bool, err error) {
	switch {
	case !found: // all items are below k, and the position is at the last one
		return p.path[p.depth].n.NrItems() > 0, nil
	case p.key() == k:
		return true, nil
	}
	return p.move(-1)
}

// move moves to the next item if by is 1, or to the previous item if by is -1. If there is none, ok
// is false and the position stays.
func (p *position) move(by int) (ok bool, err error) {
	d := p.depth
	for d >= 0 {
		if i := p.path[d].i + by; i >= 0 && i < p.path[d].n.NrItems() {
			break
		}
		d--
	}
	if d < 0 {
		return false, nil
	}
	path := p.path
	path[d].i += by
	for ; d < p.depth; d++ {
		n, err := p.state.node(childOf(path[d].n, path[d].i, p.tree == ondisk.ChunkTreeID), false)
		if err != nil {
			return false, err
		}
		path[d+1].n, path[d+1].i = n, 0
		if by < 0 {
			path[d+1].i = n.NrItems() - 1
		}
		if n.NrItems() == 0 {
			return false, violatedAt(nritemsRule, n.Addr(),
				"block %d: nritems is 0 in a leaf that is not a root", n.Logical())
		}
	}
	p.path = path
	return true, nil
}

// treeRoot finds the root of a tree. ok is false if there is no such tree, if the tree is being
// dropped, or if it belongs to balance.
func (s *state) treeRoot(tree uint64) (root treeRoot, ok bool, err error) {
	switch tree {
	case ondisk.RootTreeID:
		return treeRoot{pointer: s.rootTree()}, true, nil
	case ondisk.ChunkTreeID:
		return treeRoot{pointer: s.chunkRoot()}, true, nil
	case ondisk.TreeLogID:
		return treeRoot{pointer: s.log}, s.log.logical != 0, nil
	case ondisk.TreeRelocID:
		return treeRoot{}, false, nil
	}
	id := treeKey{id: tree}
	if root, ok := s.roots[id]; ok {
		return root, root.logical != 0, nil
	}
	root, err = s.readRoot(tree)
	if err != nil {
		return treeRoot{}, false, err
	}
	s.roots[id] = root
	return root, root.logical != 0, nil
}

// readRoot finds the root of a tree that has a root item. logical is 0 if there is no such tree, or
// if the tree is being dropped.
func (s *state) readRoot(tree uint64) (treeRoot, error) {
	first := ondisk.Key{ObjectID: tree, Type: ondisk.RootItemKey}
	p, ok, err := s.seek(ondisk.RootTreeID, s.rootTree(), first)
	if err != nil || !ok || p.key().ObjectID != tree || p.key().Type != ondisk.RootItemKey {
		return treeRoot{}, err
	}
	item := p.item()
	root, ok := parseRoot(tree, item.data())
	if !ok || root.dead {
		return treeRoot{}, nil
	}
	return root, nil
}

// countRoots returns the number of root items of a tree, counting at most two.
func (s *state) countRoots(tree uint64) (n int, err error) {
	first := ondisk.Key{ObjectID: tree, Type: ondisk.RootItemKey}
	p, ok, err := s.seek(ondisk.RootTreeID, s.rootTree(), first)
	for ok && err == nil && n < 2 {
		if k := p.key(); k.ObjectID != tree || k.Type != ondisk.RootItemKey {
			break
		}
		n++
		ok, err = p.move(1)
	}
	return n, err
}

// A keyBounds is the keys from lo to hi, both included.
type keyBounds struct{ lo, hi ondisk.Key }

// itemKeys returns the keys of the items that can hold an object. It returns two spans for a back
// reference, which is in the item of its extent or in an item of its own. For other objects, the
// second is {}.
func itemKeys(o change.Object) (spans [2]keyBounds) {
	if o.Kind == 0 || o.Kind >= ondisk.KindCount {
		k := ondisk.Key{ObjectID: o.ID}
		return [2]keyBounds{{k, k}}
	}
	k := ondisk.Key{ObjectID: o.ID, Type: ondisk.ItemTypes[o.Kind].Type, Offset: o.Sub}
	switch o.Kind {
	case ondisk.KindInodeExtref:
		return [2]keyBounds{{groupOf(k), lastOfGroup(k)}}
	case ondisk.KindExtentOwnerRef, ondisk.KindTreeBlockRef, ondisk.KindExtentDataRef,
		ondisk.KindSharedBlockRef, ondisk.KindSharedDataRef:
		extent := ondisk.Key{ObjectID: o.ID, Type: ondisk.MetadataItemKey, Offset: math.MaxUint64}
		own := keyBounds{k, k}
		if o.Kind == ondisk.KindExtentDataRef { // see keyedRef
			own.hi.Offset += min(maxHashChain, math.MaxUint64-k.Offset)
		}
		return [2]keyBounds{{groupOf(k), extent}, own}
	}
	return [2]keyBounds{{k, k}}
}
