package btrfs

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// A diff compares two states of a file system. It reads only the blocks that the states do not
// share. Every block of a generation above that of the old state is new. A pointer of an older
// generation is shared if the old tree has it too. Otherwise diff follows it like a new one. A new
// snapshot is compared with its source (see snapshots).
type diff struct {
	old, new *state // old is nil if everything is new
	budget   *budget
	out      *recorder
	scratch  decoder // for items that are checked and not recorded
	faultList
	kept keptLeaves

	alone      bool        // one goroutine compares all trees
	unflushed  []addrRange // written metadata that is not durable yet
	superLater bool        // see comparison
	used       uint64      // growth of the bytes in use in the block groups, modulo 2^64
	snapshots  *snapshots  // nil if the new state has no new file tree
	images     bool        // ImageOptions.CompareSnapshots
}

// diffTrees compares the two states. It begins with the chunk tree, which maps all addresses.
// The root tree follows, then each tree whose root item changed. Records are in the order of trees.
func (d *diff) diffTrees() {
	if err := d.readChunks(); err != nil {
		d.fault(err)
	}
	if d.failed() {
		return
	}
	d.super()
	roots := make(map[treeKey]*rootChange)
	d.diffRoots(roots)
	if d.failed() {
		return // the list of trees may be wrong
	}
	keys := make([]treeKey, 0, len(roots)+1)
	for k := range roots {
		keys = append(keys, k)
	}
	keys = append(keys, treeKey{id: ondisk.ChunkTreeID})
	slices.SortFunc(keys, func(a, b treeKey) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.offset, b.offset))
	})
	if d.old != nil || d.images {
		d.snapshots = newSnapshots(keys, roots, d.new.rules.sectorSize)
	}
	for _, k := range keys {
		if k.id == ondisk.ChunkTreeID {
			d.mergeTree(d.chunkTree(), nil)
		} else {
			d.diffTree(k.id, roots[k])
		}
	}
	d.checkTrees(roots)
}

// super records the changes of the superblock, or leaves room for its records.
func (d *diff) super() {
	if d.superLater {
		d.out.txn.Records = make([]change.Record, superRecords)
		return
	}
	var old *ondisk.Superblock
	if d.old != nil {
		old = &d.old.sb
	}
	if err := d.out.super(old, &d.new.sb); err != nil {
		d.fault(err)
	}
}

// oldTree returns a tree that the superblock leads to in the old state, or nil if there is no old
// state.
func (d *diff) oldTree(tree uint64, root func(*state) pointer) *treeVersion {
	if d.old == nil {
		return nil
	}
	return &treeVersion{d.old, tree, root(d.old)}
}

// chunkTree compares the blocks of the chunk trees.
func (d *diff) chunkTree() *treeDiff {
	p := d.new.chunkRoot()
	old := d.oldTree(ondisk.ChunkTreeID, (*state).chunkRoot)
	return d.newTree(ondisk.ChunkTreeID, old, &p, false)
}

// readChunks makes the chunk map of the new state from the old map and the changes of the chunk
// tree. Before that, the new state knows only the chunks in the superblock, which hold the chunk
// tree.
func (d *diff) readChunks() error {
	root, err := d.new.node(d.new.chunkRoot(), true)
	if err != nil {
		return err
	}
	d.new.rules.chunkTreeUUID, d.new.rules.anyChunkTree = root.ChunkTreeUUID(), false
	if d.old != nil && d.old.rules.chunkTreeUUID != d.new.rules.chunkTreeUUID {
		return violatedAt(headerRule, root.Addr(), "block %d: chunk_tree_uuid changed", root.Logical())
	}
	sys := d.new.chunks
	t := d.chunkTree()
	if d.failed() {
		return nil
	}
	m, err := d.mergeChunks(t)
	if err != nil {
		return err
	}
	for i := range sys.chunks {
		if c := m.find(sys.chunks[i].logical, 1); c == nil || !c.equal(&sys.chunks[i]) {
			return violated(chunkRule,
				"chunk %d in sys_chunk_array is not the same in the chunk tree",
				sys.chunks[i].logical)
		}
	}
	d.new.chunks = m
	d.out.dec.ctx.chunks, d.out.dec.ctx.where = m, m
	if d.old == nil { // a tree is compared with another of the same state
		d.out.oldDec.ctx.where = m
	}
	return nil
}

