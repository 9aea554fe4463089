package detect

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/volume"
)

// Volumes is the Interpreter of the disks of a guest. It follows the tables on them, and the file
// system on each volume. Its writes have addresses on the disks, and each must lie in one Run.
// Volumes have numbers: the first ones are those of the whole disks.
type Volumes struct {
	tables   *volume.Tables
	space    *space
	follower *Follower
	options  VolumeOptions

	reasons reasons
	at      int           // the volume that the last write went to, or none
	owned   bool          // that volume had a file system before the write
	table   bool          // the last write is judged as a change of a table
	next    *layout       // after the write under observation; nil: it changes no table
	reason  *string       // of the volume at, after the write under observation; nil: as before
	changes VolumeChanges // that the write last settled has made
}

// VolumeOptions say which volumes are guarded, and how Volumes treats writes to the others.
type VolumeOptions struct {
	FS     string // Auto or a name: other file systems are not guarded
	Limits interp.Limits
	// Only is the path of the one volume that is guarded, "" if all are.
	Only string
	// Refuse makes a write undecided if it goes to an unguarded volume whose content is known, or
	// if it turns a volume into one.
	Refuse bool
	// Degraded says that devices of a file system may be lost when Volumes attaches to it.
	Degraded bool
	// Require names file systems. A write that makes a volume an unsupported one of them is
	// undecided.
	Require []string
}

// VolumeChanges are the numbers of the volumes that a write has ended and begun.
type VolumeChanges struct{ Gone, Fresh []int }

// FollowVolumes attaches to the volumes on a disk, or on the disks of an interp.Set. A volume whose
// file system is not known is not guarded, and State says why. The error is a *DiskError. It wraps
// *interp.MissingDiskError if disks of a file system are missing, or *interp.CorruptError if a file
// system cannot be read.
func FollowVolumes(d interp.Disk, options VolumeOptions) (*Volumes, error) {
	tables, err := volume.NewTables(d, volume.ReadUse)
	if err != nil {
		return nil, fmt.Errorf("cannot read the tables: %w", err)
	}
	s, err := newSpace(d, tables.Map())
	if err != nil {
		return nil, err
	}
	v := &Volumes{tables: tables, space: s, options: options, reasons: make(reasons), at: none}
	v.follower = &Follower{disk: pendingDisk{Disk: s}, fs: options.FS, limits: options.Limits,
		degraded: options.Degraded}
	defer func() { v.follower.degraded = false }() // a volume that appears later is part of a whole
	for _, i := range v.Numbers() {
		if err := v.attach(i); err != nil {
			return nil, &DiskError{v.State(i).Disk, err}
		}
	}
	if len(v.follower.followed.list) > 0 {
		v.follower.at = v.follower.followed.list[0]
		return v, nil
	}
	if err := v.follower.incomplete(); err != nil {
		if e, ok := errors.AsType[*DiskError](err); ok {
			e.Disk = v.State(e.Disk).Disk
		}
		return nil, err
	}
	return v, nil
}

// attach reads what a volume holds.
func (v *Volumes) attach(i int) error {
	delete(v.reasons, i)
	if why := v.excluded(i); why != "" {
		v.reasons[i] = why
		return nil
	}
	if v.follower.ownerOf(i) != nil {
		return nil
	}
	err := v.follower.attach(i)
	if unsupported, ok := errors.AsType[*interp.UnsupportedError](err); ok {
		v.reasons[i] = unsupported.Error()
		return nil
	}
	if err == nil || errors.Is(err, interp.ErrNotFound) {
		if v.follower.ownerOf(i) == nil {
			v.reasons.set(i, describeNow(interp.Sub(&v.follower.disk, i), v.options.FS))
		}
		return nil
	}
	return err
}

// excluded returns the reason for which a volume is not guarded whatever it holds; "" if that
// depends on its content.
func (v *Volumes) excluded(i int) string {
	vol := v.space.now.Load().volume(i)
	if vol.Unguarded == "" && v.options.Only != "" && v.options.Only != vol.Path {
		return "only " + v.options.Only + " was asked for"
	}
	return vol.Unguarded
}

// FS returns the name of the file system that the write last observed went to, "volume" if it is
// judged as a change of a table, and "" if it is neither.
func (v *Volumes) FS() string {
	switch {
	case v.table:
		return v.tables.FS()
	case v.at == none:
		return ""
	}
	return v.follower.FS()
}

// Schema returns the schema of FS, nil if that is "".
func (v *Volumes) Schema() *change.Schema {
	switch {
	case v.table:
		return v.tables.Schema()
	case v.at == none:
		return nil
	}
	return v.follower.Schema()
}

// Observe passes the write to its volume. If it changes a table, the volumes change once it lands.
func (v *Volumes) Observe(w interp.Write) interp.Observation {
	l := v.space.now.Load()
	v.table, v.next, v.reason, v.changes = false, nil, nil, VolumeChanges{}
	i, at, _ := l.locate(w.Off)
	v.at, v.owned = i, false
	obs := interp.Observation{Volume: i}
	if i != none {
		inner := w
		inner.Off = at
		if l.slots[i].spans {
			inner.Seq = 0 // writes to several disks have no common order
		}
		v.owned = v.follower.ownerOf(i) != nil
		if v.excluded(i) == "" {
			obs = v.follower.Observe(inner)
		}
		obs.Volume = i
		inPlace(&obs, l.placeOf)
		if !v.owned || v.follower.ownerOf(i) == nil {
			v.unguarded(i, inner, &obs)
		}
	}
	table := v.tables.Observe(w)
	if v.tables.Next() != l.Map || table.Unknown != nil || len(table.Violations) > 0 {
		v.remap(l, table, &obs)
	}
	return obs
}

