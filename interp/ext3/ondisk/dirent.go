package ondisk

import "bytes"

// DotLen is the length in bytes of the entry ".", the first of a directory.
const DotLen = 12

// An Entry is a directory entry that names an inode.
type Entry struct {
	Off  int // in its block
	Ino  uint32
	Type uint8 // EXT2_FT_*; 0 without the feature filetype
	Name []byte
}

// RecLen reads the length of a directory entry. With blocks of 64 KiB, 65535 and 0 mean 65536
// (ext4_rec_len_from_disk).
func RecLen(b []byte, off int) int {
	n := int(DirentHeadOf(b[off:]).RecLen())
	if len(b) == 1<<16 && (n == 0 || n == 1<<16-1) {
		return 1 << 16
	}
	return n
}

// EntryAt returns the entry at an offset of a directory block. ok is false if it does not fit the
// block.
func EntryAt(b []byte, off int, fileType bool) (e Entry, ok bool) {
	if off+DirentLen > len(b) {
		return e, false
	}
	head := DirentHeadOf(b[off:])
	e.Off, e.Ino = off, head.Inode()
	if fileType {
		e.Type = head.FileType()
	}
	end := off + DirentLen + int(head.NameLen())
	if end > len(b) {
		return e, false
	}
	e.Name = b[off+DirentLen : end]
	return e, true
}

// Equal reports whether two entries are equal, with their places in a block.
func (e Entry) Equal(f Entry) bool {
	return e.Off == f.Off && e.Ino == f.Ino && e.Type == f.Type && bytes.Equal(e.Name, f.Name)
}

// Entries calls visit for each entry in a directory block that names an inode. It stops at the
// first entry of wrong length; fault says why, and is "" if there is none. The checks are those of
// the kernel's ext4_check_dir_entry. As there, the length of a name takes one byte even without the
// feature filetype: the kernel does not clear the byte after it (ext4_init_dot_dotdot in a block
// that was used before).
func Entries(b []byte, fileType bool, visit func(Entry)) (at int, fault string) {
	for off := 0; off < len(b); {
		if len(b)-off < DirentLen {
			return off, "no room for an entry before the end of the block"
		}
		head := DirentHeadOf(b[off:])
		n, nameLen := RecLen(b, off), int(head.NameLen())
		e := Entry{Off: off, Ino: head.Inode()}
		if fileType {
			e.Type = head.FileType()
		}
		switch {
		case n < DirentLen || n < DirentLen+4 && e.Ino != 0:
			return off, "the entry is too short"
		case n%4 != 0:
			return off, "the entry's length is no multiple of 4"
		case n > len(b)-off:
			return off, "the entry goes beyond its block"
		case DirentLen+nameLen > n:
			return off, "the name does not fit the entry"
		}
		if e.Ino != 0 {
			e.Name = b[off+DirentLen : off+DirentLen+nameLen]
			visit(e)
		}
		off += n
	}
	return 0, ""
}
