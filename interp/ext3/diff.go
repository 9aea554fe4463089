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

func newDelta(was, l *Layout, device uint64, old, new *State, r Roles, rewritten map[uint32]bool,
	txn *change.Txn) *delta {
	c := &compared{Layout: l, was: was, device: device, old: Snapshot{l, old}, new: Snapshot{l, new},
		roles: r, rewritten: rewritten,
		records: &records{txn: txn}}
	return &delta{compared: c, groups: groupDiff{c}, inodes: newInodeDiff(c)}
}

// run makes all records of a transaction. The error is that of a read, errTooMany, or an
// *interp.MemoryError.
func (d *delta) run() error {
	d.begin()
	for _, step := range []func() error{d.superblock, d.superCopy, d.compareGroups, d.compareTrees,
		d.compareBlocks, d.compareOrphans, d.compareFields} {
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
		r, ok := d.roles[block]
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
	if err := d.groups.expectTurned(groups); err != nil {
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
	d.todo.inodes.addAll(&d.todo.named)
	return nil
}

// compareBlocks makes the records of the blocks that the steps before found.
func (d *delta) compareBlocks() error {
	defer func() { d.blocks = blockRuns{} }()
	d.expect(4 * d.blocks.len()) // two for a run, and as many for the bits or pointers beside it
	return d.blocks.pieces(func(b blockRun) error {
		d.runRecords(b)
		return d.tooMany()
	})
}

// compareOrphans compares the list of orphans.
func (d *delta) compareOrphans() error {
	fault, err := d.orphans.compare(d.new, &d.todo.inodes, d.txn)
	if fault != nil {
		d.fault(*fault)
	}
	return err
}

// compareFields compares the fields of inodes, extended attribute blocks and groups.
func (d *delta) compareFields() error {
	for ino := range d.todo.inodes.all() {
		if err := d.inodes.compareFields(ino); err != nil {
			return err
		}
		if err := d.tooMany(); err != nil {
			return err
		}
	}
	for ino := range d.todo.bodies.all() {
		if err := d.inodes.checkBody(ino); err != nil {
			return err
		}
	}
	for block := range d.todo.xattrs.all() {
		if err := d.inodes.compareXattrBlock(block); err != nil {
			return err
		}
	}
	for g := range d.todo.groups.all() {
		if err := d.groups.compareFields(g); err != nil {
			return err
		}
	}
	return nil
}

// conclude puts the findings into an observation. It leaves out the records if the structure is not
// sound.
func (d *compared) conclude(obs *interp.Observation) {
	if obs.Violations = append(obs.Violations, d.faults...); len(obs.Violations) == 0 {
		obs.Txn, obs.View = d.txn, &view{Snapshot: d.new, names: d.txn.Names, orphan: d.isOrphan}
	}
}
