package btrfs

import (
	"errors"
	"fmt"
	"slices"

	"fsward/change"
	"fsward/interp"
)

// A diff compares two states of a file system, reading only what the newer one does not share with the
// older. Every block of a generation above the base is new; a pointer of an older generation is shared
// if the older tree has it too, and is followed as new if it has not (a snapshot, or a stray pointer).
type diff struct {
	old, new *state // old is nil if there is nothing to compare with: everything is new
	budget   *budget
	out      *recorder
	faults   []change.Violation
	unknown  error // why the result is not complete
}

// fault notes an error of the new state and tells whether to go on.
func (d *diff) fault(err error) {
	if e, ok := errors.AsType[*structureError](err); ok {
		if len(d.faults) < maxFaults {
			d.faults = append(d.faults, e.v)
		}
		return
	}
	if d.unknown == nil {
		d.unknown = err
	}
}

// failed tells whether no records can be trusted.
func (d *diff) failed() bool { return len(d.faults) > 0 || d.unknown != nil }

// A span is a subtree with the keys that its parent gives it: from first on and below end.
type span struct {
	pointer
	first    key
	hasFirst bool // false for a root: it has no parent that names its first key
	end      key
	hasEnd   bool
	shared   bool // of the base: not read until it is known that the old tree does not have it
	met      bool // the old tree has it
}

// A treeDiff is the comparison of one tree.
type treeDiff struct {
	*diff
	tree   uint64
	quiet  bool // structure alone
	seen   map[uint64]bool
	shared map[uint64]int // logical address → index in spans
	spans  []span         // leaves that are new, and shared subtrees, in the order of keys
	olds   []pointer      // leaves of the old tree that the new one does not share
}

// newTree compares two versions of a tree, either of which may be missing, and returns the leaves that
// only one of them has.
func (d *diff) newTree(tree uint64, oldRoot, newRoot *pointer, quiet bool) *treeDiff {
	t := &treeDiff{diff: d, tree: tree, quiet: quiet, seen: make(map[uint64]bool), shared: make(map[uint64]int)}
	if newRoot != nil {
		t.walkNew(span{pointer: *newRoot})
	}
	if oldRoot != nil {
		t.walkOld(span{pointer: *oldRoot})
	}
	if !quiet {
		t.expandStrays()
	}
	return t
}

func (t *treeDiff) baseGeneration() uint64 {
	if t.old == nil {
		return 0
	}
	return t.old.sb.generation()
}

// walkNew goes down the new tree as far as it is new.
func (t *treeDiff) walkNew(s span) {
	if t.failedHard() {
		return
	}
	if t.seen[s.logical] {
		t.fault(violated(twiceRule, "block %d is reached twice in tree %s", s.logical, change.NumText(t.tree)))
		return
	}
	t.seen[s.logical] = true
	if s.generation > t.new.sb.generation() {
		t.fault(violated(generationRule, "block %d of tree %s: its parent says generation %d, the superblock's is %d",
			s.logical, change.NumText(t.tree), s.generation, t.new.sb.generation()))
		return
	}
	if s.generation <= t.baseGeneration() {
		t.shared[s.logical] = len(t.spans)
		s.shared = true
		t.spans = append(t.spans, s)
		return
	}
	n := t.checked(s, true)
	if n == nil {
		return
	}
	t.checkOwner(n)
	t.descend(n, s, t.walkNew)
}

// descend visits the children of a node, or notes a leaf.
func (t *treeDiff) descend(n *node, s span, visit func(span)) {
	if n.level() == 0 {
		t.spans = append(t.spans, s)
		return
	}
	for i := range n.nritems() {
		visit(childSpan(n, s, i))
	}
}

func childSpan(n *node, s span, i int) span {
	c := span{pointer: childOf(n, i, s.chunkTree), first: n.key(i), hasFirst: true, end: s.end, hasEnd: s.hasEnd}
	if i+1 < n.nritems() {
		c.end, c.hasEnd = n.key(i+1), true
	}
	return c
}

