package btrfs

import (
	"fsward/change"
)

// An item that a search found, with the way to it from the root, so that the search can go on to its
// neighbours.
type position struct {
	state *state
	path  [maxLevel]struct {
		n *node
		i int
	}
	depth int // of the leaf in path
	tree  uint64
}

func (p *position) key() key      { return p.path[p.depth].n.key(p.path[p.depth].i) }
func (p *position) item() itemRef { return itemRef{p.path[p.depth].n, p.path[p.depth].i} }

// seek finds the first item of a tree whose key is not below k. ok is false if there is none.
func (s *state) seek(tree uint64, root pointer, k key) (p *position, ok bool, err error) {
	p = &position{state: s, tree: tree}
	ptr := root
	for {
		n, err := s.node(ptr, false)
		if err != nil {
			return nil, false, err
		}
		i, found := n.search(k)
		if n.level() > 0 && !found && i > 0 {
			i-- // the child that begins below k may reach up to it
		}
		p.path[p.depth].n, p.path[p.depth].i = n, i
		if n.level() == 0 {
			break
		}
		ptr = childOf(n, i, ptr.chunkTree)
		p.depth++
	}
	if p.path[p.depth].i < p.path[p.depth].n.nritems() {
		return p, true, nil
	}
	if p.path[p.depth].n.nritems() == 0 {
		return p, false, nil
	}
	p.path[p.depth].i--
	ok, err = p.move(1)
	return p, ok, err
}

// seekLast finds the last item of a tree whose key is not above k. ok is false if there is none.
func (s *state) seekLast(tree uint64, root pointer, k key) (p *position, ok bool, err error) {
	p, ok, err = s.seek(tree, root, k)
	switch {
	case err != nil:
		return nil, false, err
	case !ok: // all are below k, and the position is at the last of them
		return p, p.path[p.depth].n.nritems() > 0, nil
	case p.key() == k:
		return p, true, nil
	}
	ok, err = p.move(-1)
	return p, ok, err
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
