package b3

import "strings"

// A Verb is an operation of a workload. The zero value is invalid.
type Verb uint8

// The verbs. Operations of sets come first, then what makes them persistent, then what only
// Complete and people write. creat and open leave the file open until a close; all operations on
// the file use this descriptor. mmapwrite is mmapstore with an msync of the same range. orphan
// removes the name of an open file: until its close, the name stands for the file without a name.
// exchange is renameat2(2) with RENAME_EXCHANGE. Subvolumes are those of Btrfs.
const (
	invalid Verb = iota
	Creat
	Mkdir
	Mknod
	Falloc
	Write
	Dwrite
	Mmapwrite
	Link
	Symlink
	Unlink
	Remove
	Rename
	Setxattr
	Removexattr
	Truncate
	Fdatasync
	Fsync
	Sync
	Msync
	Mmapstore
	Open
	Close
	Rmdir
	DropCaches
	Chmod
	Clone
	SyncFileRange
	Orphan
	Exchange
	Subvolume
	Snapshot
	DeleteSubvolume
	Chattr
	verbCount
)

// A part is what follows a verb in the text of a step.
type part uint8

const (
	aName       part = iota + 1 // a path without a leading slash; "/" is the root
	aTarget                     // any text without spaces and semicolons
	aMode                       // of fallocate(2)
	aRange                      // "append", …, or an offset and a length
	aLength                     // bytes
	anOffset                    // bytes
	aPermission                 // octal
	anAttribute                 // name of an extended attribute, or nothing
	aFlags                      // "=" and letters of chattr(1)
)

// verbs are the names of verbs and what follows them.
var verbs = [verbCount]struct {
	name  string
	parts []part
}{
	invalid:         {name: "invalid"},
	Creat:           {"creat", []part{aName}},
	Mkdir:           {"mkdir", []part{aName}},
	Mknod:           {"mknod", []part{aName}},
	Falloc:          {"falloc", []part{aName, aMode, aRange}},
	Write:           {"write", []part{aName, aRange}},
	Dwrite:          {"dwrite", []part{aName, aRange}},
	Mmapwrite:       {"mmapwrite", []part{aName, aRange}},
	Link:            {"link", []part{aName, aName}},
	Symlink:         {"symlink", []part{aTarget, aName}},
	Unlink:          {"unlink", []part{aName}},
	Remove:          {"remove", []part{aName}},
	Rename:          {"rename", []part{aName, aName}},
	Setxattr:        {"setxattr", []part{aName, anAttribute}},
	Removexattr:     {"removexattr", []part{aName, anAttribute}},
	Truncate:        {"truncate", []part{aName, aLength}},
	Fdatasync:       {"fdatasync", []part{aName}},
	Fsync:           {"fsync", []part{aName}},
	Sync:            {name: "sync"},
	Msync:           {"msync", []part{aName, aRange}},
	Mmapstore:       {"mmapstore", []part{aName, aRange}},
	Open:            {"open", []part{aName}},
	Close:           {"close", []part{aName}},
	Rmdir:           {"rmdir", []part{aName}},
	DropCaches:      {name: "drop_caches"},
	Chmod:           {"chmod", []part{aName, aPermission}},
	Clone:           {"clone", []part{aName, aRange, aName, anOffset}},
	SyncFileRange:   {"sync_file_range", []part{aName, aRange}},
	Orphan:          {"orphan", []part{aName}},
	Exchange:        {"exchange", []part{aName, aName}},
	Subvolume:       {"subvolume", []part{aName}},
	Snapshot:        {"snapshot", []part{aName, aName}},
	DeleteSubvolume: {"delete_subvolume", []part{aName}},
	Chattr:          {"chattr", []part{aName, aFlags}},
}

// String returns the verb as workloads spell it.
func (v Verb) String() string {
	if v >= verbCount {
		v = invalid
	}
	return verbs[v].name
}

// flags are the letters of chattr(1) for the flags that a workload sets, and their bits in
// linux/fs.h.
var flags = []struct {
	letter byte
	bits   uint32
}{{'S', 0x8}, {'d', 0x40}, {'A', 0x80}, {'c', 0x4}, {'C', 0x800000}}

// flagLetters are all of them.
func flagLetters() (letters string) {
	for _, f := range flags {
		letters += string(f.letter)
	}
	return letters
}