// checked reads a block of the new state and holds its keys against its place in the tree. It returns
// nil after a fault.
func (t *treeDiff) checked(s span, all bool) *node {
	if err := t.budget.node(); err != nil {
		t.fault(err)
		return nil
	}
	n, err := t.new.node(s.pointer, all)
	if err != nil {
		if e, ok := errors.AsType[*structureError](err); ok {
			e.v.Tree = change.NumText(t.tree)
		}
		t.fault(err)
		return nil
	}
	if err := t.checkSpan(n, s); err != nil {
		t.fault(err)
		return nil
	}
	return n
}

// checkSpan holds the first and the last key of a block against what its parent says.
func (t *treeDiff) checkSpan(n *node, s span) error {
	count := n.nritems()
	if count == 0 {
		if s.hasFirst {
			return violatedAt(nritemsRule, n.addr(), "block %d: nritems is 0 in a leaf that is not a root", n.logical())
		}
		return nil
	}
	if s.hasFirst && n.key(0) != s.first {
		return violatedAt(parentKeyRule, n.addr(), "block %d: its first key is %s, its parent says %s", n.logical(), keyText(n.key(0)), keyText(s.first)).in(t.tree, s.first)
	}
	if last := n.key(count - 1); s.hasEnd && last.compare(s.end) >= 0 {
		return violatedAt(keyOrderRule, n.addr(), "block %d: its last key is %s, the next block begins with %s", n.logical(), keyText(last), keyText(s.end)).in(t.tree, last)
	}
	return nil
}

// checkOwner holds the owner in a new block against the tree. A snapshot taken in this transaction
// shares new blocks of its source, and balance puts blocks of its own into the trees it works on.
func (t *treeDiff) checkOwner(n *node) {
	owner := n.owner()
	if owner == t.tree || fileTree(t.tree) && fileTree(owner) || n.flags()&headerFlagReloc != 0 ||
		owner == treeRelocID && (classOf(t.tree) == inFile) || t.tree == treeRelocID && fileTree(owner) {
		return
	}
	t.fault(violatedAt(ownerRule, n.addr(), "block %d: owner is %s in tree %s", n.logical(), change.NumText(owner), change.NumText(t.tree)))
}

// walkOld goes down the old tree as far as it is not shared.
func (t *treeDiff) walkOld(s span) {
	if t.failedHard() {
		return
	}
	if i, ok := t.shared[s.logical]; ok && t.spans[i].generation == s.generation && t.spans[i].level == s.level {
		t.meet(&t.spans[i], s)
		return
	}
	if err := t.budget.node(); err != nil {
		t.fault(err)
		return
	}
	n, err := t.old.node(s.pointer, false)
	if err != nil {
		if e, ok := errors.AsType[*structureError](err); ok {
			err = violatedAt(baseRule, e.v.Addr, "tree %s of generation %d: %s", change.NumText(t.tree), t.old.sb.generation(), e.Error())
		}
		t.fault(err)
		return
	}
	if n.level() == 0 {
		t.olds = append(t.olds, s.pointer)
		return
	}
	for i := range n.nritems() {
		t.walkOld(childSpan(n, s, i))
	}
}

// meet notes that both trees have a subtree. Its own keys are as they were; if it stands in another
// place now, they have to fit there.
func (t *treeDiff) meet(now *span, was span) {
	now.met = true
	if now.hasFirst && (!was.hasFirst || now.first != was.first) {
		t.checked(*now, false)
	}
	if now.hasEnd && (!was.hasEnd || now.end.compare(was.end) < 0) {
		t.checkLast(*now)
	}
}

// checkLast goes down the right edge of a shared subtree to its last key.
func (t *treeDiff) checkLast(s span) {
	for {
		n := t.checked(s, false)
		if n == nil || n.level() == 0 || n.nritems() == 0 {
			return
		}
		s = childSpan(n, s, n.nritems()-1)
	}
}

