package model

import "maps"

// A disk records which versions of names, attributes and contents are promised to be durable.
type disk struct {
	promises Promises
	volatile bool // operations make nothing durable

	// The moments since which all metadata (names, modes, attributes) and all contents are durable.
	// A crash may leave the version of this moment or a later one, but no earlier one.
	meta, data int
}

// Synced makes everything durable, as sync(2), syncfs(2) and an unmount do. It drops the history.
func (f *FS) Synced() { f.disk.sync(&f.tree, f.now) }

// ApplyVolatile is Apply of an operation that has not returned yet: its effects need not be
// durable. To ask what a crash during an operation may leave, apply it to a copy of f with
// ApplyVolatile, and call Allowed of the copy.
func (f *FS) ApplyVolatile(o Op) Result {
	f.disk.volatile = true
	defer func() { f.disk.volatile = false }()
	return f.Apply(o)
}

// syncCall is sync(2) or syncfs(2).
func (d *disk) syncCall(t *tree, now int) {
	if !d.promises.NoSync {
		d.sync(t, now)
	}
}

// fsync is fsync(2), or with dataOnly fdatasync(2), of inode i.
func (v *volume) fsync(i int, dataOnly bool) {
	if !v.disk.volatile {
		v.disk.fsync(&v.tree, i, v.now, dataOnly)
	}
}

// synced makes what an operation has written durable, as O_SYNC, or with dataOnly O_DSYNC, does. If
// other data of the file is not durable, it stays so: generic_write_sync writes back the range
// alone, as POSIX says of "synchronized I/O data integrity completion" of a write (3.384).
// "As though each write(2) was followed by a call to fsync(2)" (open(2)) is true of the rest.
func (d *disk) synced(t *tree, i int, o Op, now int, dataOnly bool) {
	if d.volatile {
		return
	}
	n := t.inodes[i]
	last := len(n.data) - 1
	end, isNew := o.Off+o.Len, n.data[last].at == now
	before := n.dataAt
	rest := isNew && last > 0 && n.data[last-1].at > d.dataSince(n) &&
		(o.Off > 0 || end < n.data.now().size)
	d.fsync(t, i, now, dataOnly)
	if rest && n.dataAt == now {
		n.dataAt = before
		d.msync(n, o.Off, end, now)
	}
}

// sync makes all inodes and names of a tree durable, and drops their histories.
func (d *disk) sync(t *tree, now int) {
	if d.volatile {
		return
	}
	d.meta, d.data = now, now
	for _, n := range t.inodes {
		n.attrs = n.attrs.since(now)
		n.data, n.ranges = n.data.since(now), nil
		for _, e := range n.names {
			e.history = e.since(now)
		}
		maps.DeleteFunc(n.names, func(_ string, e *name) bool { return e.now() == 0 })
	}
	t.collect()
}

// fsync makes inode i durable, with everything that the promises of the file system add.
func (d *disk) fsync(t *tree, i, now int, dataOnly bool) {
	n := t.inodes[i]
	if i != root && n.isRemoved() && !d.promises.Ordered {
		return
	}
	unchanged := d.isUnchanged(n)
	n.dataAt = now
	if dataOnly {
		// Reading the data needs the size. In an ordered file system, a durable change of size
		// makes all earlier changes durable.
		if d.promises.Ordered && !d.promises.FsyncAlone {
			d.meta = max(d.meta, n.sized)
		}
		return
	}
	n.meta, n.stored = now, now
	if d.promises.Ordered && !d.promises.FsyncAlone {
		d.meta = max(d.meta, n.changed)
	}
	if unchanged {
		return
	}
	if d.promises.FsyncNames {
		t.keepNames(i, now)
	}
	if d.promises.FsyncEntries && n.kind == Dir {
		t.keepEntries(n, now)
	}
}

