package btrfs

import (
	"slices"

	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// flushedDisks are the disks that the guest has flushed in the running transaction: after the first
// metadata block that it has written since the last superblock. The kernel flushes all disks before
// it writes the first superblock (barrier_all_devices). btrfs-progs flush each disk before its own
// superblock (write_dev_supers), so that the other disks lag.
type flushedDisks struct {
	began bool     // a metadata block was written since the last superblock
	disks []uint64 // the device addresses of their first bytes
}

// flushed notes that the guest has flushed the disk that begins at a device address.
func (f *flushedDisks) flushed(start uint64) {
	if !slices.Contains(f.disks, start) {
		f.disks = append(f.disks, start)
	}
}

// settled notes what a write means for the running transaction. A commit ends it, also if it was
// refused. So does each copy of the superblock: before that of a disk, btrfs-progs flush blocks of
// the same transaction to it that nothing leads to, and after it they flush the superblock.
func (f *flushedDisks) settled(p *pendingWrite, written bool) {
	switch {
	case p.write.Trial:
	case p.next.commit != nil || written && superAlone(*p.write):
		f.began = false
	case written && p.metadata && !f.began:
		f.began, f.disks = true, f.disks[:0]
	}
}

// has reports whether the disk that begins at a device address was flushed in the running
// transaction.
func (f *flushedDisks) has(start uint64) bool { return f.began && slices.Contains(f.disks, start) }

// Lagging returns the disks that the guest has not flushed in the running transaction, if the write
// is the superblock of the next commit on another disk. There are none if that disk was not flushed
// either, although blocks were written: such a guest does not order its writes. If no block was
// written, the guard may have started meanwhile, and the superblock comes again.
func (f *FS) Lagging(w interp.Write) []int {
	if f.base == nil || len(f.base.devs.list) < 2 || !f.beginsCommit(&w) {
		return nil
	}
	own := w.Off - w.Off%interp.DiskStride
	if f.flushes.began && !f.flushes.has(own) {
		return nil
	}
	var lag []int
	for i := range f.base.devs.list {
		if start := f.base.devs.list[i].start; start != own && !f.flushes.has(start) {
			disk, _ := interp.Locate(start)
			lag = append(lag, disk)
		}
	}
	slices.Sort(lag)
	return lag
}

// beginsCommit reports whether a write is a whole superblock of this file system with a newer
// generation than that of the last commit.
func (f *FS) beginsCommit(w *interp.Write) bool {
	if len(w.Data) != ondisk.SuperSize || !superAlone(*w) {
		return false
	}
	sb := ondisk.NewSuperblock((*[ondisk.SuperSize]byte)(w.Data))
	return sb.Magic() == ondisk.SuperMagic && sb.FSID() == f.base.sb.FSID() &&
		sb.Generation() > f.base.sb.Generation()
}
