package btrfs

import (
	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// FS follows one Btrfs file system through the writes to its disks. It implements interp.Interpreter.
type FS struct {
	disk  *overlay
	sizes []uint64 // of the disks
	base  *state   // as of the last commit on disk; nil while there is no file system

	after   *devices           // once the write under observation is done, if it changes them
	settle  func(written bool) // what Settle does besides forgetting the write
	judged  *judgement         // the last commit that was judged
	order   unflushed          // writes of metadata that are not durable yet
	log     *logState          // what fsync wrote since; nil if there is no log or none that can be relied on
	earlier *earlier           // what a mount would still go by; nil if that is base and log
	names   *change.Names
	found   interp.Observation // of the log that was there

	written  []writtenBlock // in the write under observation
	metadata bool           // the write last observed may hold metadata
	dataOnly bool           // it does not, and is no superblock

	coming   coming
	foretold uint64    // coming.count when a commit was last forecast
	ahead    *forecast // of the next commit; nil if there is none
	came     *forecast // the commit that is observed; nil if it was not foreseen
	writes   uint64    // how many writes changed something other than data

	limits interp.Limits
	memory *interp.MemoryBudget // for what a commit changes
	image  *interp.ImageOptions // while a whole image is read
}

var _ interp.Interpreter = (*FS)(nil)

// Owns tells whether disk i belongs to the file system, once the write under observation is done.
func (f *FS) Owns(i int) bool {
	devs := f.after
	if devs == nil && f.base != nil {
		devs = f.base.devs
	}
	return devs != nil && devs.on(interp.Address(i, 0)) != nil
}

// FS is "btrfs", or "" while the superblock is erased.
func (f *FS) FS() string {
	if f.base == nil {
		return ""
	}
	return ondisk.FSName
}

// Schema names the numbers in the records.
func (f *FS) Schema() *change.Schema {
	if f.base == nil {
		return nil
	}
	return ondisk.Schema
}

// Observe is shown a write before it is done.
func (f *FS) Observe(w interp.Write) interp.Observation {
	var obs interp.Observation
	f.found = interp.Observation{}
	f.release()
	f.disk.pending, f.settle, f.after, f.metadata, f.dataOnly = nil, nil, nil, false, false
	f.written = f.written[:0]
	f.takeBack(&w)
	if f.base != nil && !f.base.unsound && !f.givesUp(&w) {
		if err := f.checkWrite(&w); err != nil {
			f.refuseSuper(err, &obs)
			f.disk.pending, f.settle = &w, func(written bool) {
				if written && f.base != nil {
					f.base.unsound = true
				}
			}
			return obs
		}
		f.dataOnly = !f.metadata
	}
	f.disk.pending = &w
	// A mirror may lie inside a chunk of metadata, where no block is allocated.
	if j := f.judged; j != nil && !j.stale && !superAlone(w) && j.chunks.holdsMetadata(w.Off, w.Len) {
		j.stale = true
	}
	if w.Len == 0 {
		return obs
	}
	disk, _ := interp.Locate(w.Off)
	for _, off := range ondisk.SuperOffsets {
		at := interp.Address(disk, off)
		if disk < len(f.sizes) && off+ondisk.SuperSize <= f.sizes[disk] && overlap(w.Off, w.Len, at, ondisk.SuperSize) {
			if f.base != nil { // blocks in this write are read through it, not from the cache
				f.base.cache.forget(w.Off, w.Len)
			}
			f.superWrite(at, w, &obs)
			if obs.Point == interp.CommitPoint || len(obs.Violations) > 0 || obs.Unknown != nil {
				break
			}
		}
	}
	return obs
}

// release gives back the memory of the commit that was observed.
func (f *FS) release() {
	f.memory.Release()
	if f.came != nil {
		f.came.memory.Release()
		f.came = nil
	}
}

// givesUp tells whether a write takes a disk from the file system, or tries to: what it leaves of the
// primary superblock is none of ours. Then there is nothing left that needs the rest.
func (f *FS) givesUp(w *interp.Write) bool {
	disk, off := interp.Locate(w.Off)
	if !overlap(off, w.Len, ondisk.SuperOffset, ondisk.SuperSize) {
		return false
	}
	now, err := readSuper(&overlay{f.disk.Disk, w}, interp.Address(disk, ondisk.SuperOffset))
	return err == nil && (now.Magic() != ondisk.SuperMagic || now.FSID() != f.base.sb.FSID())
}

// Flushed is told that writes to a disk are durable.
func (f *FS) Flushed(disk int, seq uint64) {
	f.order.flushed(interp.Address(disk, 0), interp.Address(disk+1, 0), seq)
}

// superAlone tells whether a write is of a superblock and nothing else.
func superAlone(w interp.Write) bool {
	_, off := interp.Locate(w.Off)
	for _, at := range ondisk.SuperOffsets {
		if off >= at && off < at+ondisk.SuperSize && w.Len <= at+ondisk.SuperSize-off {
			return true
		}
	}
	return false
}

// Settle says what became of the write last observed.
func (f *FS) Settle(written bool) {
	w := f.disk.pending
	f.disk.pending = nil
	f.release()
	if w == nil {
		return
	}
	switch {
	case f.base == nil:
	case written:
		f.keepWritten(w)
	default:
		f.base.cache.forget(w.Off, w.Len)
	}
	if !f.dataOnly {
		f.writes++
	}
	if f.metadata && written && w.Seq != 0 {
		f.order.add(w.Off, w.Len, w.Seq)
	}
	if f.settle != nil {
		f.settle(written)
		f.settle = nil
	}
	f.after = nil
}
