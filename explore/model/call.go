package model

import (
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

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
	case Utimes:
		return agent.Utimes(p, time.Unix(0, o.Mtime), time.Unix(0, o.Mtime))
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
		// O_NONBLOCK: the open of a FIFO does not wait.
		return agent.Open(o.Slot, p, o.Flags|unix.O_NONBLOCK, o.Mode)
	case Mknod:
		return agent.Mknod(p, o.Mode, o.Dev)
	case Linkat:
		return agent.Linkat(o.Slot, root+o.To)
	case Subvolume:
		return agent.Subvolume(p)
	case Snapshot:
		return agent.Snapshot(p, root+o.To, o.Flags&agent.ReadOnly != 0)
	case Fiemap:
		return agent.Fiemap(p)
	case SetReadOnly:
		return agent.SetReadOnly(p, o.Flags&agent.ReadOnly != 0)
	case Setflags:
		return agent.Setflags(p, uint32(o.Flags))
	case DeleteSubvolume:
		return agent.DeleteSubvolume(p)
	}
	return o.wholeCall(root)
}

// wholeCall is Call of an operation on the whole file system.
func (o Op) wholeCall(root string) agent.Op {
	switch o.Code {
	case Sync:
		return agent.Sync()
	case DropCaches:
		return agent.DropCaches()
	case Writeback:
		return agent.Writeback()
	case FillDisk:
		return agent.FillDisk(root)
	case FreeDisk:
		return agent.FreeDisk(root)
	case FillInodes:
		return agent.FillInodes(root)
	case FreeInodes:
		return agent.FreeInodes(root)
	}
	return o.slotCall()
}

// slotCall is Call of an operation on an open file, without paths.
func (o Op) slotCall() agent.Op {
	switch o.Code {
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
	case Dwrite:
		return agent.Dwrite(o.Slot, o.Off, uint32(o.Len), o.Seed)
	case Dwrites:
		return agent.Dwrites(o.Slot, o.Off, uint32(o.Len), o.Seed)
	case Mmapwrite:
		return agent.Mmapwrite(o.Slot, o.Off, uint32(o.Len), o.Seed)
	case Mmaptail:
		return agent.Mmaptail(o.Slot, uint32(o.Len), o.Seed)
	case Msync:
		return agent.Msync(o.Slot, o.Off, uint32(o.Len))
	case SyncFileRange:
		return agent.SyncFileRange(o.Slot, o.Off, o.Len, uint(o.Flags))
	case Clone:
		return agent.Clone(o.Slot, o.Off, o.From, o.FromOff, o.Len)
	case Dedupe:
		return agent.Dedupe(o.Slot, o.Off, o.From, o.FromOff, o.Len)
	}
	return agent.Op{}
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
	case Symlink:
		o.Path, o.To = s[1], s[0]
	case Rename, Link, Snapshot:
		o.To = s[1]
	case Linkat:
		o.Path, o.To = "", s[0]
	case FillDisk, FreeDisk, FillInodes, FreeInodes:
		o.Path = ""
	case Setxattr, Getxattr, Removexattr:
		o.Name, o.Value = s[1], string(data)
	}
	o.setNumbers(n)
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

// setNumbers sets the fields of an operation from the numbers of its call.
func (o *Op) setNumbers(n [4]uint64) {
	switch o.Code {
	case Mkdir, Chmod:
		o.Mode = uint32(n[0])
	case Mknod:
		o.Mode, o.Dev = uint32(n[0]), n[1]
	case Rename, Setxattr, Setflags:
		o.Flags = int(n[0])
	case Snapshot, SetReadOnly:
		o.Flags = int(n[0]) * agent.ReadOnly
	case Chown:
		o.UID, o.GID = uint32(n[0]), uint32(n[1])
	case Utimes:
		o.Mtime = int64(n[1])
	case Truncate, Ftruncate:
		o.Len = n[0]
	case Open:
		o.Flags, o.Mode = int(n[0])&^unix.O_NONBLOCK, uint32(n[1])
	case Read, Msync:
		o.Off, o.Len = n[0], n[1]
	case Write, Dwrite, Dwrites, Mmapwrite:
		o.Off, o.Len, o.Seed = n[0], n[1], n[2]
	case Mmaptail:
		o.Len, o.Seed = n[1], n[2]
	case SyncFileRange:
		o.Off, o.Len, o.Flags = n[0], n[1], int(n[2])
	case Fallocate:
		o.Flags, o.Off, o.Len = int(n[0]), n[1], n[2]
	case Clone, Dedupe:
		o.From, o.FromOff, o.Off, o.Len = uint32(n[0]), n[1], n[2], n[3]
	}
}
