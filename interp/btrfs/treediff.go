package btrfs

import (
	"errors"

	"fsward/change"
	"fsward/interp/btrfs/ondisk"
)

// A span is a subtree and the keys [first, end) that its parent assigns to it.
type span struct {
	pointer
	first    ondisk.Key
	hasFirst bool // false for a root, whose first key no parent names
	end      ondisk.Key
	hasEnd   bool
	shared   bool // older, or checked with another tree: read only if the old tree does not have it
	matched  bool // the old tree has it
}

// A treeDiff is the comparison of one tree.
type treeDiff struct {
	*diff
	tree          uint64
	version       *treeVersion // the older version that the new one is compared with, or nil
	structureOnly bool         // structure alone
	seen          map[uint64]bool
	shared        map[uint64]int // logical address of a shared subtree → index in spans
	spans         []span         // leaves that are new, and shared subtrees, in the order of keys
	oldLeaves     []leaf         // leaves of the old tree that the new one does not share
	// Estimated records if all items in spans, and in oldLeaves, were new.
	newRecords, oldRecords int
}

// A treeVersion is a tree in one state.
type treeVersion struct {
	state *state
	tree  uint64
	root  pointer
}

// newTree compares the blocks of two versions of a tree, and finds the leaves that only one of them
// has. A version that does not exist is nil. With structureOnly, it checks only the structure of
// new blocks.
func (d *diff) newTree(
	tree uint64, old *treeVersion, newRoot *pointer, structureOnly bool,
) *treeDiff {
	d.out.otherBytes = d.kept.bytes // the memory for another tree is free again
	t := &treeDiff{diff: d, tree: tree, version: old, structureOnly: structureOnly,
		seen: make(map[uint64]bool), shared: make(map[uint64]int)}
	if newRoot != nil {
		t.walkNew(span{pointer: *newRoot})
	}
	if old != nil {
		t.walkOld(span{pointer: old.root})
	}
	if !structureOnly {
		t.expandUnmatched()
	}
	return t
}

// baseGeneration returns the generation of the old state, or 0 if there is none.
func (t *treeDiff) baseGeneration() uint64 {
	if t.old == nil {
		return 0
	}
	return t.old.sb.Generation()
}

// enter reports whether a walk should descend to the root of a subtree. It notes a fault if the new
// tree reaches that block twice.
func (t *treeDiff) enter(s span) bool {
	if t.failedHard() {
		return false
	}
	if t.seen[s.logical] {
		t.fault(violated(twiceRule, "block %d is reached twice in tree %s",
			s.logical, change.NumText(t.tree)))
		return false
	}
	t.seen[s.logical] = true
	return true
}

// walkNew descends the new tree to the subtrees of older generations.
func (t *treeDiff) walkNew(s span) {
	if !t.enter(s) {
		return
	}
	if s.generation > t.new.sb.Generation() {
		t.fault(violated(generationRule,
			"block %d of tree %s: its parent says generation %d, the superblock's is %d",
			s.logical, change.NumText(t.tree), s.generation, t.new.sb.Generation()))
		return
	}
	checked := s.hasFirst && t.snapshots.checked(t.tree, s.logical)
	if checked && t.images && t.structureOnly {
		t.match(&s, span{}) // sound by itself; its place is not known yet
		return
	}
	if s.generation <= t.baseGeneration() || checked {
		t.shared[s.logical] = len(t.spans)
		s.shared = true
		t.addSpan(s)
		return
	}
	n := t.checked(s, true)
	if n == nil {
		return
	}
	t.checkOwner(n, !s.hasFirst)
	t.snapshots.leadsTo(t.tree, n.Owner())
	if err := t.checkFlushed(n); err != nil {
		t.fault(err)
	}
	if n.Level() == 0 {
		t.checkLeaf(n, s)
	}
	t.descend(n, s, t.walkNew)
}

// descend visits the children of a node, or adds a leaf to the spans.
func (t *treeDiff) descend(n *ondisk.Node, s span, visit func(span)) {
	if n.Level() == 0 {
		t.addSpan(s)
		t.newRecords += expectedRecords(n)
		return
	}
	for i := range n.NrItems() {
		visit(childSpan(n, s, i))
	}
}

// childSpan returns the span of child i of the node at s.
func childSpan(n *ondisk.Node, s span, i int) span {
	c := span{
		pointer: childOf(n, i, s.chunkTree),
		first:   n.Key(i), hasFirst: true,
		end: s.end, hasEnd: s.hasEnd,
	}
	if i+1 < n.NrItems() {
		c.end, c.hasEnd = n.Key(i+1), true
	}
	return c
}

