package ext3

import (
	"io"
	"maps"
	"slices"

	"fsward/change"
	"fsward/interp"
)

// A comparison is the result of comparing the states before and after a transaction.
type comparison struct {
	t      *transaction
	layout *Layout           // after it
	delta  *delta            // nil: a fault or an error came first
	fault  *change.Violation // in the group descriptors of a file system that grows
	err    error
}

// compare makes the change records of a transaction. old is the state before it. dev holds the
// transaction's copies. size is the size of the device in bytes. With drop, records that do not fit
// into memory become a stream.
func (m *Mounted) compare(t *transaction, old *State, dev io.ReaderAt, size uint64,
	names *change.Names, memory *interp.MemoryBudget, work *change.Work, drop bool) comparison {
	c := comparison{t: t}
	rewritten := m.rewritten(t, old)
	// The first block that the comparison reads reports if these are too many.
	_ = work.Blocks(len(rewritten), fetchSteps)
	after := old.with(dev, t)
	after.meter = change.NewWorkMeter(work)
	c.layout, c.fault, c.err = m.grown(after, t, size)
	if c.fault != nil || c.err != nil {
		return c
	}
	txn := &change.Txn{Schema: schema, Generation: uint64(t.seq), Names: names,
		Records: make([]change.Record, 0, m.expected), Work: work}
	c.delta = newDelta(m.Layout, c.layout, size, old, after, m.Roles, rewritten, txn)
	c.delta.orphans.was, c.delta.memory, c.delta.parts = m.Orphans, memory, &parts{drop: drop}
	if c.err = c.delta.run(); c.err == nil {
		c.err = m.Roles.check(len(c.delta.inodes.newRole), m.roleLimit)
	}
	return c
}

// rewritten returns the blocks that a transaction rewrites. A revoked block counts only if it is
// metadata or has a copy in the journal: the contents of any other block do not change.
func (m *Mounted) rewritten(t *transaction, old *State) map[uint32]bool {
	rewritten := make(map[uint32]bool, len(t.Copies))
	for b := range t.Copies {
		rewritten[b] = true
	}
	for b := range t.revoked.all() {
		if b >= m.Geo.Blocks {
			break
		}
		if _, copied := old.Copies[b]; copied || m.metadata(b) {
			rewritten[b] = true
		}
	}
	return rewritten
}

// conclude puts the result into an observation.
func (c comparison) conclude(obs *interp.Observation) {
	switch {
	case c.err != nil:
		obs.Unknown = c.err
	case c.fault != nil:
		obs.Violations = append(obs.Violations, *c.fault)
	default:
		c.delta.conclude(obs)
	}
}

// follow brings the roles of blocks and the list of orphans up to date after a comparison.
func (m *Mounted) follow(d *delta) {
	n := len(d.txn.Records)
	m.expected = min(n+n/4, maxExpected)
	for b, r := range d.inodes.noRole {
		if had, _ := m.Roles.Get(b); r.Level == RoleXattr || had == r {
			m.Roles.delete(b)
		}
	}
	if d.orphans.diff != nil {
		m.Orphans.apply(d.orphans.diff)
	}
	for _, b := range slices.Sorted(maps.Keys(d.inodes.newRole)) {
		m.Roles.set(b, d.inodes.newRole[b])
	}
}
