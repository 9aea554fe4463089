package guard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/detect"
)

// The values of --unguarded.
const (
	UnguardedPass   = "pass"
	UnguardedRefuse = "refuse"
)

// UnguardedNames lists the values of --unguarded.
var UnguardedNames = []string{UnguardedPass, UnguardedRefuse}

// The states of a volume, in events and in the status. An unguarded volume has "unguarded: " and
// the reason, and a degraded one "degraded: " and the devices that are missing.
const (
	StateGuarded         = "guarded"
	StateBaselinePending = "baseline pending"
	StateBaselineFailed  = "baseline failed"
	StateBlank           = "blank"
	stateUnguarded       = "unguarded: "
	stateDegraded        = "degraded: "
)

// guardedVolume is a volume of the guest's disks with what the guard knows of it.
type guardedVolume struct {
	number     int    // among the volumes of the interpreter
	guard      *Guard // of the disk of its first byte
	unverified atomic.Pointer[unverified]
	snapshot   atomic.Pointer[snapshot]      // the state that a baseline check reads; nil: none runs
	baseline   atomic.Pointer[baselineCheck] // the last check of its file system; nil: there was none
	state      atomic.Pointer[detect.VolumeState]
	counts     counter
	passed     atomic.Uint64 // writes that passed while the volume was not guarded
}

// path returns the name of the volume on its disk: "" for the whole disk.
func (v *guardedVolume) path() string { return v.state.Load().Path }

// address returns a write with its address among the volumes. off is the offset in v, which may be
// nil: the write is to a disk without volumes.
func (v *guardedVolume) address(w interp.Write, off uint64) interp.Write {
	if v != nil {
		w.Off = interp.Address(v.number, off)
	}
	return w
}

// keep copies what a write is about to replace, for the check of a baseline. off is the offset in
// the volume. v may be nil.
func (v *guardedVolume) keep(w interp.Write, off uint64) {
	if v == nil {
		return
	}
	if s := v.snapshot.Load(); s != nil {
		s.keep(v.address(w, off))
	}
}

// countPassed counts a write that was not judged because the volume is not guarded. v may be nil.
func (v *guardedVolume) countPassed() {
	if v != nil && v.state.Load().FS == "" {
		v.passed.Add(1)
	}
}

// text returns the state of the volume in words.
func (v *guardedVolume) text() string {
	s := v.state.Load()
	u, c := v.unverified.Load(), v.baseline.Load()
	switch {
	case u != nil:
		return u.String()
	case s.FS == "" && s.Reason != "":
		return stateUnguarded + s.Reason
	case s.FS == "":
		return StateBlank
	case c == nil:
		return guardedText(s)
	}
	switch p := c.Status(); {
	case c.lastFailed():
		return StateBaselineFailed
	case p.Phase == PhaseDone && p.Verdict == change.Violated.String():
		return StateBaselineFailed
	case p.Phase != PhaseDone && p.Phase != PhaseInterrupted:
		return StateBaselinePending
	}
	return guardedText(s)
}

// guardedText returns the state of a volume whose commits are judged.
func guardedText(s *detect.VolumeState) string {
	if s.Lost != "" {
		return stateDegraded + s.Lost + " is missing"
	}
	return StateGuarded
}

// A volumeTable has the volumes of the guest's disks by number. It changes while no write is being
// performed, and may be read at any time. A nil volumeTable is empty.
type volumeTable struct {
	list atomic.Pointer[[]*guardedVolume] // nil where there is no volume
}

// at returns a volume by its number; nil if there is none.
func (t *volumeTable) at(i int) *guardedVolume {
	if t == nil || i < 0 {
		return nil
	}
	if list := t.list.Load(); list != nil && i < len(*list) {
		return (*list)[i]
	}
	return nil
}

// all returns the volumes in the order of their numbers.
func (t *volumeTable) all() []*guardedVolume {
	list := t.list.Load()
	if list == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(*list), func(v *guardedVolume) bool { return v == nil })
}

// guarded returns the first volume with a guarded file system; nil if there is none.
func (t *volumeTable) guarded() *guardedVolume {
	if t == nil {
		return nil
	}
	for _, v := range t.all() {
		if v.state.Load().FS != "" {
			return v
		}
	}
	return nil
}

// put makes each value of a map the volume with the number of its key; nil: there is none. However
// many volumes change, it copies the table once.
func (t *volumeTable) put(volumes map[int]*guardedVolume) {
	if len(volumes) == 0 {
		return
	}
	var list []*guardedVolume
	if old := t.list.Load(); old != nil {
		list = slices.Clone(*old)
	}
	for i, v := range volumes {
		if i >= len(list) {
			list = append(list, make([]*guardedVolume, i+1-len(list))...)
		}
		list[i] = v
	}
	t.list.Store(&list)
}

