package model

import (
	"maps"
	"slices"
)

const root = 1 // inode number of the root directory

// A Kind is the type of an inode. The zero value means that there is no inode.
type Kind uint8

// The kinds of inodes.
const (
	Dir Kind = iota + 1
	File
	Symbolic
	Special // a FIFO, a socket or a device node
)

func (k Kind) String() string {
	return [...]string{"nothing", "a directory", "a file", "a symbolic link", "a special file"}[k]
}

// A special is a FIFO, a socket or a device node, as mknod(2) makes it.
type special struct {
	typ uint32 // of S_IFMT
	dev uint64 // of a device node
}

// An inode is a file, a directory, a symbolic link or a special file, with its history.
type inode struct {
	kind   Kind
	volume int // inode of the root directory of its subvolume; 0: the first one
	born   int // moment of its creation
	attrs  history[attrs]
	data   history[content] // of a file
	target string           // of a symbolic link
	node   special          // of a special file
	names  map[string]*name // of a directory: its names now, and those since its last sync
	parent int              // of a directory
	links  int              // names that refer to it now
	open   int              // open files
	// linkable: linkat(2) may give it its first name, since O_TMPFILE made it.
	linkable bool

	// The moments since which metadata, a directory's names and content of this inode are durable,
	// as disk.meta and disk.data are for all inodes. 0: never.
	meta, stored, dataAt int
	changed, sized       int // moment of the last change of metadata, and of size
	named                int // the names that it had at this moment are durable
	ranges               []syncedRange

	// The last operations that had to change the time of modification and of status.
	mtimeAt, ctimeAt int
	tails            []part // what mappings have written behind the end of a file
	most             uint64 // the end of the largest range of a file that it needed space for
	rendered         *rendering
}

// isRemoved reports whether the names of a file or directory, other than the root, were removed.
// fsync(2) promises nothing of names that it had, which a crash may bring back: Btrfs then writes
// nothing to the log (i_nlink in btrfs_log_inode_parent).
func (n *inode) isRemoved() bool { return n.links == 0 && !n.linkable }

// A syncedRange is a range of a file's content, [off, end), that is durable since a moment.
type syncedRange struct {
	off, end uint64
	at       int
}

// attrs are the attributes that stat(2), listxattr(2) and FS_IOC_GETFLAGS return. A value is never
// modified.
type attrs struct {
	mode     uint32
	uid, gid uint32
	xattrs   map[string]string
	mtime    int64  // of a file: see presentTime
	flags    uint32 // of a file or directory: agent.Entry.Flags
}

// A name is a directory entry: the history of inode numbers that it refers to, 0 for none.
type name struct {
	history[int]
	stored int // moment since which it is durable by itself; 0: never
}

// lookup returns the inode number of a name in a directory, or 0 if there is none.
func (n *inode) lookup(s string) int {
	if e := n.names[s]; e != nil {
		return e.now()
	}
	return 0
}

// empty reports whether a directory has no names.
func (n *inode) empty() bool {
	for _, e := range n.names {
		if e.now() != 0 {
			return false
		}
	}
	return true
}

// current returns the names in a directory, sorted.
func (n *inode) current() (out []string) {
	for s, e := range n.names {
		if e.now() != 0 {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return out
}

// Size returns the size of a file.
func (f *FS) Size(path string) (n uint64, ok bool) {
	i, errno := f.tree.find(path, false)
	if errno != 0 || f.tree.inodes[i].kind != File {
		return 0, false
	}
	return f.tree.inodes[i].data.now().size, true
}

// Links returns the number of names of a file; 0 if nothing has the path.
func (f *FS) Links(path string) int {
	i, errno := f.tree.find(path, false)
	if errno != 0 {
		return 0
	}
	return f.tree.inodes[i].links
}

// setAttrs sets the attributes. If they stay the same, it does nothing: the kernel then need not
// write the inode (ext4_xattr_set_handle), so a later fsync makes no other change durable with it.
func (n *inode) setAttrs(a attrs, now int) {
	was := n.attrs.now()
	if was.mode == a.mode && was.uid == a.uid && was.gid == a.gid && was.mtime == a.mtime &&
		was.flags == a.flags && maps.Equal(was.xattrs, a.xattrs) {
		return
	}
	n.changed, n.ctimeAt = now, now
	n.attrs.set(now, a)
}

// resize sets the size of a file in bytes, as truncate(2) does.
func (n *inode) resize(size uint64, now int) {
	mtime := presentTime
	if size == n.data.now().size {
		mtime = anyTime
	} else {
		n.markModified(now)
	}
	n.touch(now, mtime)
	n.setContent(n.data.now().truncate(size), now, true)
}

// setContent sets the content of a file. ordered: a journal orders the change among those of
// metadata.
func (n *inode) setContent(c content, now int, ordered bool) {
	if c.size != n.data.now().size {
		n.changed, n.sized = now, now
	}
	n.most = max(n.most, c.size)
	n.data = append(n.data, version[content]{at: now, value: c, meta: ordered})
}
