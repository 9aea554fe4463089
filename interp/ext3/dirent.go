package ext3

import (
	"bytes"

	"fsward/change"
)

// An entry is a directory entry that names an inode.
type entry struct {
	off  int // in its block
	ino  uint32
	typ  uint8 // EXT2_FT_*; 0 without the feature filetype
	name []byte
}

// recLen reads the length of a directory entry. With blocks of 64 KiB, 65535 and 0 mean 65536
// (ext4_rec_len_from_disk).
func recLen(b []byte, off int) int {
	n := int(le16(b, off+dirRecLen))
	if len(b) == 1<<16 && (n == 0 || n == 1<<16-1) {
		return 1 << 16
	}
	return n
}

// entries calls visit for each entry in a directory block that names an inode, and stops at the first
// entry whose length is wrong: fault then says why ("" else). The checks are those of the kernel's
// ext4_check_dir_entry. As there, a name's length is one byte wide even without the feature filetype: the
// kernel leaves what it finds in the byte after it (ext4_init_dot_dotdot in a block that it has used before).
func entries(b []byte, fileType bool, visit func(entry)) (at int, fault string) {
	for off := 0; off < len(b); {
		if len(b)-off < dirHeaderLen {
			return off, "no room for an entry before the end of the block"
		}
		n, nameLen := recLen(b, off), int(b[off+dirNameLen])
		e := entry{off: off, ino: le32(b, off+dirInode)}
		if fileType {
			e.typ = b[off+dirFileType]
		}
		switch {
		case n < dirHeaderLen || n < dirHeaderLen+4 && e.ino != 0:
			return off, "the entry is too short"
		case n%4 != 0:
			return off, "the entry's length is no multiple of 4"
		case n > len(b)-off:
			return off, "the entry goes beyond its block"
		case dirHeaderLen+nameLen > n:
			return off, "the name does not fit the entry"
		}
		if e.ino != 0 {
			e.name = b[off+dirHeaderLen : off+dirHeaderLen+nameLen]
			visit(e)
		}
		off += n
	}
	return 0, ""
}

// checkDir checks a block of a directory and calls visit for its entries. first: it is block 0, which
// begins with . and .., whose entries are the directory's own.
func (l *layout) checkDir(dir uint32, b []byte, block uint32, first bool, visit func(entry)) (faults []change.Violation) {
	fault := func(c check, off int, format string, args ...any) {
		if len(faults) < maxFaults {
			faults = append(faults, on(c.at(l.geo.addr(block)+uint64(off), format, args...), kindInode, uint64(dir)))
		}
	}
	n := 0
	at, bad := entries(b, l.geo.fileType, func(e entry) {
		dot, dotdot := string(e.name) == ".", string(e.name) == ".."
		if want := first && n < 2; want != (dot || dotdot) || want && dot != (n == 0) {
			fault(checkDots, e.off, "entry %d of the block is %q", n, e.name)
		} else if dot && e.ino != dir {
			fault(checkDots, e.off, ". names inode %d, not the directory %d", e.ino, dir)
		} else if want && (b[e.off+dirHeaderLen+len(e.name)] != 0 || dot && recLen(b, e.off) > 2*dotLen) {
			fault(checkDots, e.off, "%q is not followed by a zero, or has room for another entry: rec_len %d", e.name, recLen(b, e.off))
		}
		n++
		if e.ino > l.geo.inodes || e.ino < l.geo.firstIno && e.ino != rootIno {
			fault(checkDirentInode, e.off, "entry %q names inode %d", e.name, e.ino)
		}
		if len(e.name) == 0 || bytes.ContainsAny(e.name, "/\x00") {
			fault(checkDirentName, e.off, "the name is %q", e.name)
		}
		if e.typ >= entryTypes {
			fault(checkDirentType, e.off, "the file type of %q is %d", e.name, e.typ)
		}
		visit(e)
	})
	if bad != "" {
		fault(checkDirentLen, at, "%s: rec_len %d, name_len %d at byte %d", bad, le16(b, min(at, len(b)-8)+dirRecLen), b[min(at, len(b)-8)+dirNameLen], at)
	} else if first && n < 2 {
		fault(checkDots, 0, "the first block has %d entries", n)
	}
	return faults
}