// inPlace turns the addresses of violations into those on the disks.
func inPlace(obs *interp.Observation, place func(at uint64) (addr, n uint64)) {
	if len(obs.Violations) == 0 {
		return
	}
	obs.Violations = slices.Clone(obs.Violations) // the slice belongs to the interpreter
	for k := range obs.Violations {
		if one := &obs.Violations[k]; one.HasAddr {
			if addr, n := place(one.Addr); n > 0 {
				one.Addr = addr
			}
		}
	}
}

// An UnguardedError says that a write goes to a volume that is not guarded, and why it is not.
type UnguardedError struct{ Reason string }

func (e *UnguardedError) Error() string { return "the volume is not guarded: " + e.Reason }

// unguarded completes the observation of a write to a volume that had no file system, or that the
// write takes from the one that it had.
func (v *Volumes) unguarded(i int, w interp.Write, obs *interp.Observation) {
	before := v.reasons[i]
	reason := before
	unsupported, refuses := errors.AsType[*interp.UnsupportedError](obs.Unknown)
	switch {
	case refuses && slices.Contains(v.options.Require, unsupported.FS):
		return
	case refuses:
		reason, obs.Unknown = unsupported.Error(), nil
	case v.follower.fresh != nil || v.follower.ownerOf(i) != nil:
		return // a file system that is guarded appears
	case v.excluded(i) == "" && identifies(w, interp.Sub(v.space, i).Size()):
		v.follower.disk.pending.Store(&w)
		reason = describeNow(interp.Sub(&v.follower.disk, i), v.options.FS)
		v.follower.disk.pending.Store(nil)
	}
	if reason != before {
		v.reason = &reason
		if reason != "" && obs.Unknown == nil {
			obs.Note = join(obs.Note, "not guarded: "+reason)
		}
	}
	if v.options.Refuse && certain(reason) && obs.Unknown == nil {
		obs.Unknown = &UnguardedError{reason}
	}
}

// identifies reports whether a write to a volume of size bytes can change the kind of its content.
// Magic numbers lie near its ends.
func identifies(w interp.Write, size uint64) bool {
	_, off := interp.Locate(w.Off)
	return off < superblockEnd || off+w.Len+superblockEnd > size
}

// remap completes obs, the observation of a write that changes the tables. table is the observation
// of the interpreter of the tables.
func (v *Volumes) remap(l *layout, table interp.Observation, obs *interp.Observation) {
	if len(obs.Violations) > 0 || obs.Unknown != nil {
		return
	}
	next, err := l.next(v.tables.Next())
	if err != nil {
		table.Unknown = err
	}
	if obs.Point == interp.NoPoint {
		v.table = table.Point != interp.NoPoint || table.Unknown != nil || len(table.Violations) > 0
		table.Volume, table.Note, table.Baseline = obs.Volume, obs.Note, obs.Baseline
		*obs = table
	} else {
		obs.Violations, obs.Unknown = table.Violations, table.Unknown
		if table.Txn != nil {
			obs.Logs = append(obs.Logs, interp.Part{Txn: table.Txn, View: table.View})
		}
	}
	if err != nil {
		return
	}
	v.next = next
	if what := l.difference(next); what != "" {
		obs.Remaps = true
		obs.Note = join(obs.Note, what)
	}
}

// join joins two notes, each of which may be empty.
func join(a, b string) string { return strings.Trim(a+"; "+b, "; ") }

// Settle ends the write last observed.
func (v *Volumes) Settle(written bool) {
	v.follower.Settle(written)
	v.tables.Settle(written)
	if !written {
		return
	}
	if v.reason != nil {
		v.reasons.set(v.at, *v.reason)
	}
	switch owner := v.at != none && v.follower.ownerOf(v.at) != nil; {
	case owner:
		delete(v.reasons, v.at)
	case v.owned: // the file system is gone
		v.reasons.set(v.at, describeNow(interp.Sub(v.space, v.at), v.options.FS))
	}
	if v.next != nil {
		v.apply(v.next)
	}
}

// apply makes a layout the present one.
func (v *Volumes) apply(next *layout) {
	old := v.space.now.Load()
	v.changes = VolumeChanges{}
	for i := range old.slots {
		if old.volume(i) != nil && next.volume(i) == nil {
			v.follower.drop(i)
			delete(v.reasons, i)
			v.changes.Gone = append(v.changes.Gone, i)
		}
	}
	v.space.now.Store(next)
	for i := range next.slots {
		switch was := old.volume(i); {
		case next.volume(i) == nil:
		case was == nil:
			if err := v.attach(i); err != nil {
				v.reasons[i] = "it cannot be read: " + err.Error()
			}
			v.changes.Fresh = append(v.changes.Fresh, i)
		case next.slots[i].size != old.slots[i].size:
			v.follower.resized(i)
		}
	}
}

// Changes returns which volumes the write last settled has ended and begun.
func (v *Volumes) Changes() VolumeChanges { return v.changes }

// Flushed passes on which writes to a disk are durable.
func (v *Volumes) Flushed(disk int, seq uint64) {
	v.tables.Flushed(disk, seq)
	for i, s := range v.space.now.Load().slots {
		if s.volume != none && s.disk == disk && !s.spans {
			v.follower.Flushed(i, seq)
		}
	}
}

// Accept passes the call on to the file systems that the write last settled was shown to.
func (v *Volumes) Accept() { v.follower.Accept() }

// Forecast asks the interpreter, if there is one for all volumes.
func (v *Volumes) Forecast() interp.Forecast { return v.follower.Forecast() }

// ExpectOrdered says that the guest mounts every ext3 with data=ordered: see
// Follower.ExpectOrdered.
func (v *Volumes) ExpectOrdered() { v.follower.ExpectOrdered() }

var _ interp.Interpreter = (*Volumes)(nil)
