package volume

import (
	"fmt"

	"fsward/change"
	"fsward/interp"
)

// A UseFunc reads what the file system on a volume claims: see ReadUse.
type UseFunc func(volume interp.Disk) Use

// Tables is the interpreter of the tables on the disks of a guest. The commit point is the write
// that changes the map: the one that completes a GPT with right checksums, the sector of an MBR or
// of its chain, the label of a PV, the header of a metadata area of LVM. Until then the old map
// stays.
type Tables struct {
	disk   interp.Disk
	use    UseFunc
	states []*diskState
	m      *Map
	next   *nextTables // of the write under observation; nil: it changes nothing
	number uint64      // of changes so far
	// held has what the file systems claimed before the first write to a table that is not whole yet.
	// Such a write can take their superblocks with it. It is nil at other times.
	held map[volumeKey]Use
}

// nextTables is the state after the write under observation.
type nextTables struct {
	disk    int
	state   *diskState
	m       *Map
	commits bool
	uses    map[volumeKey]Use // of the volumes before the write
}

// NewTables reads the tables on the disks of d. An error is that of a read.
func NewTables(d interp.Disk, use UseFunc) (*Tables, error) {
	t := &Tables{disk: d, use: use}
	for i, size := range interp.Sizes(d) {
		s, err := readDisk(d, i, size, nil)
		if err != nil {
			return nil, err
		}
		t.states = append(t.states, s)
	}
	t.m = assemble(t.states)
	return t, nil
}

// Map returns the map without the write under observation.
func (t *Tables) Map() *Map { return t.m }

// Next returns the map as it is once the write under observation has landed: Map if it changes
// nothing.
func (t *Tables) Next() *Map {
	if t.next == nil {
		return t.m
	}
	return t.next.m
}

// FS returns "volume".
func (t *Tables) FS() string { return schema.FS }

// Schema returns the schema of tables.
func (t *Tables) Schema() *change.Schema { return schema }

// Observe judges a write before it is done. The Observation is a CommitPoint if the write changes
// what the tables say.
func (t *Tables) Observe(w interp.Write) interp.Observation {
	t.next = nil
	// A discard leaves undefined bytes, until something is written there.
	if w.Discard || !t.m.Concerns(w.Off, w.Len) ||
		!touches(t.m.fixed, w.Off, w.Len) && !mayAppear(w) {
		return interp.Observation{}
	}
	disk, off := interp.Locate(w.Off)
	old := t.states[disk]
	after := &writtenDisk{t.disk, w}
	state, err := readDisk(after, disk, old.whole.size, old)
	if err != nil {
		return interp.Observation{Unknown: err}
	}
	state.follow(old)
	if check, reason, at := state.writeFault(old, off, w.Len); check != "" {
		return interp.Observation{Violations: []change.Violation{violation(check, reason,
			interp.Address(disk, at))}}
	}
	states := append([]*diskState(nil), t.states...)
	states[disk] = state
	t.next = &nextTables{disk: disk, state: state, m: assemble(states), uses: t.usesNow()}
	c := comparison{oldMap: t.m, m: t.next.m, old: t.states, states: states, uses: t.next.uses}
	txn, view := c.records(after, t.use)
	if len(txn.Records) == 0 {
		return interp.Observation{}
	}
	t.next.commits = true
	txn.Generation = t.number + 1
	return interp.Observation{Point: interp.CommitPoint, Generation: txn.Generation, Txn: txn,
		View: view}
}

// Settle ends the write last observed.
func (t *Tables) Settle(written bool) {
	if n := t.next; n != nil && written {
		n.state.rebase(t.disk)
		t.states[n.disk], t.m, t.held = n.state, n.m, nil
		if n.state.watched != nil {
			t.held = n.uses
		}
		if n.commits {
			t.number++
		}
	}
	t.next = nil
}

// Flushed notes that the writes to a disk are durable. A tool flushes at its end: its writes need
// not agree with those of a later tool.
func (t *Tables) Flushed(disk int, _ uint64) {
	if disk < len(t.states) {
		t.states[disk].changed = [2]bool{}
	}
}

// mayAppear reports whether a write has a sector with the signature of a table or of a label.
func mayAppear(w interp.Write) bool {
	if w.Data == nil {
		return false
	}
	if w.Off%sector != 0 || w.Len%sector != 0 {
		return true
	}
	for b := w.Data; len(b) >= sector; b = b[sector:] {
		if b[mbrSignature] == 0x55 && b[mbrSignature+1] == 0xaa || string(b[:8]) == labelMagic ||
			string(b[:8]) == gptMagic {
			return true
		}
	}
	return false
}

// usesNow returns the present Use of each volume.
func (t *Tables) usesNow() map[volumeKey]Use {
	if t.held != nil {
		return t.held
	}
	uses := make(map[volumeKey]Use, len(t.m.Volumes))
	for i := range t.m.Volumes {
		uses[t.m.Volumes[i].key()] = t.m.useOf(t.disk, i, t.use)
	}
	return uses
}

// comparison is two states to compare.
type comparison struct {
	oldMap, m   *Map
	old, states []*diskState
	uses        map[volumeKey]Use // of the volumes of oldMap
}

