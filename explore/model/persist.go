package model

import "maps"

// Synced: all is on the disk, as after sync(2), syncfs(2) and an unmount. What was before is forgotten.
func (f *FS) Synced() {
	if f.volatile {
		return
	}
	f.meta, f.data = f.now, f.now
	for _, n := range f.inodes {
		n.attrs = n.attrs.since(f.now)
		n.data = n.data.kept(f.now)
		for _, e := range n.names {
			e.history = e.since(f.now)
		}
		maps.DeleteFunc(n.names, func(_ string, e *name) bool { return e.now() == 0 })
	}
	f.drop()
}

// ApplyVolatile is Apply of an operation under way: nothing of it need be on the disk. A copy that it was applied to says what
// may be found after a crash before the operation returned.
func (f *FS) ApplyVolatile(o Op) Result {
	f.volatile = true
	defer func() { f.volatile = false }()
	return f.Apply(o)
}

// kept is since, of contents that may be none.
func (h history[T]) kept(moment int) history[T] {
	if len(h) == 0 {
		return nil
	}
	return h.since(moment)
}

// fsync is fsync(2) and fdatasync(2) of an inode.
func (f *FS) fsync(i int, dataOnly bool) {
	if f.volatile {
		return
	}
	n := f.inodes[i]
	n.dataAt = f.now
	if dataOnly {
		// What is needed to read the data is their size. In an ordered file system it brings with it all that was before.
		if f.can.Ordered && !f.can.FsyncAlone {
			f.meta = max(f.meta, n.sized)
		}
		return
	}
	n.meta, n.stored = f.now, f.now
	if f.can.Ordered && !f.can.FsyncAlone {
		f.meta = max(f.meta, n.changed)
	}
	if f.can.FsyncNames {
		f.keepNames(i)
	}
}

// keepNames: the names that an inode has are on the disk, and the directories that they are in, and so on up to the root.
func (f *FS) keepNames(i int) {
	n := f.inodes[i]
	n.named = f.now
	if i == root {
		return
	}
	for d, parent := range f.inodes {
		here := false
		for _, e := range parent.names {
			if e.now() == i {
				e.stored, here = f.now, true
			}
		}
		if here {
			parent.meta = f.now
			f.keepNames(d)
		}
	}
}

// What is on the disk of an inode at least: what was at this moment.

func (f *FS) metaSince(n *inode) int { return max(f.meta, n.meta) }

func (f *FS) nameSince(d *inode, e *name) int { return max(f.meta, d.stored, e.stored) }

// dataSince also looks at what of a file's content goes the way of metadata.
func (f *FS) dataSince(n *inode, meta int) int {
	since := max(f.data, n.dataAt)
	for _, v := range n.data {
		if v.meta && v.at <= meta {
			since = max(since, v.at)
		}
	}
	return since
}

// there says whether an inode itself is promised to be on the disk: else what leads to it need not lead anywhere.
func (f *FS) there(n *inode) bool { return max(f.metaSince(n), n.dataAt) >= n.born }
