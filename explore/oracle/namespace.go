package oracle

import (
	"cmp"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"fsward/change"
)

// A vocabulary has the kinds and fields of one file system that describe its files.
type vocabulary struct {
	schema       *change.Schema
	inode, entry change.Kind
	subvolume    change.Kind // a subvolume's place in its parent; 0: the file system has none
	kind, perm   change.Field
	uid, gid     change.Field
	size         change.Field
	linkCount    change.Field
	target       change.Field // of an entry: what it names
	entryName    change.Field // of an entry; 0: the entry's own key has the name
	root         node
}

// vocabularyOf returns the vocabulary of a schema.
func vocabularyOf(s *change.Schema) (v vocabulary, err error) {
	kinds := map[string]*change.Kind{"inode": &v.inode, "dirent": &v.entry}
	fields := map[string]*change.Field{"f(mode,s_ifmt)": &v.kind, "f(mode,perm)": &v.perm,
		"uid": &v.uid, "gid": &v.gid, "size": &v.size, "links_count": &v.linkCount, "inode": &v.target}
	v.schema, v.root = s, node{0, 2}
	if s.FS == "btrfs" {
		kinds = map[string]*change.Kind{"inode_item": &v.inode, "dir_index": &v.entry,
			"root_ref": &v.subvolume}
		delete(fields, "links_count")
		delete(fields, "inode")
		fields["nlink"], fields["location"], fields["name"] = &v.linkCount, &v.target, &v.entryName
		v.root = node{5, 256}
	}
	for text, k := range kinds {
		var ok bool
		if *k, ok = s.KindByName(text); !ok {
			return v, fmt.Errorf("%s has no objects %s", s.FS, text)
		}
	}
	for text, f := range fields {
		if *f = fieldByName(s, text); *f == 0 {
			return v, fmt.Errorf("%s has no field %s", s.FS, text)
		}
	}
	return v, nil
}

// fieldByName returns the field with a name; 0: there is none.
func fieldByName(s *change.Schema, text string) change.Field {
	for i, f := range s.Fields {
		if f == text {
			return change.Field(i)
		}
	}
	return 0
}

// fileTypes has the bits of st_mode by their word in a schema.
var fileTypes = map[string]uint32{"s_ifreg": unix.S_IFREG, "s_ifdir": unix.S_IFDIR,
	"s_ifchr": unix.S_IFCHR, "s_ifblk": unix.S_IFBLK, "s_ififo": unix.S_IFIFO,
	"s_ifsock": unix.S_IFSOCK, "s_iflnk": unix.S_IFLNK}

// modeOf returns the bits of st_mode of a word.
func (v *vocabulary) modeOf(value change.Value) uint32 {
	w, ok := value.Word()
	if !ok || int(w) >= len(v.schema.Words) {
		return 0
	}
	return fileTypes[v.schema.Words[w]]
}

// A node is an inode: the tree that it is in, and its number.
type node struct{ tree, inode uint64 }

// A link is an entry of a directory.
type link struct {
	text   string
	target node
}

// A place is an inode with the path that leads to it.
type place struct {
	node
	path string
}

// A namespace collects inodes and entries of directories from the records of a whole image.
type namespace struct {
	vocabulary
	inodes  map[node]*File
	entries map[change.Object]*link
	parents map[uint64]uint64 // of a subvolume: the tree that it is in
}

func newNamespace(v vocabulary) *namespace {
	return &namespace{vocabulary: v, inodes: make(map[node]*File),
		entries: make(map[change.Object]*link), parents: make(map[uint64]uint64)}
}