// expandStrays replaces each shared subtree that the old tree does not have by its leaves, and drops
// the others.
func (t *treeDiff) expandStrays() {
	spans := t.spans
	t.spans = make([]span, 0, len(spans))
	for _, s := range spans {
		switch {
		case !s.shared:
			t.spans = append(t.spans, s)
		case !s.met:
			delete(t.seen, s.logical)
			t.walkStray(s)
		}
	}
}

func (t *treeDiff) walkStray(s span) {
	if t.failedHard() {
		return
	}
	if t.seen[s.logical] {
		t.fault(violated(twiceRule, "block %d is reached twice in tree %s", s.logical, change.NumText(t.tree)))
		return
	}
	t.seen[s.logical] = true
	if n := t.checked(s, false); n != nil {
		s.shared = false
		t.descend(n, s, t.walkStray)
	}
}

// failedHard tells whether going on would find nothing more that is worth reporting.
func (d *diff) failedHard() bool { return d.unknown != nil || len(d.faults) >= maxFaults }

// run compares the two states: the chunk tree first, which says where everything lies, then the root
// tree, then each tree whose root item changed. Records come in the order of trees.
func (d *diff) run() {
	if err := d.readChunks(); err != nil {
		d.fault(err)
	}
	if d.failed() {
		return
	}
	var oldSuper *superblock
	if d.old != nil {
		oldSuper = &d.old.sb
	}
	if err := d.out.super(oldSuper, &d.new.sb); err != nil {
		d.fault(err)
	}
	roots := make(map[treeKey]*rootChange)
	d.diffRoots(roots)
	if d.failed() {
		return // which trees there are is not known
	}
	keys := make([]treeKey, 0, len(roots)+1)
	for k := range roots {
		keys = append(keys, k)
	}
	keys = append(keys, treeKey{id: chunkTreeID})
	slices.SortFunc(keys, func(a, b treeKey) int {
		if a == b {
			return 0
		}
		return order(a.id < b.id || a.id == b.id && a.offset < b.offset)
	})
	for _, k := range keys {
		if k.id == chunkTreeID {
			d.mergeTree(d.chunkTree(), nil)
		} else {
			d.diffTree(k.id, roots[k])
		}
	}
	d.checkTrees(roots)
}

func (d *diff) oldPointer(of func(*state) pointer) *pointer {
	if d.old == nil {
		return nil
	}
	p := of(d.old)
	return &p
}

func (d *diff) chunkTree() *treeDiff {
	p := d.new.chunkRoot()
	return d.newTree(chunkTreeID, d.oldPointer((*state).chunkRoot), &p, false)
}

// readChunks makes the chunk map of the new state from the old one and what changed in the chunk tree.
// Until then only the chunks in the superblock are known, which hold the chunk tree.
func (d *diff) readChunks() error {
	root, err := d.new.node(d.new.chunkRoot(), true)
	if err != nil {
		return err
	}
	d.new.rules.chunkTreeUUID, d.new.rules.anyChunkTree = root.chunkTreeUUID(), false
	if d.old != nil && d.old.rules.chunkTreeUUID != d.new.rules.chunkTreeUUID {
		return violatedAt(headerRule, root.addr(), "block %d: chunk_tree_uuid changed", root.logical())
	}
	sys := d.new.chunks
	chunks := make(map[uint64]chunk)
	if d.old != nil {
		for _, c := range d.old.chunks.chunks {
			chunks[c.logical] = c
		}
	}
	t := d.chunkTree()
	if d.failed() {
		return nil
	}
	var chunkErr error
	err = t.merge(func(k key, old, now *itemRef) error {
		if k.typ != chunkItemKey {
			return nil
		}
		if now == nil {
			delete(chunks, k.offset)
			return nil
		}
		c, err := parseChunk(k, now.data(), d.new.sb.sectorSize(), d.new.sb.devID(), d.new.disk.Size())
		if err != nil {
			chunkErr = errors.Join(chunkErr, err)
			return nil
		}
		chunks[k.offset] = c
		return nil
	})
	if err := errors.Join(err, chunkErr); err != nil {
		return err
	}
	all := make([]chunk, 0, len(chunks))
	for _, c := range chunks {
		all = append(all, c)
	}
	m, err := newChunkMap(all)
	if err != nil {
		return err
	}
	for i := range sys.chunks {
		if c := m.find(sys.chunks[i].logical, 1); c == nil || *c != sys.chunks[i] {
			return violated(chunkRule, "chunk %d in sys_chunk_array is not the same in the chunk tree", sys.chunks[i].logical)
		}
	}
	d.new.chunks = m
	d.out.dec.ctx.chunks = m
	return nil
}

