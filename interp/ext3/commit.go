package ext3

import (
	"errors"
	"io"
	"iter"
	"maps"
	"slices"

	"fsward/change"
	"fsward/interp"
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
	layout *layout           // after it
	delta  *delta            // nil if a fault or an error kept it from being begun
	fault  *change.Violation // of the group descriptors of a file system that grows
	err    error
}

// compare makes the change records of a transaction: old is the state before it, and its copies are read from dev.
func (m *mounted) compare(t *transaction, old *state, dev io.ReaderAt, size uint64, names *change.Names, room *interp.MemoryBudget) comparison {
	c := comparison{t: t}
	rewritten := make(map[uint32]bool, len(t.copies)+len(t.revoked))
	for b := range t.copies {
		rewritten[b] = true
	}
	for b := range t.revoked {
		if b < m.layout.geo.blocks {
			rewritten[b] = true
		}
	}
	after := old.with(dev, t)
	c.layout, c.fault, c.err = m.grown(after, t, size)
	if c.fault != nil || c.err != nil {
		return c
	}
	txn := &change.Txn{Schema: schema, Generation: uint64(t.seq), Names: names, Records: make([]change.Record, 0, m.expected)}
	c.delta = newDelta(m.layout, c.layout, size, old, after, m.roles, rewritten, txn)
	c.delta.wasOrphans, c.delta.memory = m.orphans, room
	if c.err = c.delta.run(); c.err == nil {
		c.err = m.roles.check(len(c.delta.newRole), m.most)
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

// follow makes what the blocks are used for what a delta found.
func (m *mounted) follow(d *delta) {
	n := len(d.txn.Records)
	m.expected = min(n+n/4, maxExpected)
	for b, r := range d.noRole {
		if r.level == roleXattr || m.roles[b] == r {
			delete(m.roles, b)
		}
	}
	if d.orphanDiff != nil {
		m.orphans.apply(d.orphanDiff)
	}
	for b, r := range d.newRole {
		m.roles[b] = r
	}
}

// A delta makes the change records of one transaction: what differs between two states, looking only
// at the blocks that the transaction rewrote.
type delta struct {
	*layout
	was      *layout // before; another than layout where the file system grew
	old, new *state
	roles    roles
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
	visited *visits
	newRole roles           // roles that the transaction gives
	noRole  map[uint32]role // and takes
	dirs    map[uint32][]dirBlock
	// indirect holds the rewritten indirect blocks of an inode: the pointers above one need not be rewritten.
	indirect map[uint32][]indirectBlock
	owned    numberSet // inodes whose pointers changed
	data     []dataRun // blocks of files that become reachable
	entries  *dirDiff  // of the directory that is compared

	wasOrphans *orphanList // nil: of an image
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

func newDelta(was, l *layout, device uint64, old, new *state, r roles, rewritten map[uint32]bool, txn *change.Txn) *delta {
	return &delta{layout: l, was: was, device: device, old: old, new: new, roles: r, rewritten: rewritten, txn: txn,
		visited: &visits{}, newRole: make(roles), noRole: make(map[uint32]role), dirs: make(map[uint32][]dirBlock),
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
func (d *delta) fresh(g uint32) bool { return d.image != nil || g >= d.was.geo.groups }

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
			switch r.level {
			case roleXattr:
				d.xattrs.add(block)
			case roleDir:
				d.dirs[r.ino] = append(d.dirs[r.ino], dirBlock{uint64(r.start), block})
				d.inodes.add(r.ino)
			default:
				d.indirect[r.ino] = append(d.indirect[r.ino], indirectBlock{int(r.level), uint64(r.start), block})
				d.inodes.add(r.ino)
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
	perBlock := d.geo.perDescBlock()
	if d.was != d.layout {
		for g := range d.geo.groups { // new ones, and those in which descriptors take more room
			if d.fresh(g) || d.was.geo.headBlocks(g) != d.geo.headBlocks(g) {
				groups[g] = true
			}
		}
		groups[d.was.geo.groups-1] = true // it may have become longer
	}
	for block := range d.rewritten {
		if !d.geo.inRange(block) {
			continue
		}
		groups[d.geo.groupOf(block)] = true
		if i, ok := d.geo.descIndex(block); ok {
			for g := i * perBlock; g < min((i+1)*perBlock, d.geo.groups); g++ {
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

// columns reads the fields of a table from a structure's bytes.
func columns(table []column, b []byte) func(change.Field) change.Value {
	return func(f change.Field) change.Value {
		for _, c := range table {
			if c.field == f {
				return change.Num(c.get(b))
			}
		}
		return change.Value{}
	}
}

func superValue(sb []byte) func(change.Field) change.Value {
	get := columns(superColumns, sb)
	return func(f change.Field) change.Value {
		dynamic := le32(sb, sRevLevel) > 0
		switch {
		case f == fieldRecover:
			return change.Bit(needsRecovery(sb))
		case f == fieldJournalUUID: // the first of four parts
			return change.Num(uint64(le32(sb, sJournalUUID)))
		case f == fieldHashSeedLow:
			return change.Num(uint64(le32(sb, sHashSeed)) | uint64(le32(sb, sHashSeed+4))<<32)
		case f == fieldHashSeedHigh:
			return change.Num(uint64(le32(sb, sHashSeed+8)) | uint64(le32(sb, sHashSeed+12))<<32)
		case f == fieldHashFlags:
			return change.Num(uint64(le32(sb, sFlags) & (flagSignedHash | flagUnsignedHash)))
		case f == fieldFirstIno && !dynamic: // EXT2_GOOD_OLD_FIRST_INO, EXT2_GOOD_OLD_INODE_SIZE
			return change.Num(oldFirstIno)
		case f == fieldInodeSize && !dynamic:
			return change.Num(inodeLen)
		}
		return get(f)
	}
}

func (d *delta) superblock() error {
	block := d.geo.superBlock()
	if !d.rewrote(block) {
		return nil
	}
	after, err := d.new.super()
	if err != nil {
		return err
	}
	if g, err := readGeometry(after, d.device); err != nil {
		d.fault(on(checkSuperblock.at(superOff, "%v", err), kindSuperblock, 0))
		return nil
	} else if changed := g.changedFrom(d.geo); changed != "" {
		d.fault(on(checkSuperblock.at(superOff, "%s", changed), kindSuperblock, 0))
		return nil
	}
	o := change.Object{Kind: kindSuperblock}
	fields := schema.Kinds[kindSuperblock].Fields
	var before []byte
	var was func(change.Field) change.Value
	if d.image == nil {
		if before, err = d.old.super(); err != nil {
			return err
		}
		was = superValue(before)
	}
	d.object(o, fields, was, superValue(after))
	fault, err := d.journalCopyFault(d.new, before, after)
	if fault != nil {
		d.fault(*fault)
	}
	return err
}

func (d *delta) xattrBlock(block uint32) error {
	o := change.Object{Kind: kindXattrBlock, ID: uint64(block)}
	value := func(b []byte) func(change.Field) change.Value {
		if le32(b, 0) != xattrMagic {
			return nil
		}
		return columns(xattrColumns, b)
	}
	var old, now func(change.Field) change.Value
	if wasRole, ok := d.roles[block]; ok && wasRole.level == roleXattr {
		b, err := d.old.block(block)
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
		d.noRole[block] = role{level: roleXattr}
	default:
		b, err := d.new.block(block)
		if err != nil {
			return err
		}
		now = value(b)
		for _, v := range d.checkXattrBlock(block, b) {
			d.fault(v)
		}
	}
	if old != nil || now != nil {
		d.object(o, schema.Kinds[kindXattrBlock].Fields, old, now, fieldRefcount)
	}
	return nil
}

// super returns the superblock's bytes in a state.
func (s *state) super() ([]byte, error) {
	b, err := s.block(s.geo.superBlock())
	if err != nil {
		return nil, err
	}
	off := superOff % s.geo.blockSize
	return b[off : off+superLen], nil
}