// add adds a record.
func (n *namespace) add(r change.Record, names *change.Names) {
	switch {
	case r.Object.Kind == n.inode:
		at := node{r.Object.Tree, r.Object.ID}
		if n.inodes[at] == nil {
			n.inodes[at] = &File{Inode: at.inode, tree: at.tree}
			if at.tree != n.root.tree {
				n.inodes[at].Subvolume = at.tree
			}
		}
		n.addInode(n.inodes[at], r)
	case r.Object.Kind == n.entry:
		if n.entries[r.Object] == nil {
			n.entries[r.Object] = new(link)
			if n.entryName == 0 {
				n.entries[r.Object].text = names.At(r.Object.Sub)
			}
		}
		n.addLink(n.entries[r.Object], r, names)
	case n.subvolume != 0 && r.Object.Kind == n.subvolume:
		n.parents[r.Object.Sub] = r.Object.ID
	}
}

func (n *namespace) addInode(f *File, r change.Record) {
	value, _ := r.New.Num()
	switch r.Field {
	case n.kind:
		f.Mode |= n.modeOf(r.New)
	case n.perm:
		f.Mode |= uint32(value)
	case n.linkCount:
		f.Links = value
	case n.uid:
		f.UID = uint32(value)
	case n.gid:
		f.GID = uint32(value)
	case n.size:
		f.Size = value
	}
}

func (n *namespace) addLink(l *link, r change.Record, names *change.Names) {
	switch {
	case r.Field == n.target:
		l.target = node{r.Object.Tree, 0}
		if inode, ok := r.New.Num(); ok {
			l.target.inode = inode
		} else if id, kind, _, ok := names.KeyOf(r.New); ok && kind == n.inode {
			l.target.inode = id
		} else if ok { // the root of a subvolume
			l.target = node{id, n.root.inode}
		}
	case n.entryName != 0 && r.Field == n.entryName:
		l.text = names.Text(r.New)
	}
}

// placeholder returns the directory that Linux shows for a subvolume of another subvolume, in a
// snapshot that has its entry (new_simple_dir). It is in no subvolume: stat(2) gives it the device
// of the whole file system.
func placeholder(path string) File {
	return File{Path: path, Mode: unix.S_IFDIR | 0o755, Links: 1, Inode: emptySubvolume}
}

// emptySubvolume is BTRFS_EMPTY_SUBVOL_DIR_OBJECTID.
const emptySubvolume = 2

// list returns the files below the root: those of a directory by their names, and directories
// before what is in them. It enters each directory once, so that a loop of hostile
// entries ends.
func (n *namespace) list() (out []File, err error) {
	children := make(map[node][]*link)
	for at, l := range n.entries {
		dir := node{at.Tree, at.ID}
		if l.text != "." && l.text != ".." {
			children[dir] = append(children[dir], l)
		}
	}
	for _, list := range children {
		slices.SortFunc(list, func(a, b *link) int {
			return cmp.Or(cmp.Compare(a.text, b.text), cmp.Compare(a.target.tree, b.target.tree),
				cmp.Compare(a.target.inode, b.target.inode))
		})
	}
	entered := make(map[node]bool)
	for queue := []place{{n.root, "."}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		f, ok := n.inodes[at.node]
		if !ok {
			return nil, fmt.Errorf("%s: %s names inode %d, which does not exist", n.schema.FS, at.path,
				at.inode)
		}
		if len(out) == maxFiles {
			return nil, fmt.Errorf("%s: there are more than %d names", n.schema.FS, maxFiles)
		}
		one := *f
		one.Path = at.path
		out = append(out, one)
		if entered[at.node] {
			continue
		}
		entered[at.node] = true
		for _, l := range children[at.node] {
			path := l.text
			if at.path != "." {
				path = at.path + "/" + l.text
			}
			if len(path) > maxPath {
				return nil, fmt.Errorf("%s: a path has more than %d bytes", n.schema.FS, maxPath)
			}
			if l.target.tree != at.tree && n.parents[l.target.tree] != at.tree {
				if f.UID != 0 || f.GID != 0 {
					return nil, fmt.Errorf("%s: %s is a subvolume of another subvolume, and kernels give it "+
						"different owners", n.schema.FS, path)
				}
				out = append(out, placeholder(path))
				continue
			}
			queue = append(queue, place{l.target, path})
		}
	}
	return out, nil
}
