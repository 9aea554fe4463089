package model

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// A Code is the system call of an Op. The zero value is invalid.
type Code uint8

// The system calls, each with the fields of Op that it uses. All paths are absolute, from the root
// of the file system.
const (
	invalid     Code = iota
	Mkdir            // Path, Mode
	Rmdir            // Path
	Unlink           // Path
	Rename           // Path to To; Flags of renameat2(2)
	Link             // Path; To is the new name
	Symlink          // Path; To is the target
	Readlink         // Path; returns the target
	Chmod            // Path, Mode
	Chown            // Path (of lchown), UID, GID
	Truncate         // Path, Len
	Setxattr         // Path (of lsetxattr), Name, Value, Flags
	Getxattr         // Path, Name; returns the value
	Removexattr      // Path, Name
	Readdir          // Path; returns the names
	Open             // Path, Slot, Mode; Flags of open(2) except O_APPEND, which ignores Off
	Close            // Slot
	Read             // Slot, Off, Len; returns the bytes
	Write            // Slot, Off; Len bytes of agent.Pattern of Seed, not 0; returns their number
	Ftruncate        // Slot, Len
	Fallocate        // Slot, Flags (its mode), Off, Len
	Fsync            // Slot
	Fdatasync        // Slot
	Syncfs           // Slot
	Sync             // no arguments
	codeCount
)

var codeNames = [codeCount]string{
	"invalid", "mkdir", "rmdir", "unlink", "rename", "link", "symlink", "readlink", "chmod", "chown",
	"truncate", "setxattr", "getxattr", "removexattr", "readdir", "open", "close", "read", "write",
	"ftruncate", "fallocate", "fsync", "fdatasync", "syncfs", "sync",
}

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
	Mode     uint32 // permissions, without those that umask 022 clears
	UID, GID uint32
	Off, Len uint64 // bytes
	Seed     uint64
	Name     string
	Value    string
}

func (o Op) String() string {
	var args []string
	add := func(format string, v ...any) { args = append(args, fmt.Sprintf(format, v...)) }
	switch o.Code {
	case Close, Read, Write, Ftruncate, Fallocate, Fsync, Fdatasync, Syncfs:
		add("#%d", o.Slot)
	case Open:
		add("#%d, %s, %s", o.Slot, o.Path, openFlags(o.Flags))
	case Sync:
	default:
		add("%s", o.Path)
	}
	switch o.Code {
	case Rename, Link, Symlink:
		add("%s", o.To)
	case Mkdir, Chmod:
		add("%#o", o.Mode)
	case Chown:
		add("%d, %d", o.UID, o.GID)
	case Truncate, Ftruncate:
		add("%d", o.Len)
	case Read, Write, Fallocate:
		add("%d, %d", o.Off, o.Len)
	case Setxattr:
		add("%s, %q", o.Name, o.Value)
	case Getxattr, Removexattr:
		add("%s", o.Name)
	}
	if o.Code == Write {
		add("seed %d", o.Seed)
	}
	if o.Flags != 0 && o.Code != Open {
		add("flags %#x", o.Flags)
	}
	return o.Code.String() + "(" + strings.Join(args, ", ") + ")"
}

func openFlags(flags int) string {
	s := []string{"O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE"}[flags&unix.O_ACCMODE]
	for _, f := range []struct {
		bits int
		name string
	}{
		{unix.O_CREAT, "O_CREAT"}, {unix.O_EXCL, "O_EXCL"}, {unix.O_TRUNC, "O_TRUNC"},
		{unix.O_DIRECTORY, "O_DIRECTORY"}, {unix.O_NOFOLLOW, "O_NOFOLLOW"},
		{unix.O_SYNC, "O_SYNC"}, {unix.O_DSYNC, "O_DSYNC"},
	} {
		if flags&f.bits == f.bits {
			s += "|" + f.name
			flags &^= f.bits // O_SYNC includes the bit of O_DSYNC
		}
	}
	return s
}

