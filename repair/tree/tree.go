// Package tree reads the tree of files of an image without mounting it, and compares two trees, to
// find what a repair lost. Each file knows its bytes of the image, so that Losses can leave out the
// files that a damage touched.
package tree

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"fsward/interp"
	"fsward/repair/minix"
)

// Bounds of a tree. A repaired image may hold anything.
const (
	maxFiles = 1 << 16
	maxDepth = 64
)

// A Range is a range of the image's bytes.
type Range struct{ Off, End uint64 }

// A File is a file of any type.
type File struct {
	Mode     uint32 // type and permissions
	UID, GID uint64
	Size     uint64 // bytes; 0 of a directory
	Device   uint64
	Content  uint64 // hash of the data, or of a symbolic link's target; see contents
	// parts are the bytes on which the file depends: its inode, its entry's block, its data, and
	// those of the directories above it.
	parts []Range
}

// A Tree has files by path. The root is "/".
type Tree map[string]*File

// A source reads one kind of file system.
type source interface {
	root() uint64
	// file returns a file, with the parts of its inode, pointers and data. A directory's data are no
	// parts.
	file(number uint64) (*File, error)
	entries(number uint64) ([]entry, error)
}

type entry struct {
	name   string
	number uint64
	part   Range // the block with the entry
}

// noName stands for the name of an entry that has none.
const noName = "(no name)"

// ErrUnsupported means that the trees of a file system cannot be read.
var ErrUnsupported = errors.New("fsward does not read the files of this file system")

// Read reads the tree of an image.
func Read(disk interp.Disk, fs string) (Tree, error) {
	src, err := open(disk, fs)
	if err != nil {
		return nil, err
	}
	w := &walk{source: src, tree: Tree{}, files: map[uint64]*File{}, directories: map[uint64]bool{}}
	root, err := src.file(src.root())
	if err != nil {
		return nil, err
	}
	w.tree["/"] = root
	return w.tree, w.directory("", src.root(), root.parts, 0)
}

func open(disk interp.Disk, fs string) (source, error) {
	switch fs {
	case "ext2", "ext3":
		return openExt(disk)
	case "minix1", "minix2", "minix3":
		f, err := minix.Open(disk, disk.Size())
		return &minixSource{f, budgetOf(disk)}, err
	case "exfat":
		return openExFAT(disk)
	}
	return nil, fmt.Errorf("%s: %w", fs, ErrUnsupported)
}

// A walk reads a tree.
type walk struct {
	source
	tree        Tree
	files       map[uint64]*File // that have been read, without the parts of their names
	directories map[uint64]bool
}

// directory reads what is below a directory. parts are those on which all of it depends.
func (w *walk) directory(path string, number uint64, parts []Range, depth int) error {
	if depth > maxDepth || w.directories[number] {
		return fmt.Errorf("%s: directories are nested more than %d deep, or contain themselves", path,
			maxDepth)
	}
	w.directories[number] = true
	list, err := w.entries(number)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, e := range list {
		if len(w.tree) == maxFiles {
			return fmt.Errorf("more than %d files", maxFiles)
		}
		if w.files[e.number] == nil {
			if w.files[e.number], err = w.file(e.number); err != nil {
				return fmt.Errorf("%s/%s: %w", path, e.name, err)
			}
		}
		f := new(*w.files[e.number])
		f.parts = slices.Concat(f.parts, []Range{e.part}, parts)
		name := path + "/" + cmp.Or(e.name, noName) // without one it would be that of the directory
		w.tree[name] = f
		if f.Mode&minix.TypeMask != minix.Directory {
			continue
		}
		if err := w.directory(name, e.number, f.parts, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// A Loss is one difference of a repaired tree from the tree before the damage.
type Loss struct {
	Path string
	What string // "is gone", or what changed
}

// Losses compares the files that the damage did not touch. Link counts and times follow from other
// files, and are not compared.
func Losses(before, after Tree, damage []interp.Patch) (list []Loss) {
	for _, path := range slices.Sorted(maps.Keys(before)) {
		f := before[path]
		if f.touched(damage) {
			continue
		}
		got := after[path]
		if got == nil {
			list = append(list, Loss{path, "is gone"})
		} else if what := f.difference(got); what != "" {
			list = append(list, Loss{path, what})
		}
	}
	return list
}

func (f *File) touched(damage []interp.Patch) bool {
	for _, p := range damage {
		for _, r := range f.parts {
			if p.Off < r.End && p.Off+uint64(len(p.Data)) > r.Off {
				return true
			}
		}
	}
	return false
}

// difference names the first attribute in which two files differ.
func (f *File) difference(g *File) string {
	for _, a := range []struct {
		name     string
		was, now uint64
	}{{"mode", uint64(f.Mode), uint64(g.Mode)}, {"uid", f.UID, g.UID}, {"gid", f.GID, g.GID},
		{"size", f.Size, g.Size}, {"device", f.Device, g.Device}} {
		if a.was != a.now {
			return fmt.Sprintf("has %s %#o instead of %#o", a.name, a.now, a.was)
		}
	}
	if f.Content != g.Content {
		return "has other contents"
	}
	return ""
}
