package agent

import (
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"fsward/explore/ramdisk"
)

// MaxEntries bounds the entries of a Tree.
const MaxEntries = 32 << 10

// An Entry describes a file, with the results of lstat(2). An Entry of a Tree also describes the
// file's contents.
type Entry struct {
	Path   string // in a Tree: relative to the root, which is "."
	Mode   uint32 // st_mode: type and permissions
	Links  uint64
	UID    uint32
	GID    uint32
	Size   uint64 // bytes; for directories the file system defines it
	Blocks uint64 // st_blocks: the space that it takes, in units of 512 bytes
	Inode  uint64 // st_ino; in a Tree, of Btrfs: with the number of a subvolume that is not the root's
	Rdev   uint64
	Mtime  int64 // ns since 1970
	Ctime  int64 // ns since 1970
	// InHole is, in a Tree, one more than the offset of the first byte other than zero that lseek(2)
	// says is in a hole; 0: there is none.
	InHole uint64
	Flags  uint32            // in a Tree: KnownFlags of a regular file or directory, and properties
	Target string            // in a Tree: target of a symbolic link
	Sum    [sha256.Size]byte // in a Tree: SHA-256 of a regular file's contents
	Errno  unix.Errno        // error of reading the file; the other fields are then incomplete
}

func (e *Entry) append(b []byte) []byte {
	b = appendBytes(b, e.Path)
	for _, v := range [...]uint64{
		uint64(e.Mode), e.Links, uint64(e.UID), uint64(e.GID), e.Size, e.Blocks, e.Inode, e.Rdev,
		uint64(e.Mtime), uint64(e.Ctime), e.InHole, uint64(e.Flags), uint64(e.Errno),
	} {
		b = appendNumber(b, v)
	}
	b = appendBytes(b, e.Target)
	return append(b, e.Sum[:]...)
}

func (d *decoder) entry() Entry {
	e := Entry{
		Path:   d.text(MaxPath),
		Mode:   uint32(d.upTo(math.MaxUint32)),
		Links:  d.number(),
		UID:    uint32(d.upTo(math.MaxUint32)),
		GID:    uint32(d.upTo(math.MaxUint32)),
		Size:   d.number(),
		Blocks: d.number(),
		Inode:  d.number(),
		Rdev:   d.number(),
		Mtime:  int64(d.number()),
		Ctime:  int64(d.number()),
		InHole: d.number(),
		Flags:  uint32(d.upTo(math.MaxUint32)),
		Errno:  unix.Errno(d.upTo(maxErrno)),
		Target: d.text(MaxPath),
	}
	if len(d.b) < len(e.Sum) {
		d.fail(errShort)
		return e
	}
	d.b = d.b[copy(e.Sum[:], d.b):]
	return e
}

// DecodeTree decodes the Data of Tree and of Stat. It fails for more than MaxEntries entries.
func DecodeTree(data []byte) (out []Entry, err error) {
	d := decoder{b: data}
	for len(d.b) > 0 && d.err == nil {
		if len(out) == MaxEntries {
			d.fail(fmt.Errorf("more than %d entries", MaxEntries))
			break
		}
		out = append(out, d.entry())
	}
	return out, d.finish("tree")
}

// EncodeTree returns the Data that DecodeTree decodes.
func EncodeTree(entries []Entry) (data []byte) {
	for i := range entries {
		data = entries[i].append(data)
	}
	return data
}

// DecodeNumbers decodes the Data of DiskChanged and of UnscheduledThreads.
func DecodeNumbers(data []byte) (out []uint64, err error) {
	d := decoder{b: data}
	for len(d.b) > 0 && d.err == nil {
		out = append(out, d.number())
	}
	return out, d.finish("numbers")
}

// A Page is a page of a RAM disk.
type Page struct {
	Number uint64
	Data   []byte // ramdisk.PageSize bytes
}

// DecodePages decodes the Data of DiskPages. It fails unless the numbers of the pages rise and
// exist on the largest RAM disk.
func DecodePages(data []byte) (out []Page, err error) {
	const size = 8 + ramdisk.PageSize
	if len(data)%size != 0 || len(data)/size > MaxPages {
		return nil, fmt.Errorf("pages: wrong length, %d bytes", len(data))
	}
	for ; len(data) > 0; data = data[size:] {
		p := Page{le.Uint64(data), data[8:size:size]}
		outside := p.Number >= ramdisk.MaxBytes/ramdisk.PageSize
		if outside || len(out) > 0 && p.Number <= out[len(out)-1].Number {
			return nil, fmt.Errorf("pages: wrong page number %d", p.Number)
		}
		out = append(out, p)
	}
	return out, nil
}

// entryOf returns the entry of a file from its lstat(2).
func entryOf(path string, st *unix.Stat_t) Entry {
	return Entry{Path: path, Mode: st.Mode, Links: st.Nlink, UID: st.Uid, GID: st.Gid,
		Size: uint64(st.Size), Blocks: uint64(st.Blocks), Inode: st.Ino, Rdev: st.Rdev,
		Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano()}
}

// statEntry performs Stat.
func statEntry(path string) ([]byte, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return nil, err
	}
	e := entryOf("", &st)
	return e.append(nil), nil
}

// readTree performs Tree, and returns the encoded entries and their number. A file that it cannot
// read becomes an entry with an error number, so that the explorer sees the rest of the tree. Only
// the root itself must exist. stop reports whether time is up.
func readTree(root string, stop func() bool) (data []byte, n int, err error) {
	todo, contents := []string{"."}, newContentReader()
	var numbers inodes
	for len(todo) > 0 {
		rel := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		path := filepath.Join(root, rel)
		e, err := numbers.entry(path, rel)
		if err != nil {
			if rel == "." {
				return nil, 0, err
			}
			e := Entry{Path: rel, Errno: errnoOf(err)}
			data = e.append(data)
			n++
			continue
		}
		switch e.Mode & unix.S_IFMT {
		case unix.S_IFDIR:
			names, flags, err := readDir(path, e.Inode)
			e.Flags = flags
			e.Errno = errnoOf(err)
			for i := len(names) - 1; i >= 0; i-- {
				todo = append(todo, filepath.Join(rel, names[i]))
			}
		case unix.S_IFLNK:
			e.Target, err = os.Readlink(path)
			e.Errno = errnoOf(err)
		case unix.S_IFREG:
			if rel == FillName {
				break // large, and nobody compares it
			}
			contents.describe(&e, path)
		}
		data = e.append(data)
		n++
		if n+len(todo) > MaxEntries || len(data) > maxAnswer {
			return nil, 0, unix.EOVERFLOW
		}
		if stop() {
			return nil, 0, unix.ETIMEDOUT
		}
	}
	return data, n, nil
}

// readNames returns the names in a directory, sorted. With an error it returns the names that were
// read before it.
func readNames(path string) ([]string, error) {
	names, _, err := readDir(path, 0)
	return names, err
}

// readDir is readNames, and returns the flags of the directory with an inode number, too. It does
// not use os.ReadDir: where the file system does not give the type of an entry, os.ReadDir calls
// lstat(2), and it ends at the first name without a file.
func readDir(path string, inode uint64) (names []string, flags uint32, err error) {
	// The open of a FIFO would wait. A new time of access would change the directory.
	d, err := openRaw(path, unix.O_DIRECTORY|unix.O_NOATIME)
	if err != nil {
		return nil, 0, err
	}
	defer d.Close()
	names, err = d.names()
	slices.Sort(names)
	return names, flagsOf(d) | propertiesOf(path, inode), err
}
