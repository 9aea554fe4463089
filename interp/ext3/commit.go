package ext3

import (
	"errors"
	"io"
	"iter"
	"maps"
	"slices"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

const (
	// maxRecords bounds the records of a transaction: about 600 MB. Beyond it a commit is undecided.
	maxRecords = 8 << 20
	// maxFaults bounds the violations of structure that are reported of one write.
	maxFaults = 100
	// maxExpected is for how many records there is room at first at most: 5 MB.
	maxExpected = 1 << 16
)

var errTooMany = errors.New("ext3: the transaction has more than 8,388,608 change records")

// A comparison is what a transaction changes.
type comparison struct {
	t      *transaction
	layout *Layout           // after it
	delta  *delta            // nil if a fault or an error kept it from being begun
	fault  *change.Violation // of the group descriptors of a file system that grows
	err    error
}

// compare makes the change records of a transaction: old is the state before it, and its copies are read from dev.
func (m *Mounted) compare(t *transaction, old *State, dev io.ReaderAt, size uint64, names *change.Names, memory *interp.MemoryBudget) comparison {
	c := comparison{t: t}
	rewritten := make(map[uint32]bool, len(t.Copies)+len(t.Revoked))
	for b := range t.Copies {
		rewritten[b] = true
	}
	for b := range t.Revoked {
		if b < m.Layout.Geo.Blocks {
			rewritten[b] = true
		}
	}
	after := old.with(dev, t)
	c.layout, c.fault, c.err = m.grown(after, t, size)
	if c.fault != nil || c.err != nil {
		return c
	}
	txn := &change.Txn{Schema: schema, Generation: uint64(t.seq), Names: names, Records: make([]change.Record, 0, m.expected)}
	c.delta = newDelta(m.Layout, c.layout, size, old, after, m.Roles, rewritten, txn)
	c.delta.wasOrphans, c.delta.memory = m.Orphans, memory
	if c.err = c.delta.run(); c.err == nil {
		c.err = m.Roles.check(len(c.delta.newRole), m.most)
	}
	return c
}

// conclude puts what was found into an observation.
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

// Follow makes what the blocks are used for what a delta found.
func (m *Mounted) follow(d *delta) {
	n := len(d.txn.Records)
	m.expected = min(n+n/4, maxExpected)
	for b, r := range d.noRole {
		if r.Level == RoleXattr || m.Roles[b] == r {
			delete(m.Roles, b)
		}
	}
	if d.orphanDiff != nil {
		m.Orphans.apply(d.orphanDiff)
	}
	for b, r := range d.newRole {
		m.Roles[b] = r
	}
}

// A delta makes the change records of one transaction: what differs between two states, looking only
// at the blocks that the transaction rewrote.
type delta struct {
	*Layout
	was      *Layout // before; another than layout where the file system grew
	old, new *State
	roles    Roles
	// image, if not nil, is what is kept of a whole file system: old is one that has nothing, and every block counts as rewritten.
	image *whole
	// leap: several commits lie between the states, so that what has become metadata need not be among what is rewritten.
	leap      bool
	rewritten map[uint32]bool // and revoked
	order     []uint32        // the same, in order

	device uint64 // size, bytes
	txn    *change.Txn
	memory *interp.MemoryBudget
	faults []change.Violation

	inodes  numberSet // to be compared
	named   numberSet // by entries that changed
	groups  numberSet // with records
	bodies  numberSet // inodes that changed beyond their first 128 bytes, or came into use
	xattrs  numberSet // extended attribute blocks to be compared
	visited *Visits
	newRole Roles           // Roles that the transaction gives
	noRole  map[uint32]Role // and takes
	dirs    map[uint32][]dirBlock
	// indirect holds the rewritten indirect blocks of an inode: the pointers above one need not be rewritten.
	indirect map[uint32][]indirectBlock
	owned    numberSet // inodes whose pointers changed
	data     []dataRun // blocks of files that become reachable
	entries  *dirDiff  // of the directory that is compared

	wasOrphans *OrphanList // nil: of an image
	orphanDiff *orphanDiff // nil: they are the same
}

// An indirectBlock is one that the transaction rewrote where it is.
type indirectBlock struct {
	level int
	start uint64
	block uint32
}

// A dirBlock is a block of a directory that the transaction rewrote.
type dirBlock struct {
	start uint64
	block uint32
}

func newDelta(was, l *Layout, device uint64, old, new *State, r Roles, rewritten map[uint32]bool, txn *change.Txn) *delta {
	return &delta{Layout: l, was: was, device: device, old: old, new: new, roles: r, rewritten: rewritten, txn: txn,
		visited: &Visits{}, newRole: make(Roles), noRole: make(map[uint32]Role), dirs: make(map[uint32][]dirBlock),
		indirect: make(map[uint32][]indirectBlock), entries: newDirDiff()}
}

func (d *delta) rewrote(block uint32) bool { return d.image != nil || d.rewritten[block] }

// rewrittenIn returns those of n blocks from first on that were rewritten.
func (d *delta) rewrittenIn(first, n uint32) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		if d.image != nil {
			for b := first; b < first+n && yield(b); b++ {
			}
			return
		}
		for i, _ := slices.BinarySearch(d.order, first); i < len(d.order) && d.order[i] < first+n && yield(d.order[i]); i++ {
		}
	}
}