// checked reads a block of the new state and checks its keys against its place in the tree. It
// returns nil after a fault.
func (t *treeDiff) checked(s span, all bool) *ondisk.Node {
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

// checkSpan checks that the first and the last key of a block fit the span.
func (t *treeDiff) checkSpan(n *ondisk.Node, s span) error {
	count := n.NrItems()
	if count == 0 {
		if s.hasFirst {
			return violatedAt(nritemsRule, n.Addr(),
				"block %d: nritems is 0 in a leaf that is not a root", n.Logical())
		}
		return nil
	}
	if s.hasFirst && n.Key(0) != s.first {
		e := violatedAt(parentKeyRule, n.Addr(),
			"block %d: its first key is %s, its parent says %s",
			n.Logical(), n.Key(0).String(), s.first.String())
		return e.in(t.tree, s.first)
	}
	if last := n.Key(count - 1); s.hasEnd && last.Compare(s.end) >= 0 {
		e := violatedAt(keyOrderRule, n.Addr(),
			"block %d: its last key is %s, the next block begins with %s",
			n.Logical(), last.String(), s.end.String())
		return e.in(t.tree, last)
	}
	return nil
}

// checkOwner checks that a new block belongs to the tree. There are two exceptions. A snapshot
// taken in this transaction shares new blocks of its source, but never the root (btrfs_copy_root).
// Balance puts its own blocks into the trees that it moves.
func (t *treeDiff) checkOwner(n *ondisk.Node, root bool) {
	owner := n.Owner()
	ofFiles, inFiles := ondisk.IsFileTree(owner), ondisk.IsFileTree(t.tree)
	switch {
	case owner == t.tree || n.Flags()&ondisk.HeaderFlagReloc != 0:
		return
	case !root && inFiles && ofFiles:
		return
	case owner == ondisk.TreeRelocID && ondisk.ClassOf(t.tree) == ondisk.InFile:
		return
	case t.tree == ondisk.TreeRelocID && ofFiles:
		return
	}
	t.fault(violatedAt(ownerRule, n.Addr(), "block %d: owner is %s in tree %s",
		n.Logical(), change.NumText(owner), change.NumText(t.tree)))
}

// walkOld descends the old tree to the subtrees that the new tree shares.
func (t *treeDiff) walkOld(s span) {
	if t.failedHard() {
		return
	}
	if i, ok := t.shared[s.logical]; ok {
		now := &t.spans[i]
		if now.generation == s.generation && now.level == s.level {
			t.match(now, s)
			return
		}
	}
	if err := t.budget.node(); err != nil {
		t.fault(err)
		return
	}
	n, err := t.version.state.node(s.pointer, false)
	if err != nil {
		if e, ok := errors.AsType[*structureError](err); ok {
			err = violatedAt(baseRule, e.v.Addr, "tree %s of generation %d: %s",
				change.NumText(t.version.tree), t.version.state.sb.Generation(), e.Error())
		}
		t.fault(err)
		return
	}
	if n.Level() == 0 {
		t.oldLeaves = append(t.oldLeaves, leaf{s.pointer, s.first})
		t.oldRecords += expectedRecords(n)
		return
	}
	for i := range n.NrItems() {
		t.walkOld(childSpan(n, s, i))
	}
}

// match notes that both trees have a subtree. Its keys are unchanged. If its place in the tree has
// changed, they must fit the new place.
func (t *treeDiff) match(now *span, was span) {
	now.matched = true
	if now.hasFirst && (!was.hasFirst || now.first != was.first) {
		t.checked(*now, false)
	}
	if now.hasEnd && (!was.hasEnd || now.end.Compare(was.end) < 0) {
		t.checkLast(*now)
	}
}

// checkLast checks the last key of a shared subtree. It descends along the right edge.
func (t *treeDiff) checkLast(s span) {
	for {
		n := t.checked(s, false)
		if n == nil || n.Level() == 0 || n.NrItems() == 0 {
			return
		}
		s = childSpan(n, s, n.NrItems()-1)
	}
}

// expandUnmatched replaces each shared subtree that the old tree does not have with its leaves, and
// drops the other shared subtrees.
func (t *treeDiff) expandUnmatched() {
	spans := t.spans
	t.spans = make([]span, 0, len(spans))
	for _, s := range spans {
		switch {
		case !s.shared:
			t.spans = append(t.spans, s)
		case !s.matched:
			delete(t.seen, s.logical)
			t.walkUnmatched(s)
		}
	}
}

// walkUnmatched descends a subtree of an older generation that the old tree does not have.
func (t *treeDiff) walkUnmatched(s span) {
	if !t.enter(s) {
		return
	}
	if n := t.checked(s, false); n != nil {
		s.shared = false
		t.descend(n, s, t.walkUnmatched)
	}
}
