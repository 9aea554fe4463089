package ext3

import (
	"bytes"

	"fsward/change"
	"fsward/interp/ext3/ondisk"
)

// checkDir checks a block of a directory and calls visit for its entries. first marks block 0,
// which begins with . and .., the entries of the directory itself.
func (l *Layout) checkDir(dir uint32, b []byte, block uint32, first bool,
	visit func(ondisk.Entry)) (faults []change.Violation) {
	fault := func(c check, off int, format string, args ...any) {
		if len(faults) < maxFaults {
			faults = append(faults, on(c.at(l.Geo.Addr(block)+uint64(off), format, args...),
				ondisk.KindInode, uint64(dir)))
		}
	}
	n := 0
	at, bad := ondisk.Entries(b, l.Geo.FileType, func(e ondisk.Entry) {
		dot, dotdot := string(e.Name) == ".", string(e.Name) == ".."
		if want := first && n < 2; want != (dot || dotdot) || want && dot != (n == 0) {
			fault(checkDots, e.Off, "entry %d of the block is %q", n, e.Name)
		} else if dot && e.Ino != dir {
			fault(checkDots, e.Off, ". names inode %d, not the directory %d", e.Ino, dir)
		} else if want && (b[e.Off+ondisk.DirentLen+len(e.Name)] != 0 || dot && ondisk.RecLen(b,
			e.Off) > 2*ondisk.DotLen) {
			fault(checkDots, e.Off,
				"%q is not followed by a zero, or has room for another entry: rec_len %d", e.Name,
				ondisk.RecLen(b, e.Off))
		}
		n++
		if e.Ino > l.Geo.Inodes || e.Ino < l.Geo.FirstIno && e.Ino != ondisk.RootIno {
			fault(checkDirentInode, e.Off, "entry %q names inode %d", e.Name, e.Ino)
		}
		if len(e.Name) == 0 || bytes.ContainsAny(e.Name, "/\x00") {
			fault(checkDirentName, e.Off, "the name is %q", e.Name)
		}
		if e.Type >= ondisk.EntryTypes {
			fault(checkDirentType, e.Off, "the file type of %q is %d", e.Name, e.Type)
		}
		visit(e)
	})
	if bad != "" {
		head := ondisk.DirentHeadOf(b[min(at, len(b)-ondisk.DirentLen):])
		fault(checkDirentLen, at, "%s: rec_len %d, name_len %d at byte %d", bad, head.RecLen(),
			head.NameLen(), at)
	} else if first && n < 2 {
		fault(checkDots, 0, "the first block has %d entries", n)
	}
	return faults
}