// fresh tells whether a group was not there before.
func (d *delta) fresh(g uint32) bool { return d.image != nil || g >= d.was.Geo.Groups }

func (d *delta) fault(v change.Violation) {
	if len(d.faults) < maxFaults {
		d.faults = append(d.faults, v)
	}
}

// run makes all records of a transaction. An error is a block that could not be read, errTooMany, or *interp.MemoryError.
func (d *delta) run() error {
	d.order = slices.Sorted(maps.Keys(d.rewritten))
	for _, block := range d.order {
		if r, ok := d.roles[block]; ok {
			switch r.Level {
			case RoleXattr:
				d.xattrs.Add(block)
			case RoleDir:
				d.dirs[r.Ino] = append(d.dirs[r.Ino], dirBlock{uint64(r.Start), block})
				d.inodes.Add(r.Ino)
			default:
				d.indirect[r.Ino] = append(d.indirect[r.Ino], indirectBlock{int(r.Level), uint64(r.Start), block})
				d.inodes.Add(r.Ino)
			}
		}
	}
	if err := d.superblock(); err != nil {
		return err
	}
	if err := d.superCopy(); err != nil {
		return err
	}
	groups := d.touched()
	if err := d.expectTurned(groups); err != nil {
		return err
	}
	for _, g := range groups {
		if err := d.group(g); err != nil {
			return err
		}
		if err := d.tooMany(); err != nil {
			return err
		}
	}
	for ino := range d.inodes.all() {
		if err := d.inodeTree(ino); err != nil {
			return err
		}
		if err := d.tooMany(); err != nil {
			return err
		}
	}
	d.inodes.addAll(&d.named)
	if err := d.orphans(); err != nil {
		return err
	}
	for ino := range d.inodes.all() {
		if err := d.inodeFields(ino); err != nil {
			return err
		}
		if err := d.tooMany(); err != nil {
			return err
		}
	}
	for ino := range d.bodies.all() {
		if err := d.body(ino); err != nil {
			return err
		}
	}
	for block := range d.xattrs.all() {
		if err := d.xattrBlock(block); err != nil {
			return err
		}
	}
	for g := range d.groups.all() {
		if err := d.groupFields(g); err != nil {
			return err
		}
	}
	return nil
}

