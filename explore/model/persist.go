package model

import (
	"maps"
	"slices"
)

// A disk is what of a file system is promised to be on the disk.
type disk struct {
	promises Promises
	volatile bool // nothing that is done is kept on the disk

	// Since when the names, modes and attributes of all files, and the contents of all files, are on the
	// disk: after a crash, what was at this moment or later may be found, and nothing that was gone by then.
	meta, data int
}

// Synced puts all on the disk, as after sync(2), syncfs(2) and an unmount. What was before is
// forgotten.
func (f *FS) Synced() { f.disk.sync(&f.tree, f.now) }

// ApplyVolatile is Apply of an operation under way: nothing of it need be on the disk. A copy to which
// it was applied says what may be found after a crash before the operation returned.
func (f *FS) ApplyVolatile(o Op) Result {
	f.disk.volatile = true
	defer func() { f.disk.volatile = false }()
	return f.Apply(o)
}

// fsync is fsync(2) and fdatasync(2) of an inode.
func (f *FS) fsync(i int, dataOnly bool) {
	if !f.disk.volatile {
		f.disk.fsync(&f.tree, i, f.now, dataOnly)
	}
}

// sync puts all inodes and names of a tree on the disk, and forgets what was before.
func (d *disk) sync(t *tree, now int) {
	if d.volatile {
		return
	}
	d.meta, d.data = now, now
	for _, n := range t.inodes {
		n.attrs = n.attrs.since(now)
		n.data = n.data.kept(now)
		for _, e := range n.names {
			e.history = e.since(now)
		}
		maps.DeleteFunc(n.names, func(_ string, e *name) bool { return e.now() == 0 })
	}
	t.drop()
}

// fsync puts one inode on the disk, with what its file system promises beside.
func (d *disk) fsync(t *tree, i, now int, dataOnly bool) {
	n := t.inodes[i]
	n.dataAt = now
	if dataOnly {
		// What is needed to read the data is their size. In an ordered file system it brings with it all that was before.
		if d.promises.Ordered && !d.promises.FsyncAlone {
			d.meta = max(d.meta, n.sized)
		}
		return
	}
	n.meta, n.stored = now, now
	if d.promises.Ordered && !d.promises.FsyncAlone {
		d.meta = max(d.meta, n.changed)
	}
	if d.promises.FsyncNames {
		t.keepNames(i, now)
	}
}

// keepNames: the names that an inode has are on the disk, and the directories that they are in, and so on up to the root.
func (t *tree) keepNames(i, now int) {
	n := t.inodes[i]
	n.named = now
	if i == root {
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
			parent.meta = now
			t.keepNames(d, now)
		}
	}
}

// What is on the disk of an inode at least: what was at this moment.

func (d *disk) metaSince(n *inode) int { return max(d.meta, n.meta) }

func (d *disk) nameSince(dir *inode, e *name) int { return max(d.meta, dir.stored, e.stored) }

// dataSince also looks at what of a file's content goes the way of metadata.
func (d *disk) dataSince(n *inode, meta int) int {
	since := max(d.data, n.dataAt)
	for _, v := range n.data {
		if v.meta && v.at <= meta {
			since = max(since, v.at)
		}
	}
	return since
}

// there says whether an inode itself is promised to be on the disk: else what leads to it need not lead anywhere.
func (d *disk) there(n *inode) bool { return max(d.metaSince(n), n.dataAt) >= n.born }

// moments are those at which the metadata became another since they were last on the disk, the last one first.
func (d *disk) moments(t *tree) []int {
	at := map[int]bool{d.meta: true}
	note := func(moment int) {
		if moment > d.meta {
			at[moment] = true
		}
	}
	for _, n := range t.inodes {
		for _, v := range n.attrs {
			note(v.at)
		}
		for _, v := range n.data {
			note(v.at)
		}
		for _, e := range n.names {
			for _, v := range e.history {
				note(v.at)
			}
		}
	}
	out := slices.Sorted(maps.Keys(at))
	slices.Reverse(out)
	return out
}
