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

// A diff compares two states of a file system, reading only what the newer one does not share with
// the older. Every block of a generation above the base is new; a pointer of an older generation is
// shared if the older tree has it too, and is followed as new if it has not (a snapshot, or a stray
// pointer).
type diff struct {
	old, new *state // old is nil if there is nothing to compare with: everything is new
	budget   *budget
	out      *recorder
	scratch  decoder // of items that are checked and not recorded
	faults   []change.Violation
	unknown  error // why the result is not complete

	unflushed  []addrRange // what was written and is not durable yet
	superLater bool        // see comparison
	used       uint64      // bytes by which more is used in the block groups, mod 2^64
}

// fault notes an error of the new state and reports whether to go on.
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

// failed reports whether no records can be trusted.
func (d *diff) failed() bool { return len(d.faults) > 0 || d.unknown != nil }

// failedHard reports whether going on would find nothing more that is worth reporting.
func (d *diff) failedHard() bool { return d.unknown != nil || len(d.faults) >= maxFaults }

// diffTrees compares the two states: the chunk tree first, which says where everything lies, then
// the root tree, then each tree whose root item changed. Records come in the order of trees.
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
		return // which trees there are is not known
	}
	keys := make([]treeKey, 0, len(roots)+1)
	for k := range roots {
		keys = append(keys, k)
	}
	keys = append(keys, treeKey{id: ondisk.ChunkTreeID})
	slices.SortFunc(keys, func(a, b treeKey) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.offset, b.offset))
	})
	for _, k := range keys {
		if k.id == ondisk.ChunkTreeID {
			d.mergeTree(d.chunkTree(), nil)
		} else {
			d.diffTree(k.id, roots[k])
		}
	}
	d.checkTrees(roots)
}

// super takes the superblocks, or leaves room for their records.
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

func (d *diff) oldPointer(of func(*state) pointer) *pointer {
	if d.old == nil {
		return nil
	}
	p := of(d.old)
	return &p
}

func (d *diff) chunkTree() *treeDiff {
	p := d.new.chunkRoot()
	return d.newTree(ondisk.ChunkTreeID, d.oldPointer((*state).chunkRoot), &p, false)
}

// readChunks makes the chunk map of the new state from the old one and what changed in the chunk
// tree. Until then only the chunks in the superblock are known, which hold the chunk tree.
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
	err = t.merge(func(k ondisk.Key, old, now *itemRef) error {
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
		if c := m.find(sys.chunks[i].logical, 1); c == nil || !c.equal(&sys.chunks[i]) {
			return violated(chunkRule, "chunk %d in sys_chunk_array is not the same in the chunk tree", sys.chunks[i].logical)
		}
	}
	d.new.chunks = m
	d.out.dec.ctx.chunks, d.out.dec.ctx.where = m, m
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
	t := d.newTree(ondisk.RootTreeID, d.oldPointer((*state).rootTree), &p, false)
	d.mergeTree(t, func(k ondisk.Key, old, now *itemRef) {
		if k.Type != ondisk.RootItemKey {
			return
		}
		if now != nil && (k.ObjectID == ondisk.RootTreeID || k.ObjectID == ondisk.ChunkTreeID) {
			d.fault(violatedAt(rootRule, now.data().Addr(), "a root item of tree %d, which the superblock leads to", k.ObjectID).in(ondisk.RootTreeID, k))
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
			d.fault(&interp.UnsupportedError{FS: ondisk.FSName, Feature: "the tree " + change.NumText(k.ObjectID)})
		}
	})
}

// diffTree compares one tree. A tree that is being dropped goes piece by piece over several
// transactions, and is no longer anybody's: of it, and of the trees that balance makes for itself,
// only the structure of what is new is checked.
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
	structureOnly := id == ondisk.TreeRelocID || c.new != nil && c.new.dead
	if structureOnly {
		d.newTree(id, nil, newRoot, true)
		return
	}
	d.mergeTree(d.newTree(id, oldRoot, newRoot, false), nil)
}

// checkTrees asks for the trees without which there is no file system, and for each tree to be
// there once.
func (d *diff) checkTrees(roots map[treeKey]*rootChange) {
	var ids []uint64
	for _, id := range []uint64{ondisk.ExtentTreeID, ondisk.DevTreeID, ondisk.FSTreeID, ondisk.CsumTreeID} {
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
		ids = append(ids, ondisk.DataRelocTreeID) // there from the first mount on
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
