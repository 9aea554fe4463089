package model

import (
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// A Code is the system call of an Op. The zero value is invalid.
type Code uint8

// The system calls, each with the fields of Op that it uses. All paths are absolute, from the root
// of the file system.
const (
	invalid         Code = iota
	Mkdir                // Path, Mode
	Rmdir                // Path
	Unlink               // Path
	Rename               // Path to To; Flags of renameat2(2)
	Link                 // Path; To is the new name
	Symlink              // Path; To is the target
	Readlink             // Path; returns the target
	Chmod                // Path, Mode
	Chown                // Path (of lchown), UID, GID
	Utimes               // Path (no link is followed), Mtime
	Truncate             // Path, Len
	Setxattr             // Path (of lsetxattr), Name, Value, Flags
	Getxattr             // Path, Name; returns the value
	Removexattr          // Path, Name
	Readdir              // Path; returns the names
	Open                 // Path, Slot, Mode; Flags of open(2), see openFlagsKnown
	Close                // Slot
	Read                 // Slot, Off, Len; returns the bytes
	Write                // Slot, Off; Len bytes of agent.Pattern of Seed, not 0; returns their number
	Ftruncate            // Slot, Len
	Fallocate            // Slot, Flags (its mode), Off, Len
	Dwrite               // as Write, with O_DIRECT; Off and Len are multiples of Block
	Dwrites              // as Dwrite, in two calls; Len is a multiple of two blocks
	Mmapwrite            // as Write, through a mapping; the range is within the file
	Mmaptail             // Slot, Len, Seed: a write behind the end, through a mapping of the last page
	Msync                // Slot, Off, Len
	SyncFileRange        // Slot, Off, Len; Flags
	Clone                // Slot, Off; From, FromOff, Len; the numbers are multiples of Block
	Dedupe               // as Clone; returns the number of bytes that are shared now
	Linkat               // Slot; To is the new name
	Mknod                // Path, Mode with a type, Dev
	Fsync                // Slot
	Fdatasync            // Slot
	Syncfs               // Slot
	Sync                 // no arguments
	DropCaches           // no arguments
	Writeback            // no arguments
	FillDisk             // no arguments: all free space goes to a file that Observe leaves out
	FreeDisk             // no arguments: it goes back
	FillInodes           // no arguments: all free inodes go to such files
	FreeInodes           // no arguments: they go back
	Subvolume            // Path
	Snapshot             // Path, of a subvolume; To is the new name; Flags: 0 or agent.ReadOnly
	DeleteSubvolume      // Path
	Setflags             // Path of a file; Flags, all of agent.KnownFlags; returns those that it has
	SetReadOnly          // Path, of a subvolume; Flags: agent.ReadOnly, or 0 for writable
	Fiemap               // Path of a file; see agent.Fiemap
	codeCount
)

var codeNames = [codeCount]string{
	"invalid", "mkdir", "rmdir", "unlink", "rename", "link", "symlink", "readlink", "chmod",
	"chown", "utimes", "truncate", "setxattr", "getxattr", "removexattr", "readdir", "open",
	"close", "read", "write", "ftruncate", "fallocate", "dwrite", "dwrites", "mmapwrite",
	"mmaptail", "msync", "sync_file_range", "clone", "dedupe", "linkat", "mknod", "fsync",
	"fdatasync", "syncfs", "sync", "drop_caches", "writeback", "fill_disk", "free_disk",
	"fill_inodes", "free_inodes", "subvolume", "snapshot", "delete_subvolume",
	"setflags", "set_read_only", "fiemap",
}

// Block is a multiple of the block size of each file system that the explorer makes, in bytes.
const Block = 4096

func (c Code) String() string {
	if c >= codeCount {
		c = invalid
	}
	return codeNames[c]
}

// Op is one system call.
type Op struct {
	Code     Code
	Slot     uint32 // below agent.MaxSlots
	Path, To string
	Flags    int
	Mode     uint32 // permissions, without those that umask 022 clears; Mknod: and the type
	Dev      uint64 // of a device node
	UID, GID uint32
	Mtime    int64  // the time of modification in ns since 1970, more than 0
	Off, Len uint64 // bytes
	From     uint32 // Clone, Dedupe: the slot of the source
	FromOff  uint64 // the offset there
	Seed     uint64
	Name     string
	Value    string
	// AtOnce: another process performs it at the same time as the operation before it in its list.
	AtOnce bool
}

func (o Op) String() string {
	var args []string
	add := func(format string, v ...any) { args = append(args, fmt.Sprintf(format, v...)) }
	switch {
	case o.Code == Open:
		add("#%d, %s, %s", o.Slot, o.Path, agent.OpenFlags(o.Flags))
	case o.onSlot():
		add("#%d", o.Slot)
	case o.Path != "":
		add("%s", o.Path)
	}
	switch o.Code {
	case Rename, Link, Symlink, Linkat, Snapshot:
		add("%s", o.To)
	case Mkdir, Chmod, Mknod:
		add("%#o", o.Mode)
	case Chown:
		add("%d, %d", o.UID, o.GID)
	case Utimes:
		add("%s", time.Unix(0, o.Mtime).UTC().Format(time.DateTime))
	case Truncate, Ftruncate:
		add("%d", o.Len)
	case Read, Write, Fallocate, Dwrite, Dwrites, Mmapwrite, Msync, SyncFileRange:
		add("%d, %d", o.Off, o.Len)
	case Clone, Dedupe:
		add("%d, #%d, %d, %d", o.Off, o.From, o.FromOff, o.Len)
	case Mmaptail:
		add("%d", o.Len)
	case Setxattr:
		add("%s, %q", o.Name, o.Value)
	case Getxattr, Removexattr:
		add("%s", o.Name)
	}
	if o.isPattern() {
		add("seed %d", o.Seed)
	}
	if o.Flags != 0 && o.Code != Open {
		add("flags %#x", o.Flags)
	}
	text := o.Code.String() + "(" + strings.Join(args, ", ") + ")"
	if o.AtOnce {
		text = "at the same time " + text
	}
	return text
}

// isPattern reports whether an operation writes a pattern of Seed.
func (o Op) isPattern() bool {
	switch o.Code {
	case Write, Dwrite, Dwrites, Mmapwrite, Mmaptail:
		return true
	}
	return false
}

// onSlot reports whether an operation is one on an open file.
func (o Op) onSlot() bool {
	return o.Code >= Close && o.Code <= Linkat || o.Code >= Fsync && o.Code <= Syncfs
}

// A Result is the result of an operation.
type Result struct {
	Errno unix.Errno
	Value uint64 // Write: number of bytes; Readdir: number of names
	Data  string // Readlink, Getxattr, Read: bytes; Readdir: names, each with a zero byte after it
}