// touched returns the groups of which the transaction rewrote a block or the descriptor, in order. All
// of a group's metadata is in the group (see misplaced), so that the cost follows the transaction.
func (d *delta) touched() []uint32 {
	groups := make(map[uint32]bool)
	perBlock := d.Geo.PerDescBlock()
	if d.was != d.Layout {
		for g := range d.Geo.Groups { // new ones, and those in which descriptors take more room
			if d.fresh(g) || d.was.Geo.HeadBlocks(g) != d.Geo.HeadBlocks(g) {
				groups[g] = true
			}
		}
		groups[d.was.Geo.Groups-1] = true // it may have become longer
	}
	for block := range d.rewritten {
		if !d.Geo.InRange(block) {
			continue
		}
		groups[d.Geo.GroupOf(block)] = true
		if i, ok := d.Geo.DescIndex(block); ok {
			for g := i * perBlock; g < min((i+1)*perBlock, d.Geo.Groups); g++ {
				groups[g] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(groups))
}

// object appends the records of an object: the one for itself, and one for each field that changed or
// that is always told of. before and after are nil where the object does not exist.
func (d *delta) object(o change.Object, fields []change.Field, before, after func(change.Field) change.Value, always ...change.Field) {
	at := len(d.txn.Records)
	d.txn.Append(change.Record{}) // filled in below, if there is anything to tell
	for _, f := range fields {
		var r change.Record
		r.Object, r.Field = o, f
		if before != nil {
			r.Old = before(f)
		}
		if after != nil {
			r.New = after(f)
		}
		if r.Old != r.New || !r.New.IsNull() && slices.Contains(always, f) {
			d.txn.Append(r)
		}
	}
	r := change.Record{Object: o, Field: change.FieldObject}
	if before != nil {
		r.Old = change.Present
	}
	if after != nil {
		r.New = change.Present
	}
	if r.Old == r.New && len(d.txn.Records) == at+1 {
		d.txn.Records = d.txn.Records[:at]
		return
	}
	d.txn.Records[at] = r
}

func (d *delta) superblock() error {
	block := d.Geo.SuperBlock()
	if !d.rewrote(block) {
		return nil
	}
	after, err := d.new.super()
	if err != nil {
		return err
	}
	if g, err := ondisk.ParseGeometry(after, d.device); err != nil {
		d.fault(on(checkSuperblock.at(ondisk.SuperOff, "%v", err), ondisk.KindSuperblock, 0))
		return nil
	} else if changed := g.ChangedFrom(d.Geo); changed != "" {
		d.fault(on(checkSuperblock.at(ondisk.SuperOff, "%s", changed), ondisk.KindSuperblock, 0))
		return nil
	}
	o := change.Object{Kind: ondisk.KindSuperblock}
	fields := schema.Kinds[ondisk.KindSuperblock].Fields
	var before []byte
	var was func(change.Field) change.Value
	if d.image == nil {
		if before, err = d.old.super(); err != nil {
			return err
		}
		was = ondisk.SuperValue(before)
	}
	d.object(o, fields, was, ondisk.SuperValue(after))
	fault, err := d.journalCopyFault(d.new, before, after)
	if fault != nil {
		d.fault(*fault)
	}
	return err
}

func (d *delta) xattrBlock(block uint32) error {
	o := change.Object{Kind: ondisk.KindXattrBlock, ID: uint64(block)}
	value := func(b []byte) func(change.Field) change.Value {
		if ondisk.LE32(b, 0) != ondisk.XattrMagic {
			return nil
		}
		return ondisk.Values(ondisk.XattrFields, b)
	}
	var old, now func(change.Field) change.Value
	if wasRole, ok := d.roles[block]; ok && wasRole.Level == RoleXattr {
		b, err := d.old.Block(block)
		if err != nil {
			return err
		}
		old = value(b)
	}
	used, err := d.allocated(d.new, block)
	if err != nil {
		return err
	}
	switch {
	case !used && d.image != nil:
	case !used:
		d.noRole[block] = Role{Level: RoleXattr}
	default:
		b, err := d.new.Block(block)
		if err != nil {
			return err
		}
		now = value(b)
		for _, v := range d.checkXattrBlock(block, b) {
			d.fault(v)
		}
	}
	if old != nil || now != nil {
		d.object(o, schema.Kinds[ondisk.KindXattrBlock].Fields, old, now, ondisk.FieldRefcount)
	}
	return nil
}

// super returns the superblock's bytes in a state.
func (s *State) super() ([]byte, error) {
	b, err := s.Block(s.geo.SuperBlock())
	if err != nil {
		return nil, err
	}
	off := ondisk.SuperOff % s.geo.BlockSize
	return b[off : off+ondisk.SuperLen], nil
}
