package damage

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/detect"
)

// maxPicks bounds the objects of one kind of which each is damaged: the bits of bitmaps.
const maxPicks = 4096

// Interpreted returns the model of an image that fsward interprets. Its fields are those of the
// interpreter's own tables, and its checksums are made right.
func Interpreted(base interp.Disk, fs string) (*Model, error) {
	c, err := detect.Corrupter(base, fs, false)
	if err != nil {
		return nil, err
	}
	name, err := detect.Name(base, fs)
	if err != nil {
		return nil, err
	}
	s := &survey{base: base, fs: fs, corrupter: c, directories: directories(c)}
	for _, a := range detect.Alterables(name) {
		kinds := a.Kinds
		if len(kinds) == 0 {
			kinds = []string{""}
		}
		for _, kind := range kinds {
			if err := s.object(a, kind); err != nil {
				return nil, err
			}
		}
	}
	m, err := newModel(base, s.fields)
	if err == nil && name == "btrfs" {
		m.nodeSize, err = nodeSize(base)
	}
	return m, err
}

// nodeSize returns the size of the nodes of a Btrfs, or 0 if its checksums are not CRC32C.
func nodeSize(base interp.Disk) (uint32, error) {
	var b [ondisk.SuperSize]byte
	if _, err := base.ReadAt(b[:], superAt); err != nil {
		return 0, err
	}
	sb := ondisk.NewSuperblock(&b)
	if sb.CsumType() != ondisk.CsumCRC32C {
		return 0, nil
	}
	return sb.NodeSize(), nil
}

// A survey finds the fields that an image has.
type survey struct {
	base      interp.Disk
	fs        string
	corrupter interp.Corrupter // of base
	fields    []*Field
	// directories are the inode numbers of some directories.
	directories []uint64
}

// entryInode is the field of an entry of ext3 that names an inode.
const entryInode = "dirent.inode"

// directories returns the inode numbers of some directories of ext3: those that their entries "."
// name. A file's entry that gets one makes a loop, or a directory with two parents.
func directories(c interp.Corrupter) (list []uint64) {
	for pick := range maxDonors {
		self, err := c.Corrupt(entryInode+"^1@kind=dot", pick)
		if err != nil { // there is no other, or the file system has no such entries
			return list
		}
		if n, ok := oldValue(self.What); ok {
			list = append(list, n)
		}
	}
	return list
}

// of returns the corrupter of a disk.
func (s *survey) of(disk interp.Disk) (interp.Corrupter, error) {
	if disk == s.base {
		return s.corrupter, nil
	}
	return detect.Corrupter(disk, s.fs, false)
}

// object adds the fields of and the actions on objects of a kind.
func (s *survey) object(a interp.Alterable, kind string) error {
	for _, f := range a.Fields {
		if slices.Contains(morePointers, a.Object+"."+f.Name) {
			continue
		}
		for pick := range picks(a.Object) {
			if err := s.field(a.Object+"."+f.Name, kind, f.Width, pick); err != nil {
				return err
			}
		}
	}
	for _, action := range a.Actions {
		most := 1
		if len(a.Fields) == 0 && !slices.Contains(unusedKinds, kind) {
			most = maxPicks // all used bits, as in SWIFT's table 5
		}
		for pick := range most {
			ok, err := s.action(a.Object+"!"+action, kind, pick)
			if err != nil {
				return err
			}
			if !ok {
				break
			}
		}
	}
	return nil
}

// unusedKinds are kinds of bits of which one is enough.
var unusedKinds = []string{"free", "padding"}

// morePointers are left out: SWIFT's table 5 has one direct pointer.
var morePointers = []string{"inode.block1", "inode.block2", "inode.block3", "inode.block4",
	"inode.block5", "inode.block6", "inode.block7", "inode.block8", "inode.block9", "inode.block10",
	"inode.block11"}

// picks returns how many objects of one kind are damaged. Directory entries are taken from the
// root and from another directory.
func picks(object string) int {
	switch object {
	case "dirent", "group", "dir_item", "dir_index", "inode_ref":
		return 2
	}
	return 1
}

// place returns the conditions of a specification, and those that tell fields apart.
func place(kind string, pick int) (where, text string) {
	if kind != "" {
		where, text = "@kind="+kind, "kind="+kind
	}
	if pick > 0 {
		if text != "" {
			text += ","
		}
		text += fmt.Sprintf("pick=%d", pick)
	}
	return where, text
}

// changed matches what a Corrupter says of a number.
var changed = regexp.MustCompile(`(\d+) → \d+`)

// oldValue returns the number that a Corrupter says it changed.
func oldValue(what string) (n uint64, ok bool) {
	m := changed.FindStringSubmatch(what)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseUint(m[1], 10, 64)
	return n, err == nil
}

// field adds a field, if the image has it.
func (s *survey) field(group, kind string, width, pick int) error {
	where, text := place(kind, pick)
	f := &Field{Group: group, Place: text, Width: width}
	f.set = func(disk interp.Disk, value uint64) (interp.Corruption, error) {
		corrupter, err := s.of(disk)
		if err != nil {
			return interp.Corruption{}, err
		}
		c, err := corrupter.Corrupt(fmt.Sprintf("%s=%d%s", group, value, where), pick)
		if errors.Is(err, interp.ErrNoPlace) {
			err = ErrNone
		}
		return c, err
	}
	probe, err := s.corrupter.Corrupt(group+"^1"+where, pick)
	if errors.Is(err, interp.ErrNoPlace) {
		return nil
	}
	if err != nil {
		return err
	}
	f.Old, f.Known = oldValue(probe.What)
	if group == entryInode {
		f.given = s.directories
	}
	s.fields = append(s.fields, f)
	return nil
}

// action adds an action as a field of one value. It returns false if there is no place for it.
func (s *survey) action(group, kind string, pick int) (bool, error) {
	where, text := place(kind, pick)
	c, err := s.corrupter.Corrupt(group+where, pick)
	if errors.Is(err, interp.ErrNoPlace) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	s.fields = append(s.fields, &Field{Group: group, Place: text,
		set: func(disk interp.Disk, _ uint64) (interp.Corruption, error) {
			if disk == s.base {
				return c, nil
			}
			corrupter, err := s.of(disk)
			if err != nil {
				return interp.Corruption{}, err
			}
			return corrupter.Corrupt(group+where, pick)
		}})
	return true, nil
}
