package corrupt

import (
	"encoding/binary"
	"fmt"

	"fsward/interp/ext3/ondisk"
)

// actDirent changes the entries of directories.
func (d *draft) actDirent(action string, i int, b []byte) (string, bool, error) {
	t := d.ts[i]
	if t.kind == "unused" || len(b) == 1<<16 {
		return "", false, nil
	}
	name := string(nameAt(b, t.off))
	if name == "" {
		return "", false, nil
	}
	typ := b[t.off+ondisk.DirentFileTypeAt]
	switch action {
	case actDelete:
		d.remove(i, b)
		return fmt.Sprintf("%q is gone", name), true, nil
	case actDuplicate:
		return fmt.Sprintf("%q is there twice", name), insert(b, t.ino, typ, name), nil
	case actAdd:
		other := name[:len(name)-1] + string(name[len(name)-1]^1)
		return fmt.Sprintf("%q is there too", other), insert(b, t.ino, typ, other), nil
	case actSwap:
		next, ok := d.next(i)
		if !ok || next.kind == "unused" {
			return "", false, nil
		}
		swap(b, t.off+ondisk.DirentInodeAt, next.off+ondisk.DirentInodeAt, 4)
		swap(b, t.off+ondisk.DirentFileTypeAt, next.off+ondisk.DirentFileTypeAt, 1)
		return fmt.Sprintf("%q and %q changed inodes", name, nameAt(b, next.off)), t.ino != next.ino, nil
	case actMove:
		return d.move(i, b, name, typ)
	default:
		return d.cycle(i, b, name)
	}
}

func nameAt(b []byte, off int) []byte {
	return b[off+ondisk.DirentLen : min(off+ondisk.DirentLen+int(b[off+ondisk.DirentNameLenAt]),
		len(b))]
}

// remove deletes an entry, as the kernel does: the entry before it gets its room.
func (d *draft) remove(i int, b []byte) {
	t := d.ts[i]
	if i > 0 && d.ts[i-1].site == t.site {
		p := d.ts[i-1]
		binary.LittleEndian.PutUint16(b[p.off+ondisk.DirentRecLenAt:],
			uint16(ondisk.RecLen(b, p.off)+ondisk.RecLen(b, t.off)))
		return
	}
	binary.LittleEndian.PutUint32(b[t.off+ondisk.DirentInodeAt:], 0)
}

// insert adds an entry where a block of a directory has room for it, and reports whether it has.
func insert(b []byte, ino uint32, typ byte, name string) bool {
	need := ondisk.DirentLen + (len(name)+3)&^3
	for off := 0; off+ondisk.DirentLen <= len(b); {
		length, used := ondisk.RecLen(b, off), 0
		if length < ondisk.DirentLen || off+length > len(b) {
			return false
		}
		head := ondisk.DirentHeadOf(b[off:])
		if head.Inode() != 0 {
			used = ondisk.DirentLen + (int(head.NameLen())+3)&^3
		}
		// the room after .. there is an index
		root := off == ondisk.DotLen && off+length == len(b) &&
			ondisk.IndexHeadOf(b[ondisk.IndexRootInfo:]).InfoLength() == ondisk.IndexInfoLen
		if length-used < need || root {
			off += length
			continue
		}
		if used > 0 {
			head.SetRecLen(uint16(used))
			off, length = off+used, length-used
			head = ondisk.DirentHeadOf(b[off:])
		}
		head.SetInode(ino)
		head.SetRecLen(uint16(length))
		head.SetNameLen(uint8(len(name)))
		head.SetFileType(typ)
		copy(b[off+ondisk.DirentLen:], name)
		return true
	}
	return false
}

// move moves an entry to another directory.
func (d *draft) move(i int, b []byte, name string, typ byte) (string, bool, error) {
	t := d.ts[i]
	if t.kind == "dot" || t.kind == "dotdot" {
		return "", false, nil
	}
	for _, o := range d.ts {
		if o.id == t.id || o.id == uint64(t.ino) || o.kind != "linear" && o.kind != "root" {
			continue
		}
		other, err := d.bytes(o.site)
		if err != nil {
			return "", false, err
		}
		if insert(other, t.ino, typ, name) {
			d.remove(i, b)
			return fmt.Sprintf("%q is in directory %d now", name, o.id), true, nil
		}
	}
	return "", false, nil
}

// cycle moves the directory D, which an entry names, below its own subdirectory E: it moves the
// name from P to E, sets .. of D to E, and moves the link that .. counts for from P to E. Each of
// these changes is also part of a rename.
func (d *draft) cycle(i int, b []byte, name string) (string, bool, error) {
	t := d.ts[i]
	if t.kind != "linear" && t.kind != "root" {
		return "", false, nil
	}
	dotdots := make(map[uint64]target) // by directory
	for _, o := range d.ts {
		if o.kind == "dotdot" {
			dotdots[o.id] = o
		}
	}
	mine, ok := dotdots[uint64(t.ino)]
	if !ok {
		return "", false, nil
	}
	for _, o := range d.ts {
		below, isDir := dotdots[uint64(o.ino)]
		if o.id != uint64(t.ino) || !isDir || o.kind == "dot" || o.kind == "dotdot" {
			continue
		}
		inner, err := d.bytes(below.site)
		if err != nil {
			return "", false, err
		}
		own, err := d.bytes(mine.site)
		if err != nil {
			return "", false, err
		}
		if !insert(inner, t.ino, 2, name) {
			continue
		}
		d.remove(i, b)
		binary.LittleEndian.PutUint32(own[mine.off+ondisk.DirentInodeAt:], o.ino)
		moved, err := d.addLinks(t.id, -1)
		if err != nil || !moved {
			return "", false, err
		}
		moved, err = d.addLinks(uint64(o.ino), 1)
		return fmt.Sprintf("%q, directory %d, is below its subdirectory %d now", name, t.ino, o.ino),
			moved, err
	}
	return "", false, nil
}

// addLinks changes the link count of an inode. ok is false if the inode cannot be altered.
func (d *draft) addLinks(ino uint64, by int) (ok bool, err error) {
	inodes, err := d.others(objInode)
	if err != nil {
		return false, err
	}
	for _, o := range inodes {
		if o.id != ino {
			continue
		}
		b, err := d.bytes(o.site)
		if err != nil {
			return false, err
		}
		binary.LittleEndian.PutUint16(b[o.off+ondisk.InodeLinksCountAt:],
			uint16(int(ondisk.LE16(b, o.off+ondisk.InodeLinksCountAt))+by))
		return true, nil
	}
	return false, nil
}