// addVolumes notes volumes that the interpreter has found, and reports what is on each.
func (d *Disks) addVolumes(numbers []int) {
	fresh := make(map[int]*guardedVolume, len(numbers))
	for _, i := range numbers {
		state := d.layout.State(i)
		d.rules.Prepare(state.FS)
		v := &guardedVolume{number: i, guard: d.disks[state.Disk].guard}
		v.state.Store(&state)
		fresh[i] = v
	}
	d.volumes.put(fresh)
	for _, i := range numbers {
		fresh[i].guard.attached(context.Background(), fresh[i], d.layout.Found(i))
	}
}

// settled follows what a write has changed in the volumes. It is called while the write is being
// performed, after it has landed.
func (d *Disks) settled() {
	changes := d.layout.Changes()
	gone := make(map[int]*guardedVolume, len(changes.Gone))
	for _, i := range changes.Gone {
		if c := d.volumes.at(i).baseline.Load(); c != nil {
			c.stop()
		}
		gone[i] = nil
	}
	d.volumes.put(gone)
	for _, v := range d.volumes.all() {
		if state := d.layout.State(v.number); state != *v.state.Load() {
			d.rules.Prepare(state.FS)
			v.state.Store(&state)
		}
	}
	d.addVolumes(changes.Fresh)
	for _, i := range changes.Fresh {
		if d.cfg.Verify && d.volumes.at(i).baseline.Load() == nil {
			d.beginBaseline(i, true)
		}
	}
}

// volumeOf returns the volumes of the file system on a volume.
func (d *Disks) volumeOf(number int) (own []*guardedVolume) {
	for _, i := range d.layout.Members(number) {
		if v := d.volumes.at(i); v != nil {
			own = append(own, v)
		}
	}
	return own
}

// required returns an error if one of some file systems is not guarded on any volume, and there is
// no blank volume on which it could appear.
func (t *volumeTable) required(systems []string) error {
	var found []string
	for _, v := range t.all() {
		s := v.state.Load()
		if s.FS == "" && s.Reason == "" {
			return nil
		}
		found = append(found, fmt.Sprintf("%s: %s", volumeName(v.guard.name, s.Path), ContentText(s)))
	}
	for _, fs := range systems {
		guarded := slices.ContainsFunc(t.all(), func(v *guardedVolume) bool {
			return v.state.Load().FS == fs
		})
		if !guarded {
			return fmt.Errorf("--require %s: no volume with %s is guarded (%s)", fs, fs,
				strings.Join(found, "; "))
		}
	}
	return nil
}

// ContentText describes the content of a volume.
func ContentText(s *detect.VolumeState) string {
	switch {
	case s.FS != "":
		return s.FS
	case s.Reason != "":
		return stateUnguarded + s.Reason
	}
	return StateBlank
}

// volumeName returns the name of a volume with its disk.
func volumeName(disk, path string) string {
	switch {
	case path == "":
		return disk
	case disk == "":
		return path
	}
	return disk + ":" + path
}

// checkUnguarded returns an error that lists the choices if Unguarded or Require has another name.
func (c *Config) checkUnguarded() error {
	if c.Unguarded != "" && !slices.Contains(UnguardedNames, c.Unguarded) {
		return fmt.Errorf("--unguarded %q is not one of %s", c.Unguarded,
			strings.Join(UnguardedNames, ", "))
	}
	for _, fs := range c.Require {
		if names := detect.Names()[1:]; !slices.Contains(names, fs) {
			return fmt.Errorf("--require %q is not one of %s", fs, strings.Join(names, ", "))
		}
	}
	return nil
}

// FollowVolumes is detect.FollowVolumes with errors that name the image of the disk. It wraps
// interp.ErrNotFound if nothing on the volumes can be guarded.
func FollowVolumes(d interp.Disk, options detect.VolumeOptions,
	path func(i int) string) (*detect.Volumes, error) {
	v, err := detect.FollowVolumes(d, options)
	if e, ok := errors.AsType[*detect.DiskError](err); ok {
		return nil, fmt.Errorf("%s: %w", path(e.Disk), e.Err)
	}
	if err == nil {
		err = nothing(v, path)
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

// nothing returns an error if every volume holds something other than a known file system.
func nothing(v *detect.Volumes, path func(i int) string) error {
	var found []string
	for _, i := range v.Numbers() {
		s := v.State(i)
		if s.Reason == "" {
			return nil
		}
		found = append(found, volumeName(path(s.Disk), s.Path)+": "+s.Reason)
	}
	return fmt.Errorf("%s: %w (%s)", path(0), interp.ErrNotFound, strings.Join(found, "; "))
}
