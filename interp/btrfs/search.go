package btrfs

import (
	"fsward/change"
	"fsward/interp/btrfs/ondisk"
)

// An item that a search found, with the way to it from the root, so that the search can go on to
// its neighbours, and the next search can begin near it.
type position struct {
	state *state
	path  [ondisk.MaxLevel]struct {
		n *ondisk.Node
		i int
	}
	depth  int // of the leaf in path
	tree   uint64
	placed bool // path leads to a leaf
}

func (p *position) key() ondisk.Key { return p.path[p.depth].n.Key(p.path[p.depth].i) }
func (p *position) item() itemRef   { return itemRef{p.path[p.depth].n, p.path[p.depth].i} }

// seek finds the first item of a tree whose key is not below k. ok is false if there is none.
func (s *state) seek(tree uint64, root pointer, k ondisk.Key) (p *position, ok bool, err error) {
	p = &position{state: s, tree: tree}
	if ok, err = p.seek(root, k); err != nil {
		return nil, false, err
	}
	return p, ok, nil
}

// seek moves to the first item whose key is not below k. If there is none, ok is false and the
// position is at the last item. The search goes up from where the position is only as far as k is
// not below there: what is looked up one after the other mostly lies in one leaf. root is that of
// the position's tree.
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
			i-- // the child that begins below k may reach up to it
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

// above returns the depth of the lowest block on the way to the position under which k has its
// place; −1 if the position is nowhere.
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

// back moves from the first item that is not below k, which was found if ok is true, to the last
// that is not above it. ok is false if there is none.
func (p *position) back(found bool, k ondisk.Key) (ok bool, err error) {
	switch {
	case !found: // all are below k, and the position is at the last of them
		return p.path[p.depth].n.NrItems() > 0, nil
	case p.key() == k:
		return true, nil
	}
	return p.move(-1)
}

// move goes to the next item (by 1) or the one before (by -1). If there is none, ok is false and
// the position stays.
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
			return false, violatedAt(nritemsRule, n.Addr(), "block %d: nritems is 0 in a leaf that is not a root", n.Logical())
		}
	}
	p.path = path
	return true, nil
}

// treeRoot finds the root of a tree. ok is false if there is no such tree, or none that counts: one
// that is being dropped, and those that balance makes for itself.
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
	p, ok, err := s.seek(ondisk.RootTreeID, s.rootTree(), ondisk.Key{ObjectID: tree, Type: ondisk.RootItemKey})
	if err != nil {
		return treeRoot{}, false, err
	}
	if ok && p.key().ObjectID == tree && p.key().Type == ondisk.RootItemKey {
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
	p, ok, err := s.seek(ondisk.RootTreeID, s.rootTree(), ondisk.Key{ObjectID: tree, Type: ondisk.RootItemKey})
	for ; ok && err == nil && p.key().ObjectID == tree && p.key().Type == ondisk.RootItemKey && n < 2; n++ {
		ok, err = p.move(1)
	}
	return n, err
}

// keyRange returns the first and last key of the items in which an object can be.
func keyRange(o change.Object) (lo, hi ondisk.Key) {
	if o.Kind == 0 || o.Kind >= ondisk.KindCount {
		return ondisk.Key{ObjectID: o.ID}, ondisk.Key{ObjectID: o.ID}
	}
	k := ondisk.Key{ObjectID: o.ID, Type: ondisk.ItemTypes[o.Kind].Type, Offset: o.Sub}
	switch o.Kind {
	case ondisk.KindInodeExtref:
		return ondisk.Key{ObjectID: o.ID, Type: k.Type}, ondisk.Key{ObjectID: o.ID, Type: k.Type, Offset: ^uint64(0)}
	case ondisk.KindExtentOwnerRef, ondisk.KindTreeBlockRef, ondisk.KindExtentDataRef, ondisk.KindSharedBlockRef, ondisk.KindSharedDataRef:
		return ondisk.Key{ObjectID: o.ID, Type: ondisk.ExtentItemKey}, ondisk.Key{ObjectID: o.ID, Type: ondisk.SharedDataRefKey, Offset: ^uint64(0)}
	}
	return k, k
}
