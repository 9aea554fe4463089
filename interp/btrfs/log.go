package btrfs

import (
	"fmt"
	"maps"
	"slices"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// A logState is the log that a superblock leads to: the writes of fsync since the last commit. The
// log root tree has a root item for each subvolume with a log. The log of a subvolume has the items
// that the next mount after a crash copies into the tree of the subvolume
// (btrfs_recover_log_trees). All blocks have the generation of the running transaction and belong
// to tree -6.
type logState struct {
	root   pointer             // of the log root tree
	trees  map[uint64]*logTree // by subvolume; the log root tree has the key TreeLogID
	blocks map[uint64]keySpan  // all blocks by logical address
}

// A logTree is a tree of the log.
type logTree struct {
	root   pointer
	leaves []pointer
	blocks []uint64 // logical addresses of all blocks
}

// A keySpan is the first and the last key of a block. An empty block has none. tree is the key of
// the block's tree in logState.trees: a block that moved from another tree must be read again.
type keySpan struct {
	first, last ondisk.Key
	empty       bool
	tree        uint64
}

// logPointer returns the root of the log of a superblock. ok is false if it has no log.
func logPointer(s ondisk.Superblock) (p pointer, ok bool) {
	return pointer{s.LogRoot(), s.Generation() + 1, s.LogRootLevel(), false}, s.LogRoot() != 0
}

// A logReader reads the log of a superblock and compares it with the previous log, block by block.
// A block of the last log commit stays intact until the next log commit (logBlockRule), so that
// blocks of both logs need not be read again. The kernel reuses the blocks of earlier log commits.
type logReader struct {
	state  *state // of the last commit, with the superblock that leads to the log
	id     uint64 // of the tree under examination, as in logState.trees
	prev   *logState
	now    *logState
	budget *budget
	memory *interp.MemoryBudget
	bytes  uint64 // of memory in use
	order  []addrRange
	parts  []interp.Part
	faults []change.Violation
	err    error
}

// readLog reads the log of a superblock of the base's generation. prev is the previous log, or nil
// if there was none or it is not known. The log of the result is not usable if the result has
// faults or an error.
func (c *comparer) readLog(base *state, sb ondisk.Superblock, prev *logState) *logReader {
	s := *base
	s.sb = sb
	r := &logReader{state: &s, prev: prev, budget: newBudget(), memory: c.memory,
		now: &logState{trees: make(map[uint64]*logTree), blocks: make(map[uint64]keySpan)}}
	r.budget.work = c.limits.Work.Begin()
	if r.prev == nil {
		r.prev = &logState{}
	} else {
		r.order = c.unflushed.ranges()
	}
	p, ok := logPointer(sb)
	if !ok {
		return r
	}
	r.now.root = p
	roots := r.tree(ondisk.TreeLogID, p, c.namesOfLog(0))
	changed := 0
	for _, id := range slices.Sorted(maps.Keys(roots)) {
		if len(r.faults) > 0 || r.err != nil {
			break
		}
		if !r.keep(id, roots[id]) {
			changed++
			r.tree(id, roots[id], c.namesOfLog(changed))
		}
	}
	return r
}

// keep takes over a tree of the previous log, and reports whether it did so: the tree has the same
// root, and all its blocks are intact. A guest that calls fsync in one of many subvolumes changes
// one tree.
func (r *logReader) keep(id uint64, root pointer) bool {
	was := r.prev.trees[id]
	if was == nil || was.root != root {
		return false
	}
	for _, logical := range was.blocks {
		if _, ok := r.now.blocks[logical]; ok {
			r.faults = append(r.faults, reachedTwice(logical).v)
			return true
		}
		r.now.blocks[logical] = r.prev.blocks[logical]
	}
	r.now.trees[id] = was
	r.bytes += uint64(len(was.blocks)) * spanBytes
	return true
}

// reachedTwice reports a block of the log to which two pointers lead.
func reachedTwice(logical uint64) *structureError {
	return violated(twiceRule, "block %d is reached twice in the log", logical)
}

// take notes a block of the tree under examination.
func (r *logReader) take(logical uint64, keys keySpan) {
	r.now.blocks[logical] = keys
	tree := r.now.trees[r.id]
	tree.blocks = append(tree.blocks, logical)
}

// namesOfLog returns the names of the i-th tree of a log, which has none yet. A stream resets its
// names at each pass, so that no two trees share theirs.
func (c *comparer) namesOfLog(i int) *change.Names {
	if i == 0 {
		c.names.Reset()
		return c.names
	}
	if len(c.logNames) < i {
		c.logNames = append(c.logNames, change.NewNames())
	}
	n := c.logNames[i-1]
	n.Reset()
	return n
}

// tree reads one tree of the log and adds a part with its changes. It returns the root items of the
// log root tree, by subvolume.
func (r *logReader) tree(id uint64, root pointer, names *change.Names) map[uint64]pointer {
	now, old := *r.state, *r.state
	now.log = root
	if id != ondisk.TreeLogID {
		now.logOf, old.logOf = id, id
	}
	r.id = id
	t := r.start(&old, &now, names)
	tree := &logTree{root: root}
	r.now.trees[id] = tree
	t.walkLog(r, span{pointer: root})
	if was := r.prev.trees[id]; was != nil {
		old.log = was.root
		t.version = &treeVersion{&old, ondisk.TreeLogID, was.root}
		for _, p := range was.leaves {
			if keys, ok := r.now.blocks[p.logical]; !ok || keys.tree != id {
				t.oldLeaves = append(t.oldLeaves, leaf{pointer: p})
			}
		}
	}
	roots := make(map[uint64]pointer)
	for _, s := range t.spans {
		tree.leaves = append(tree.leaves, s.pointer)
		if id == ondisk.TreeLogID {
			r.roots(&now, s.pointer, roots)
		}
	}
	t.mergeTree(t, nil)
	r.faults = append(r.faults, t.faults...)
	if r.err == nil {
		r.err = t.unknown
	}
	r.bytes += uint64(len(t.spans)) * spanBytes
	if part, ok := t.logPart(newView(&now, names, r.budget.work)); ok {
		r.parts = append(r.parts, part)
	}
	r.bytes += t.kept.bytes
	if t.out.dropped {
		t.lendToCache()
	} else {
		r.bytes += uint64(len(t.out.txn.Records))*interp.RecordBytes + names.Bytes()
	}
	return roots
}

// start returns an empty comparison of two trees of the log.
func (r *logReader) start(old, now *state, names *change.Names) *treeDiff {
	txn := &change.Txn{Schema: ondisk.Schema, Generation: now.sb.Generation(), Names: names,
		Work: r.budget.work}
	d := &diff{old: old, new: now, budget: r.budget, unflushed: r.order,
		kept: keptLeaves{streams: true}, out: newRecorder(txn, now.itemContext())}
	d.out.memory, d.out.otherBytes, d.out.drop = r.memory, r.bytes, true
	return &treeDiff{diff: d, tree: ondisk.TreeLogID, seen: make(map[uint64]bool)}
}

// roots collects the root items in a leaf of the log root tree.
func (r *logReader) roots(s *state, leaf pointer, roots map[uint64]pointer) {
	n, err := s.node(leaf, false)
	if err != nil {
		return // walkLog has reported it
	}
	for i := range n.NrItems() {
		k := n.Key(i)
		if k.Type != ondisk.RootItemKey {
			continue
		}
		if k.ObjectID != ondisk.TreeLogID || !ondisk.IsFileTree(k.Offset) {
			e := violatedAt(rootRule, n.Addr(), "a root item of the log is for %s", k.String())
			r.faults = append(r.faults, e.in(ondisk.TreeLogID, k).v)
		} else if root, ok := parseRoot(k.ObjectID, n.Item(i)); ok {
			roots[k.Offset] = root.pointer
		}
	}
}

// walkLog descends a tree of the log. It does not read leaves that the previous log had.
func (t *treeDiff) walkLog(r *logReader, s span) {
	if t.failedHard() {
		return
	}
	if _, ok := r.now.blocks[s.logical]; ok {
		t.fault(reachedTwice(s.logical))
		return
	}
	if want := t.new.sb.Generation() + 1; s.generation != want {
		t.fault(violated(generationRule,
			"block %d of the log: its parent says generation %d, the running transaction is %d",
			s.logical, s.generation, want))
		return
	}
	keys, known := r.prev.blocks[s.logical]
	known = known && keys.tree == r.id
	if known && s.level == 0 && keys.fits(s) {
		r.take(s.logical, keys)
		s.shared = true
		t.addSpan(s)
		return
	}
	n := t.checked(s, !known)
	if n == nil {
		return
	}
	if n.Owner() != ondisk.TreeLogID {
		t.fault(violatedAt(ownerRule, n.Addr(), "block %d: owner is %s in the log",
			n.Logical(), change.NumText(n.Owner())))
	}
	if !known {
		if err := t.checkFlushed(n); err != nil {
			t.fault(err)
		}
	}
	r.take(s.logical, spanOf(n, r.id))
	t.descend(n, s, func(c span) { t.walkLog(r, c) })
}

// spanOf returns the first and the last key of a block.
func spanOf(n *ondisk.Node, tree uint64) keySpan {
	if n.NrItems() == 0 {
		return keySpan{empty: true, tree: tree}
	}
	return keySpan{first: n.Key(0), last: n.Key(n.NrItems() - 1), tree: tree}
}

// fits reports whether the keys of a block fit its place in a tree. If they do not,
// treeDiff.checked reports the fault.
func (k keySpan) fits(s span) bool {
	if k.empty {
		return !s.hasFirst
	}
	return (!s.hasFirst || k.first == s.first) && (!s.hasEnd || k.last.Compare(s.end) < 0)
}

// judgeLogCommit judges a superblock that leads to another log, which fsync has written.
func (s *superblockWrite) judgeLogCommit() {
	s.obs.Point = interp.LogPoint
	var log *logState
	if !s.old.unsound {
		r := s.comparer.readLog(s.old, s.sb, s.log)
		s.obs.Violations, s.obs.Logs, log = r.faults, r.parts, r.now
		if r.err != nil {
			s.obs.Unknown = fmt.Errorf("the log of generation %d: %w", s.sb.Generation()+1, r.err)
		}
		if len(s.obs.Violations) > 0 || s.obs.Unknown != nil {
			s.obs.Logs, log = nil, nil
		}
	}
	next := &s.pending.next
	next.base, next.takesSuper = s.old, true
	next.log, next.newLog = log, true
}
