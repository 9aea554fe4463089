package ext3

import (
	"maps"
	"slices"

	"fsward/change"
	"fsward/interp"
)

// A delta makes the change records of one transaction, that is, the differences between two states.
// It looks only at the blocks that the transaction rewrote. run shows the order of the steps.
type delta struct {
	*compared
	groups groupDiff
	inodes inodeDiff
}

func newDelta(was, l *Layout, device uint64, old, new *State, r *Roles, rewritten map[uint32]bool,
	txn *change.Txn) *delta {
	c := &compared{Layout: l, was: was, device: device, old: Snapshot{l, old}, new: Snapshot{l, new},
		roles: r, rewritten: rewritten, plan: &plan{},
		records: &records{txn: txn}}
	d := &delta{compared: c, groups: groupDiff{c}, inodes: newInodeDiff(c)}
	c.beside = d.bytes
	return d
}

// again returns a delta that makes records from the plan of d and has found nothing of its own.
func (d *delta) again(r *records) *delta {
	c := *d.compared
	c.records = r
	return &delta{compared: &c, groups: groupDiff{&c}, inodes: newInodeDiff(&c)}
}

// bytes returns the memory that the comparison takes besides the records.
func (d *delta) bytes() uint64 {
	return d.plan.bytes() + d.orphans.bytes() + d.inodes.bytes()
}

// run makes all records of a transaction. The error is that of a read, errTooMany, or an
// *interp.MemoryError.
func (d *delta) run() error {
	d.begin()
	for _, step := range []func() error{d.superblock, d.superCopy, d.compareGroups, d.compareTrees,
		d.compareBlocks, d.compareOrphans, d.fieldRecords} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// begin puts the rewritten blocks that have a role on the work lists.
func (d *delta) begin() {
	d.order = slices.Sorted(maps.Keys(d.rewritten))
	for _, block := range d.order {
		r, ok := d.roles.Get(block)
		switch {
		case !ok:
		case r.Level == RoleXattr:
			d.todo.xattrs.add(block)
		default:
			d.inodes.rewroteRole(block, r)
			d.todo.inodes.add(r.Ino)
		}
	}
}

// compareGroups compares the bitmaps, the inode tables and the descriptors of groups. It finds the
// inodes to compare.
func (d *delta) compareGroups() error {
	groups := d.groups.touched()
	if err := d.groups.expectChanged(groups); err != nil {
		return err
	}
	for _, g := range groups {
		if err := d.groups.compare(g); err != nil {
			return err
		}
		if err := d.tooMany(); err != nil {
			return err
		}
	}
	return nil
}

// compareTrees compares the blocks of inodes, and the entries of directories.
func (d *delta) compareTrees() error {
	for ino := range d.todo.inodes.all() {
		if err := d.inodes.compareTree(ino); err != nil {
			return err
		}
		if err := d.tooMany(); err != nil {
			return err
		}
	}
	d.inodes.dirs.names.reset()
	d.todo.inodes.addAll(&d.todo.named)
	return nil
}

// compareBlocks makes the records of the blocks that the steps before found.
func (d *delta) compareBlocks() (err error) {
	before := d.bytes()
	d.pieces, err = d.blocks.cut(func(n int) error { return d.holds(before + uint64(n)*pieceBytes) })
	d.blocks = blockRuns{}
	if err == nil {
		err = d.expect(2 * len(d.pieces))
	}
	if err == nil {
		err = d.blockRecords()
	}
	return err
}

// blockRecords makes the records of blocks and of the pointers to them.
func (d *delta) blockRecords() error {
	for i, b := range d.pieces {
		d.runRecords(b)
		if i+1 < len(d.pieces) && d.pieces[i+1].object() == b.object() {
			continue
		}
		if err := d.tooMany(); err != nil {
			return err
		}
	}
	return nil
}

// compareOrphans compares the list of orphans.
func (d *delta) compareOrphans() error {
	fault, err := d.orphans.compare(d.new, &d.todo.inodes)
	if err != nil {
		return err
	}
	if fault != nil {
		d.fault(*fault)
	}
	return d.allOrphans()
}

// allOrphans makes the records of the inodes that came to the list of orphans or left it.
func (d *delta) allOrphans() error {
	came, gone := d.orphans.changed()
	for _, inodes := range [][]uint32{came, gone} {
		for _, ino := range inodes {
			d.orphanRecords(ino)
			if err := d.tooMany(); err != nil {
				return err
			}
		}
	}
	return nil
}

// fieldRecords makes the records of inodes, extended attribute blocks and groups.
func (d *delta) fieldRecords() error {
	for _, of := range []struct {
		todo *numberSet
		make func(n uint32) error
	}{
		{&d.todo.inodes, d.inodes.compareFields},
		{&d.todo.xattrs, d.inodes.compareXattrBlock},
		{&d.todo.groups, d.groups.compareFields},
	} {
		for n := range of.todo.all() {
			if err := of.make(n); err != nil {
				return err
			}
			if err := d.tooMany(); err != nil {
				return err
			}
		}
	}
	return nil
}

// conclude puts the findings into an observation. It leaves out the records if the structure is not
// sound. If they did not fit into memory, they become a stream.
func (d *delta) conclude(obs *interp.Observation) {
	if obs.Violations = append(obs.Violations, d.faults...); len(obs.Violations) > 0 {
		return
	}
	obs.View = d.view()
	if !d.parts.partial() {
		obs.Txn = d.txn
		return
	}
	if err := d.handOn(0); err != nil {
		obs.Unknown = err
		return
	}
	obs.Stream = newCommitStream(d)
}

// view returns a view of the state after the comparison.
func (d *compared) view() *view {
	return &view{Snapshot: d.new, names: d.txn.Names, orphan: d.isOrphan}
}
