package btrfs

import (
	"sync/atomic"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// FS follows one Btrfs file system through the writes to its disks. It implements
// interp.Interpreter.
type FS struct {
	trackedState
	flushes   flushedDisks
	pending   pendingWrite
	comparer  comparer
	forecasts forecaster
	found     interp.Observation // of the log that the disk held when FS attached to it
	lost      atomic.Pointer[lostText]
}

// A lostText describes the lost devices of a state.
type lostText struct {
	of   *state
	text string
}

// A trackedState is the state of the file system on the disk.
type trackedState struct {
	base       *state           // of the last commit; nil while there is no file system
	log        *logState        // of fsync since then; nil: there is no log, or it is not sound
	judged     *judgment        // of the last commit that was judged
	superseded *supersededState // the state that a mount would use; nil: it would use base and log
}

var _ interp.Interpreter = (*FS)(nil)

// Owns reports whether disk i belongs to the file system, once the write under observation has
// landed.
func (f *FS) Owns(i int) bool {
	devs := f.nextDevices()
	return devs != nil && devs.on(interp.Address(i, 0)) != nil
}

// Disks returns the disks of the file system after the write under observation.
func (f *FS) Disks() []int {
	devs := f.nextDevices()
	if devs == nil {
		return nil
	}
	return disksOf(devs.list)
}

// nextDevices returns the devices after the write under observation; nil if there are none.
func (f *FS) nextDevices() *devices {
	if devs := f.pending.next.devs; devs != nil || f.base == nil {
		return devs
	}
	return f.base.devs
}

// Lost describes the devices of the file system whose disks are missing; "" if there are none.
// It may be called after every write: the text is made once for each commit.
func (f *FS) Lost() string {
	base := f.base
	if base == nil || len(base.devs.lost) == 0 {
		return ""
	}
	known := f.lost.Load()
	if known == nil || known.of != base {
		known = &lostText{base, base.lost()}
		f.lost.Store(known)
	}
	return known.text
}

// FS returns "btrfs", or "" while the superblock is erased.
func (f *FS) FS() string {
	if f.base == nil {
		return ""
	}
	return ondisk.FSName
}

// Schema returns the names of kinds, fields and words in the change records; nil while there is no
// file system.
func (f *FS) Schema() *change.Schema {
	if f.base == nil {
		return nil
	}
	return ondisk.Schema
}

// Observe judges a write before it reaches the disk. Settle must follow.
func (f *FS) Observe(w interp.Write) interp.Observation {
	var obs interp.Observation
	f.found = interp.Observation{}
	f.release()
	f.comparer.disk.pending = nil
	f.pending.begin(&w)
	f.restoreSuperseded(&w)
	if f.base != nil && !f.base.unsound && !f.removesSuperblock(&w) {
		if err := f.checkOverwrite(&w); err != nil {
			refuse(err, &obs)
			f.comparer.disk.pending = &w
			f.pending.next = outcome{damages: true}
			return obs
		}
		f.pending.dataOnly = !f.pending.metadata
	}
	f.comparer.disk.pending = &w
	// A mirror may lie inside a chunk of metadata, where no block is allocated.
	if j := f.judged; j != nil && !j.stale && !superAlone(w) && j.chunks.holdsMetadata(w.Off, w.Len) {
		j.stale = true
	}
	if w.Len > 0 {
		f.observeSuperblocks(&w, &obs)
	}
	return obs
}

// observeSuperblocks judges each copy of the superblock that a write touches, until one makes the
// observation a commit, a violation or undecided.
func (f *FS) observeSuperblocks(w *interp.Write, obs *interp.Observation) {
	disk, _ := interp.Locate(w.Off)
	for _, off := range ondisk.SuperOffsets {
		at := interp.Address(disk, off)
		if off+ondisk.SuperSize > interp.Sub(f.comparer.disk.Disk, disk).Size() ||
			!overlap(w.Off, w.Len, at, ondisk.SuperSize) {
			continue
		}
		if f.base != nil { // the cache must not hide the blocks in this write
			f.base.cache.forget(w.Off, w.Len)
		}
		f.onSuperblockWrite(at, w, obs)
		if obs.Point == interp.CommitPoint || len(obs.Violations) > 0 || obs.Unknown != nil {
			return
		}
	}
}

// checkOverwrite checks that a write leaves the blocks of the last commit and of the last log
// commit intact. It notes the metadata that the write holds.
func (f *FS) checkOverwrite(w *interp.Write) error {
	c := overwriteCheck{disk: f.comparer.disk.Disk, base: f.base, log: f.log, write: w,
		pending: &f.pending, roots: &f.forecasts.roots}
	return c.run()
}

// Resized notes that disk i of the file system has another size now. It is called between two
// writes.
func (f *FS) Resized(i int) {
	if f.base == nil {
		return
	}
	base := *f.base
	base.devs = base.devs.resized(interp.Address(i, 0), interp.Sub(f.comparer.disk.Disk, i).Size())
	f.base = &base
}

// release returns the memory of the last observed commit to the budget.
func (f *FS) release() {
	if f.base != nil {
		f.base.cache.shrink() // grown into the memory of the commit
	}
	f.comparer.memory.Release()
	f.forecasts.Settled()
}

// removesSuperblock reports whether a write replaces the primary superblock of a disk with one that
// does not belong to this file system. The disk then leaves the file system, so that its other
// blocks need no protection.
func (f *FS) removesSuperblock(w *interp.Write) bool {
	disk, off := interp.Locate(w.Off)
	if !overlap(off, w.Len, ondisk.SuperOffset, ondisk.SuperSize) {
		return false
	}
	after := &overlay{f.comparer.disk.Disk, w}
	now, err := readSuper(after, interp.Address(disk, ondisk.SuperOffset))
	return err == nil && (now.Magic() != ondisk.SuperMagic || now.FSID() != f.base.sb.FSID())
}

// Flushed notes that the writes to a disk with numbers up to seq are durable.
func (f *FS) Flushed(disk int, seq uint64) {
	f.flushes.flushed(interp.Address(disk, 0))
	f.comparer.unflushed.flushed(interp.Address(disk, 0), interp.Address(disk+1, 0), seq)
}

// superAlone reports whether a write holds a superblock and nothing else.
func superAlone(w interp.Write) bool {
	_, off := interp.Locate(w.Off)
	for _, at := range ondisk.SuperOffsets {
		if off >= at && off < at+ondisk.SuperSize && w.Len <= at+ondisk.SuperSize-off {
			return true
		}
	}
	return false
}

// Settle ends the observation of the last write. written reports whether the write has landed on
// the disk; false means that it was refused or failed.
func (f *FS) Settle(written bool) {
	f.comparer.disk.pending = nil
	f.release()
	w := f.pending.write
	if w == nil {
		return
	}
	if !f.pending.dataOnly && !w.Trial {
		f.forecasts.writes++
	}
	f.flushes.settled(&f.pending, written)
	if written {
		if f.pending.metadata && w.Seq != 0 {
			f.comparer.unflushed.add(w.Off, w.Len, w.Seq)
		}
		f.pending.landed(&f.trackedState, f.comparer.disk)
	} else {
		f.pending.refused(&f.trackedState)
	}
	f.pending.begin(nil)
}
