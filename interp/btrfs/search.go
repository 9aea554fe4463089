package btrfs

import (
	"fsward/change"
)

// An item that a search found, with the way to it from the root, so that the search can go on to its
// neighbours, and the next search can begin near it.
type position struct {
	state *state
	path  [maxLevel]struct {
		n *node
		i int
	}
	depth  int // of the leaf in path
	tree   uint64
	placed bool // path leads to a leaf
}

func (p *position) key() key      { return p.path[p.depth].n.key(p.path[p.depth].i) }
func (p *position) item() itemRef { return itemRef{p.path[p.depth].n, p.path[p.depth].i} }

// seek finds the first item of a tree whose key is not below k. ok is false if there is none.
func (s *state) seek(tree uint64, root pointer, k key) (p *position, ok bool, err error) {
	p = &position{state: s, tree: tree}
	if ok, err = p.seek(root, k); err != nil {
		return nil, false, err
	}
	return p, ok, nil
}

// seek moves to the first item whose key is not below k. If there is none, ok is false and the position is at
// the last item. The search goes up from where the position is only as far as k is not below there: what is
// looked up one after the other mostly lies in one leaf. root is that of the position's tree.
func (p *position) seek(root pointer, k key) (ok bool, err error) {
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
		i, found := at.n.searchFrom(at.i, k)
		if at.n.level() > 0 && !found && i > 0 {
			i-- // the child that begins below k may reach up to it
		}
		at.i = i
		if at.n.level() == 0 {
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
	if at.i < at.n.nritems() {
		return true, nil
	}
	if at.n.nritems() == 0 {
		return false, nil
	}
	at.i--
	return p.move(1)
}

// above returns the depth of the lowest block on the way to the position under which k has its place; −1 if
// the position is nowhere.
func (p *position) above(k key) int {
	if !p.placed {
		return -1
	}
	for d := p.depth; d > 0; d-- {
		n, i := p.path[d-1].n, p.path[d-1].i
		if i+1 < n.nritems() && n.key(i).compare(k) <= 0 && k.compare(n.key(i+1)) < 0 {
			return d
		}
	}
	return 0
}

// back moves from the first item that is not below k, which was found if ok is true, to the last that is not
// above it. ok is false if there is none.
func (p *position) back(found bool, k key) (ok bool, err error) {
	switch {
	case !found: // all are below k, and the position is at the last of them
		return p.path[p.depth].n.nritems() > 0, nil
	case p.key() == k:
		return true, nil
	}
	return p.move(-1)
}

// move goes to the next item (by 1) or the one before (by -1). If there is none, ok is false and the
// position stays.
func (p *position) move(by int) (ok bool, err error) {
	d := p.depth
	for d >= 0 {
		if i := p.path[d].i + by; i >= 0 && i < p.path[d].n.nritems() {
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
		n, err := p.state.node(childOf(path[d].n, path[d].i, p.tree == chunkTreeID), false)
		if err != nil {
			return false, err
		}
		path[d+1].n, path[d+1].i = n, 0
		if by < 0 {
			path[d+1].i = n.nritems() - 1
		}
		if n.nritems() == 0 {
			return false, violatedAt(nritemsRule, n.addr(), "block %d: nritems is 0 in a leaf that is not a root", n.logical())
		}
	}
	p.path = path
	return true, nil
}

// treeRoot finds the root of a tree. ok is false if there is no such tree, or none that counts: one that
// is being dropped, and those that balance makes for itself.
func (s *state) treeRoot(tree uint64) (root treeRoot, ok bool, err error) {
	switch tree {
	case rootTreeID:
		return treeRoot{pointer: s.rootTree()}, true, nil
	case chunkTreeID:
		return treeRoot{pointer: s.chunkRoot()}, true, nil
	case treeLogID:
		return treeRoot{pointer: s.log}, s.log.logical != 0, nil
	case treeRelocID:
		return treeRoot{}, false, nil
	}
	id := treeKey{id: tree}
	if root, ok := s.roots[id]; ok {
		return root, root.logical != 0, nil
	}
	p, ok, err := s.seek(rootTreeID, s.rootTree(), key{tree, rootItemKey, 0})
	if err != nil {
		return treeRoot{}, false, err
	}
	if ok && p.key().objectid == tree && p.key().typ == rootItemKey {
		item := p.item()
		if root, ok = parseRoot(tree, item.data()); !ok || root.dead {
			root = treeRoot{}
		}
	}
	s.roots[id] = root
	return root, root.logical != 0, nil
}

// countRoots returns the number of root items that a tree has.
func (s *state) countRoots(tree uint64) (n int, err error) {
	p, ok, err := s.seek(rootTreeID, s.rootTree(), key{tree, rootItemKey, 0})
	for ; ok && err == nil && p.key().objectid == tree && p.key().typ == rootItemKey && n < 2; n++ {
		ok, err = p.move(1)
	}
	return n, err
}

// keyRange returns the first and last key of the items in which an object can be.
func keyRange(o change.Object) (lo, hi key) {
	if o.Kind == 0 || o.Kind >= kindCount {
		return key{o.ID, 0, 0}, key{o.ID, 0, 0}
	}
	k := key{o.ID, itemTypes[o.Kind].typ, o.Sub}
	switch o.Kind {
	case kindInodeExtref:
		return key{o.ID, k.typ, 0}, key{o.ID, k.typ, ^uint64(0)}
	case kindExtentOwnerRef, kindTreeBlockRef, kindExtentDataRef, kindSharedBlockRef, kindSharedDataRef:
		return key{o.ID, extentItemKey, 0}, key{o.ID, sharedDataRefKey, ^uint64(0)}
	}
	return k, k
}