// isUnchanged reports whether an inode is durable as it is. fsync then does nothing more, also if a
// directory above it was renamed, or one below it has new files.
func (d *disk) isUnchanged(n *inode) bool {
	written := n.kind == File && n.data[len(n.data)-1].at > d.dataSince(n)
	return n.changed <= d.metaSince(n) && !written
}

// msync makes the content of a range of a file durable, with the size that reading it needs.
func (d *disk) msync(n *inode, off, end uint64, now int) {
	n.ranges = append(n.ranges, syncedRange{off, end, now})
	if d.promises.Ordered && !d.promises.FsyncAlone {
		d.meta = max(d.meta, n.sized)
	}
}

// keepEntries makes the inodes durable that have names in a directory, as they were created, and in
// turn the names in those that are directories. One that fdatasync has logged is not new any more
// (need_log_inode). A subvolume has a log of its own.
func (t *tree) keepEntries(dir *inode, now int) {
	for _, e := range dir.names {
		n := t.inodes[e.now()]
		if n == nil || n.meta >= n.born || t.isVolume(e.now()) {
			continue
		}
		n.meta = n.born
		if n.kind == Dir && n.dataAt < n.born {
			n.stored = now
			t.keepEntries(n, now)
		}
	}
}

// keepNames makes the names of an inode durable, and its directories up to that of the subvolume,
// as they were created. Nobody asked for a later mode or attribute of theirs: Btrfs logs only new
// directories above a file (btrfs_log_new_ancestors).
func (t *tree) keepNames(i, now int) {
	n := t.inodes[i]
	n.named = now
	if t.isVolume(i) {
		return
	}
	for d, parent := range t.inodes {
		here := false
		for _, e := range parent.names {
			if e.now() == i {
				e.stored, here = now, true
			}
		}
		if here {
			parent.meta = max(parent.meta, parent.born)
			t.keepNames(d, now)
		}
	}
}

// metaSince returns the moment since which the metadata of an inode are durable.
func (d *disk) metaSince(n *inode) int { return max(d.meta, n.meta) }

// nameSince returns the moment since which a name in a directory is durable.
func (d *disk) nameSince(dir *inode, e *name) int { return max(d.meta, dir.stored, e.stored) }

// dataSince returns the moment since which a file's content is durable, whatever the metadata are.
func (d *disk) dataSince(n *inode) int { return max(d.data, n.dataAt) }

// sizeSince returns the moment since which a file's size is durable, if all metadata up to the
// moment meta are. Changes by truncate(2) and fallocate(2) are durable with the metadata. A call
// that leaves the size alone promises nothing of earlier writes that extended the file.
func (d *disk) sizeSince(n *inode, meta int) int {
	since := d.dataSince(n)
	for i, v := range n.data {
		if v.meta && v.at <= meta && (i == 0 || v.value.size != n.data[i-1].value.size) {
			since = max(since, v.at)
		}
	}
	return since
}

// sectorSince returns the moment since which a range of a file's content is durable, if all
// metadata up to the moment meta are. With truncate(2) and fallocate(2), only their changes of the
// range are durable, as far as they are ordered: earlier writes to it need not be on the disk.
func (d *disk) sectorSince(n *inode, meta int, off, end uint64) int {
	since := d.dataSince(n)
	for i, v := range n.data {
		if v.meta && v.at <= meta &&
			(i == 0 || v.by.orders(off, end) && v.value.differs(n.data[i-1].value, off, end)) {
			since = max(since, v.at)
		}
	}
	for _, r := range n.ranges {
		if r.off < end && off < r.end { // a sector is written as a whole
			since = max(since, r.at)
		}
	}
	return since
}

// isDurable reports whether an inode itself is promised to be durable. If not, a name that refers
// to it may be missing after a crash.
func (d *disk) isDurable(n *inode) bool {
	since := max(d.metaSince(n), n.dataAt)
	for _, r := range n.ranges {
		since = max(since, r.at)
	}
	return since >= n.born
}