// areFlags reports whether a text consists of letters of flags.
func areFlags(text string) bool {
	return strings.Trim(text, flagLetters()) == "" && len(text) <= len(flags)
}

// parts returns what follows the verb.
func (v Verb) parts() []part { return verbs[v].parts }

// Persists reports whether the verb is a persistence point: after it a crash is tried.
func (v Verb) Persists() bool {
	switch v {
	case Fsync, Fdatasync, Sync, Msync, Mmapwrite:
		return true
	}
	return false
}

// onOpenFile reports whether the verb uses the descriptor of an open file, and no path.
func (v Verb) onOpenFile() bool {
	switch v {
	case Write, Dwrite, Mmapstore, Mmapwrite, Falloc, Fsync, Fdatasync, Msync, SyncFileRange, Clone,
		Close:
		return true
	}
	return false
}

// verbOf returns the verb with a name.
func verbOf(name string) (Verb, bool) {
	for v := invalid + 1; v < verbCount; v++ {
		if verbs[v].name == name {
			return v, true
		}
	}
	return invalid, false
}

// verbNames returns the names of all verbs.
func verbNames() (names []string) {
	for v := invalid + 1; v < verbCount; v++ {
		names = append(names, verbs[v].name)
	}
	return names
}

// A Mode is a mode of fallocate(2), as workloads spell it.
type Mode string

// The modes.
const (
	Allocate     Mode = "allocate"      // 0
	AllocateKeep Mode = "allocate|keep" // FALLOC_FL_KEEP_SIZE
	Zero         Mode = "zero"          // FALLOC_FL_ZERO_RANGE
	ZeroKeep     Mode = "zero|keep"     // FALLOC_FL_ZERO_RANGE|FALLOC_FL_KEEP_SIZE
	PunchKeep    Mode = "punch|keep"    // FALLOC_FL_PUNCH_HOLE|FALLOC_FL_KEEP_SIZE
	Collapse     Mode = "collapse"      // FALLOC_FL_COLLAPSE_RANGE
	Insert       Mode = "insert"        // FALLOC_FL_INSERT_RANGE
)

// modes are all modes, and their bits in linux/falloc.h.
var modes = []struct {
	Mode
	bits uint32
}{{Allocate, 0}, {AllocateKeep, 1}, {Zero, 0x10}, {ZeroKeep, 0x11}, {PunchKeep, 3},
	{Collapse, 8}, {Insert, 0x20}}

// Bits returns the mode as fallocate(2) takes it.
func (m Mode) Bits() uint32 {
	for _, known := range modes {
		if known.Mode == m {
			return known.bits
		}
	}
	return 0
}

func (m Mode) valid() bool {
	for _, known := range modes {
		if known.Mode == m {
			return true
		}
	}
	return false
}

// keepsSize reports whether the mode never changes the size of the file.
func (m Mode) keepsSize() bool { return m.Bits()&1 != 0 }

// A Where names a range of a file by its size. "" is a range with an offset and a length.
type Where string

// The named ranges.
const (
	Append Where = "append" // 32,768 bytes at the end
	Start  Where = "start"  // 5,000 bytes at 0
	Extend Where = "extend" // 5,000 bytes, 2,000 of them before the end
	End    Where = "end"    // the last 5,000 bytes
	Block  Where = "block"  // 8,192 bytes at 0
	Last   Where = "last"   // the last 8,192 bytes
)

// wheres are the named ranges: their length, and how many bytes of it lie before the end of the
// file; -1: the range is at 0.
var wheres = []struct {
	Where
	length uint64
	before int64
}{{Append, 32768, 0}, {Start, 5000, -1}, {Extend, 5000, 2000}, {End, 5000, 5000},
	{Block, 8192, -1}, {Last, 8192, 8192}}

func (w Where) valid() bool {
	for _, known := range wheres {
		if known.Where == w {
			return true
		}
	}
	return false
}

// in returns the range in a file with a size in bytes.
func (w Where) in(size uint64) (off, length uint64) {
	for _, known := range wheres {
		switch {
		case known.Where != w:
		case known.before < 0:
			return 0, known.length
		default:
			return size - min(size, uint64(known.before)), known.length
		}
	}
	return 0, 0
}