// records returns the records that lead from the old state to the new one, and a view of the
// latter. A volume that goes on has the Use that it had: a write to a file system is no change of a
// table. That of a new volume is read from d.
func (c *comparison) records(d interp.Disk, use UseFunc) (*change.Txn, change.View) {
	txn := &change.Txn{Schema: schema, Names: change.NewNames()}
	from, kept := c.m.Carry(c.oldMap)
	oldUses, uses := make([]Use, len(c.oldMap.Volumes)), make([]Use, len(c.m.Volumes))
	sizes := make([]uint64, len(c.oldMap.Volumes))
	for i := range oldUses {
		sizes[i], oldUses[i] = c.oldMap.Volumes[i].Size, c.uses[c.oldMap.Volumes[i].key()]
	}
	for i, at := range from {
		if at >= 0 {
			uses[i] = oldUses[at]
		} else {
			uses[i] = c.m.useOf(d, i, use)
		}
	}
	before := &rows{names: txn.Names}
	before.describe(c.old, c.oldMap)
	before.addVolumes(c.oldMap, oldUses, labelsOf(c.oldMap), sizes)
	before.sort()
	after := &rows{names: txn.Names}
	after.describe(c.states, c.m)
	after.addVolumes(c.m, uses, carriedLabels(c.m, c.oldMap, from), kept)
	after.sort()
	difference(txn, before.all, after.all)
	return txn, &rowView{after.all}
}

// useOf returns the Use of a volume.
func (m *Map) useOf(d interp.Disk, v int, use UseFunc) Use {
	if m.Volumes[v].Unguarded != "" || m.Volumes[v].Size == 0 {
		return Use{}
	}
	return use(m.Content(d, v))
}

func labelsOf(m *Map) []string {
	labels := make([]string, len(m.Volumes))
	for i := range labels {
		labels[i] = m.Volumes[i].Path
	}
	return labels
}

// carriedLabels returns the identifiers of the volumes of m: the old ones of volumes that were
// there before. A new volume never has the identifier of one that goes.
func carriedLabels(m, oldMap *Map, from []int) []string {
	old := labelsOf(oldMap)
	labels := make([]string, len(m.Volumes))
	taken, tries := map[string]bool{}, map[string]int{}
	key := func(id uint64, label string) string { return fmt.Sprint(id, label) }
	for i, label := range old {
		taken[key(oldMap.Volumes[i].idOf(), label)] = true
	}
	for i, at := range from {
		if at >= 0 {
			labels[i] = old[at]
		}
	}
	for i, at := range from {
		if at < 0 {
			id, path := m.Volumes[i].idOf(), m.Volumes[i].Path
			own := key(id, path) // metadata can give any number of volumes the same path
			for labels[i] = path; taken[key(id, labels[i])]; tries[own]++ {
				labels[i] = path + newLabel(tries[own])
			}
			taken[key(id, labels[i])] = true
		}
	}
	return labels
}

// newLabel returns what distinguishes a new volume from others of its path; tries were taken.
func newLabel(tries int) string {
	if tries == 0 {
		return " (new)"
	}
	return fmt.Sprintf(" (new %d)", tries+1)
}

// writtenDisk is a set of disks after a write.
type writtenDisk struct {
	interp.Disk
	w interp.Write
}

// Sizes returns the sizes of the disks in bytes.
func (d *writtenDisk) Sizes() []uint64 { return interp.Sizes(d.Disk) }

// DiskSize returns the size of disk i in bytes.
func (d *writtenDisk) DiskSize(i int) uint64 { return interp.Sub(d.Disk, i).Size() }

func (d *writtenDisk) ReadAt(p []byte, off int64) (int, error) {
	n, err := d.Disk.ReadAt(p, off)
	start := uint64(off)
	lo, hi := max(start, d.w.Off), min(start+uint64(n), d.w.Off+d.w.Len)
	if off < 0 || lo >= hi {
		return n, err
	}
	if d.w.Data == nil {
		clear(p[lo-start : hi-start])
	} else {
		copy(p[lo-start:hi-start], d.w.Data[lo-d.w.Off:hi-d.w.Off])
	}
	return n, err
}

// ImageWith describes the tables on the disks of d as one transaction of additions.
func ImageWith(d interp.Disk, use UseFunc) (interp.Observation, error) {
	t, err := NewTables(d, use)
	if err != nil {
		return interp.Observation{}, err
	}
	for _, s := range t.states {
		s.changed = [2]bool{true, true}
	}
	c := comparison{oldMap: &Map{}, m: t.m, states: t.states}
	txn, view := c.records(d, use)
	obs := interp.Observation{Point: interp.CommitPoint, Txn: txn, View: view}
	for _, s := range t.states {
		if check, reason, at := s.writeFault(&diskState{}, 0, s.whole.size); check != "" {
			obs.Violations = append(obs.Violations, violation(check, reason,
				interp.Address(s.whole.disk, at)))
		}
	}
	return obs, nil
}

var _ interp.Interpreter = (*Tables)(nil)