// Call returns the operation for an agent. The file system is mounted on root.
func (o Op) Call(root string) agent.Op {
	p := root + o.Path // not cleaned: "/a/.." is not "/" if a is a symbolic link
	switch o.Code {
	case Mkdir:
		return agent.Mkdir(p, o.Mode)
	case Rmdir:
		return agent.Rmdir(p)
	case Unlink:
		return agent.Unlink(p)
	case Rename:
		return agent.Rename(p, root+o.To, uint(o.Flags))
	case Link:
		return agent.Link(p, root+o.To)
	case Symlink:
		return agent.Symlink(o.To, p)
	case Readlink:
		return agent.Readlink(p)
	case Chmod:
		return agent.Chmod(p, o.Mode)
	case Chown:
		return agent.Chown(p, o.UID, o.GID)
	case Truncate:
		return agent.Truncate(p, o.Len)
	case Setxattr:
		return agent.Setxattr(p, o.Name, []byte(o.Value), uint(o.Flags))
	case Getxattr:
		return agent.Getxattr(p, o.Name)
	case Removexattr:
		return agent.Removexattr(p, o.Name)
	case Readdir:
		return agent.Readdir(p)
	case Open:
		return agent.Open(o.Slot, p, o.Flags, o.Mode)
	case Close:
		return agent.Close(o.Slot)
	case Read:
		return agent.Read(o.Slot, o.Off, uint32(o.Len))
	case Write:
		return agent.Fill(o.Slot, o.Off, uint32(o.Len), o.Seed)
	case Ftruncate:
		return agent.Ftruncate(o.Slot, o.Len)
	case Fallocate:
		return agent.Fallocate(o.Slot, uint32(o.Flags), o.Off, o.Len)
	case Fsync:
		return agent.Fsync(o.Slot)
	case Fdatasync:
		return agent.Fdatasync(o.Slot)
	case Syncfs:
		return agent.Syncfs(o.Slot)
	case Sync:
		return agent.Sync()
	}
	return agent.Op{}
}

// A Result is what an operation returns.
type Result struct {
	Errno unix.Errno
	Value uint64 // Write: number of bytes; Readdir: number of names
	Data  string // Readlink, Getxattr, Read: bytes; Readdir: names, each with a zero byte after it
}

// codes maps the codes of an agent's operations to those of the model.
var codes = func() map[agent.Code]Code {
	out := make(map[agent.Code]Code)
	for c := invalid + 1; c < codeCount; c++ {
		call := Op{Code: c}.Call("")
		out[call.Code] = c
	}
	out[agent.Fill(0, 0, 0, 0).Code] = Write
	return out
}()

// FromCall returns the operation that Call translated to call, for a file system mounted on root.
// ok is false if the model does not know the operation, or if its paths are outside root.
func FromCall(root string, call agent.Op) (o Op, ok bool) {
	slot, n, s, data := call.Fields()
	o = Op{Code: codes[call.Code], Slot: slot, Path: s[0]}
	switch o.Code {
	case invalid:
		return Op{}, false
	case Mkdir, Chmod:
		o.Mode = uint32(n[0])
	case Rename:
		o.To, o.Flags = s[1], int(n[0])
	case Link:
		o.To = s[1]
	case Symlink:
		o.Path, o.To = s[1], s[0]
	case Chown:
		o.UID, o.GID = uint32(n[0]), uint32(n[1])
	case Truncate, Ftruncate:
		o.Len = n[0]
	case Setxattr:
		o.Name, o.Value, o.Flags = s[1], string(data), int(n[0])
	case Getxattr, Removexattr:
		o.Name = s[1]
	case Open:
		o.Flags, o.Mode = int(n[0]), uint32(n[1])
	case Read:
		o.Off, o.Len = n[0], n[1]
	case Write:
		o.Off, o.Len, o.Seed = n[0], n[1], n[2]
	case Fallocate:
		o.Flags, o.Off, o.Len = int(n[0]), n[1], n[2]
	}
	for _, p := range []*string{&o.Path, &o.To} {
		if *p == "" || p == &o.To && o.Code == Symlink {
			continue
		}
		if *p, ok = strings.CutPrefix(*p, root); !ok {
			return Op{}, false
		}
		if *p == "" {
			*p = "/"
		}
	}
	return o, true
}