// mergeChunks returns the chunks of the old state with the changes of the chunk tree.
func (d *diff) mergeChunks(t *treeDiff) (*chunkMap, error) {
	chunks := make(map[uint64]chunk)
	if d.old != nil {
		for _, c := range d.old.chunks.chunks {
			chunks[c.logical] = c
		}
	}
	var chunkErr error
	err := t.leaves().merge(d.new, keyInterval{}, func(k ondisk.Key, _, now *itemRef) error {
		if k.Type != ondisk.ChunkItemKey {
			return nil
		}
		if now == nil {
			delete(chunks, k.Offset)
			return nil
		}
		c, err := parseChunk(k, now.data(), d.new.sb.SectorSize(), d.new.devs)
		if err != nil {
			chunkErr = errors.Join(chunkErr, err)
			return nil
		}
		chunks[k.Offset] = c
		return nil
	})
	if err := errors.Join(err, chunkErr); err != nil {
		return nil, err
	}
	all := make([]chunk, 0, len(chunks))
	for _, c := range chunks {
		all = append(all, c)
	}
	return newChunkMap(all)
}

// A rootChange is the root of a tree before and after. A nil root means that the tree does not
// exist.
type rootChange struct {
	old, new *treeRoot
	added    bool // the new state has a root item with a new key
}

// diffRoots compares the root trees and collects the trees whose root items differ.
func (d *diff) diffRoots(roots map[treeKey]*rootChange) {
	p := d.new.rootTree()
	old := d.oldTree(ondisk.RootTreeID, (*state).rootTree)
	t := d.newTree(ondisk.RootTreeID, old, &p, false)
	d.mergeTree(t, func(k ondisk.Key, old, now *itemRef) {
		if k.Type != ondisk.RootItemKey {
			return
		}
		if now != nil && (k.ObjectID == ondisk.RootTreeID || k.ObjectID == ondisk.ChunkTreeID) {
			e := violatedAt(rootRule, now.data().Addr(),
				"a root item of tree %d, which the superblock leads to", k.ObjectID)
			d.fault(e.in(ondisk.RootTreeID, k))
			return
		}
		id := treeKey{id: k.ObjectID}
		if k.ObjectID == ondisk.TreeRelocID {
			id.offset = k.Offset
		}
		c := roots[id]
		if c == nil {
			c = &rootChange{}
			roots[id] = c
		}
		if old != nil {
			if r, ok := parseRoot(k.ObjectID, old.data()); ok {
				c.old = &r
			}
		}
		if now != nil {
			c.added = c.added || old == nil
			if r, ok := parseRoot(k.ObjectID, now.data()); ok {
				c.new = &r
			}
		}
		if ondisk.ClassOf(k.ObjectID) == 0 {
			d.fault(&interp.UnsupportedError{FS: ondisk.FSName,
				Feature: "the tree " + change.NumText(k.ObjectID)})
		}
	})
}

// diffTree compares one tree. The kernel drops a tree piece by piece over several transactions, and
// nobody can reach its files any more. For such a tree, and for the trees of balance, diffTree
// checks only the structure of new blocks.
func (d *diff) diffTree(id uint64, c *rootChange) {
	if c.new != nil && c.new.dropping || c.new == nil && (c.old == nil || c.old.dead) {
		return
	}
	var old *treeVersion
	var newRoot *pointer
	if c.old != nil && !c.old.dropping {
		old = &treeVersion{d.old, id, c.old.pointer}
	}
	if c.new != nil {
		newRoot = &c.new.pointer
	}
	if old != nil && newRoot != nil && old.root == *newRoot && c.old.dead == c.new.dead {
		return
	}
	structureOnly := id == ondisk.TreeRelocID || c.new != nil && c.new.dead
	if structureOnly {
		d.newTree(id, nil, newRoot, true)
		return
	}
	if d.images && ondisk.IsFileTree(id) {
		d.imageTree(id, c.new)
	} else {
		if c.old == nil {
			old = d.snapshots.source(d, id, c.new)
		}
		d.mergeTree(d.newTree(id, old, newRoot, false), nil)
	}
	if newRoot != nil {
		d.snapshots.compared(&treeVersion{d.new, id, *newRoot})
	}
}

// checkTrees checks that every required tree exists, and that no tree has two root items.
func (d *diff) checkTrees(roots map[treeKey]*rootChange) {
	required := []uint64{
		ondisk.ExtentTreeID, ondisk.DevTreeID, ondisk.FSTreeID, ondisk.CsumTreeID,
	}
	var ids []uint64
	for _, id := range required {
		if _, changed := roots[treeKey{id: id}]; changed || d.old == nil {
			ids = append(ids, id)
		}
	}
	for k, c := range roots {
		if c.added && k.id != ondisk.TreeRelocID {
			ids = append(ids, k.id)
		}
	}
	if _, changed := roots[treeKey{id: ondisk.DataRelocTreeID}]; changed {
		ids = append(ids, ondisk.DataRelocTreeID) // required from the first mount on
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		d.checkTree(id)
	}
}

// checkTree checks that a tree has exactly one root item.
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

// describe adds the generation to the reason why a transaction is undecided.
func describe(generation uint64, err error) error {
	return fmt.Errorf("generation %d: %w", generation, err)
}