// A rootChange is a tree before and after; nil where it does not exist.
type rootChange struct {
	old, new *treeRoot
	added    bool // a root item with a key of its own came into being
}

// diffRoots compares the root trees and collects the trees whose root items differ.
func (d *diff) diffRoots(roots map[treeKey]*rootChange) {
	p := d.new.rootTree()
	t := d.newTree(rootTreeID, d.oldPointer((*state).rootTree), &p, false)
	d.mergeTree(t, func(k key, old, now *itemRef) {
		if k.typ != rootItemKey {
			return
		}
		if now != nil && (k.objectid == rootTreeID || k.objectid == chunkTreeID) {
			d.fault(violatedAt(rootRule, now.data().Addr(), "a root item of tree %d, which the superblock leads to", k.objectid).in(rootTreeID, k))
			return
		}
		id := treeKey{id: k.objectid}
		if k.objectid == treeRelocID {
			id.offset = k.offset
		}
		c := roots[id]
		if c == nil {
			c = &rootChange{}
			roots[id] = c
		}
		if old != nil {
			if r, ok := parseRoot(old.data()); ok {
				c.old = &r
			}
		}
		if now != nil {
			c.added = c.added || old == nil
			if r, ok := parseRoot(now.data()); ok {
				c.new = &r
			}
		}
		if classOf(k.objectid) == 0 {
			d.fault(&interp.UnsupportedError{FS: fsName, Feature: "the tree " + change.NumText(k.objectid)})
		}
	})
}

// diffTree compares one tree. A tree that is being dropped goes piece by piece over several
// transactions, and is no longer anybody's: of it, and of the trees that balance makes for itself, only
// the structure of what is new is checked.
func (d *diff) diffTree(id uint64, c *rootChange) {
	if c.new != nil && c.new.dropping || c.new == nil && (c.old == nil || c.old.dead) {
		return
	}
	var oldRoot, newRoot *pointer
	if c.old != nil && !c.old.dropping {
		oldRoot = &c.old.pointer
	}
	if c.new != nil {
		newRoot = &c.new.pointer
	}
	if oldRoot != nil && newRoot != nil && *oldRoot == *newRoot && c.old.dead == c.new.dead {
		return
	}
	quiet := id == treeRelocID || c.new != nil && c.new.dead
	if quiet {
		d.newTree(id, nil, newRoot, true)
		return
	}
	d.mergeTree(d.newTree(id, oldRoot, newRoot, false), nil)
}

// checkTrees asks for the trees without which there is no file system, and for each tree to be there
// once.
func (d *diff) checkTrees(roots map[treeKey]*rootChange) {
	var ids []uint64
	for _, id := range []uint64{extentTreeID, devTreeID, fsTreeID, csumTreeID} {
		if _, changed := roots[treeKey{id: id}]; changed || d.old == nil {
			ids = append(ids, id)
		}
	}
	for k, c := range roots {
		if c.added && k.id != treeRelocID {
			ids = append(ids, k.id)
		}
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		d.checkTree(id)
	}
}

func (d *diff) checkTree(id uint64) {
	if d.failedHard() {
		return
	}
	n, err := d.new.countRoots(id)
	switch {
	case err != nil:
		d.fault(err)
	case n == 0:
		d.fault(violated(rootRule, "there is no root item of tree %s", change.NumText(id)))
	case n > 1:
		d.fault(violated(rootRule, "tree %s has more than one root item", change.NumText(id)))
	}
}

// describe is the error of a transaction that could not be read to its end.
func describe(generation uint64, err error) error {
	return fmt.Errorf("generation %d: %w", generation, err)
}
