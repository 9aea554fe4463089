// Package exfat reads and makes files of an exFAT file system, as Microsoft's specification has it:
// the kernel in which repairs are looked at does not know exFAT. Start with Open.
package exfat

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
)

// Bits of a file's attributes.
const (
	Directory = 0x10
	archive   = 0x20
)

// Types of directory entries.
const (
	typeFile   = 0x85
	typeStream = 0xc0
	typeName   = 0xc1
)

const (
	entryBytes   = 32
	firstCluster = 2
	noFATChain   = 2 // in a stream's flags: the clusters follow each other
	perName      = 15
	endOfChain   = 0xfffffff8
	maxDirectory = 256 << 20 // bytes, by the specification
)

// An FS is an exFAT file system.
type FS struct {
	r            io.ReaderAt
	fat, heap    uint64 // addresses
	clusterBytes uint64
	clusters     uint64
	root         uint32
}

// A Range is a range of the image's bytes.
type Range struct{ Off, End uint64 }

// A File is a file or a directory. The root has no name.
type File struct {
	Name       string
	Attributes uint16
	Size       uint64 // bytes; of the root not known
	Valid      uint64 // bytes that were written; the rest are zeros
	// Entry has the clusters of the directory up to the file's entries: one of type 0 before them
	// ends it. At is the address of the first entry.
	Entry []Range
	At    uint64

	first uint32
	plain bool // without a chain in the FAT
	root  bool
}

// Open reads the boot sector. The error says why the image is no exFAT file system.
func Open(r io.ReaderAt, size uint64) (*FS, error) {
	b := make([]byte, 512)
	if _, err := r.ReadAt(b, 0); err != nil {
		return nil, fmt.Errorf("exfat: %w", err)
	}
	sector, cluster := b[108], b[109]
	if string(b[3:11]) != "EXFAT   " || sector < 9 || sector > 12 || cluster > 25-sector {
		return nil, errors.New("exfat: the boot sector is not one of exFAT")
	}
	u32 := binary.LittleEndian.Uint32
	f := &FS{r: r, fat: uint64(u32(b[80:])) << sector, heap: uint64(u32(b[88:])) << sector,
		clusterBytes: 1 << (sector + cluster), clusters: uint64(u32(b[92:])), root: u32(b[96:])}
	if f.heap > size || f.clusters > (size-f.heap)/f.clusterBytes ||
		f.fat > size || 4*(f.clusters+firstCluster) > size-f.fat {
		return nil, errors.New("exfat: clusters lie outside the image")
	}
	return f, nil
}

// Root returns the root directory.
func (f *FS) Root() *File {
	return &File{Attributes: Directory, first: f.root, root: true}
}

// address returns the address of a cluster.
func (f *FS) address(cluster uint32) (uint64, error) {
	if cluster < firstCluster || uint64(cluster)-firstCluster >= f.clusters {
		return 0, fmt.Errorf("exfat: cluster %d lies outside the image", cluster)
	}
	return f.heap + (uint64(cluster)-firstCluster)*f.clusterBytes, nil
}

// Clusters returns the ranges of a file's clusters, and those of their entries in the FAT.
func (f *FS) Clusters(file *File) (data, fat []Range, err error) {
	need := (file.Size + f.clusterBytes - 1) / f.clusterBytes
	if need > f.clusters {
		return nil, nil, fmt.Errorf("exfat: a file of %d bytes", file.Size)
	}
	if file.root {
		need = min(f.clusters, maxDirectory/f.clusterBytes)
	}
	for cluster := file.first; uint64(len(data)) < need; {
		if file.root && cluster >= endOfChain {
			return data, fat, nil
		}
		at, err := f.address(cluster)
		if err != nil {
			return nil, nil, err
		}
		data = append(data, Range{at, at + f.clusterBytes})
		if file.plain {
			cluster++
			continue
		}
		entry := f.fat + 4*uint64(cluster)
		fat = append(fat, Range{entry, entry + 4})
		b := make([]byte, 4)
		if _, err := f.r.ReadAt(b, int64(entry)); err != nil {
			return nil, nil, fmt.Errorf("exfat: %w", err)
		}
		cluster = binary.LittleEndian.Uint32(b)
	}
	if file.root {
		return nil, nil, errors.New("exfat: the root directory has no end")
	}
	return data, fat, nil
}

// Copy writes the contents of a file.
func (f *FS) Copy(w io.Writer, file *File) error {
	data, _, err := f.Clusters(file)
	if err != nil {
		return err
	}
	if file.Valid > file.Size {
		return fmt.Errorf("exfat: %d of %d bytes are valid", file.Valid, file.Size)
	}
	left, valid := file.Size, file.Valid
	for _, r := range data {
		b := make([]byte, min(left, f.clusterBytes))
		n := min(valid, uint64(len(b)))
		if _, err := f.r.ReadAt(b[:n], int64(r.Off)); err != nil {
			return fmt.Errorf("exfat: %w", err)
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
		left, valid = left-uint64(len(b)), valid-n
	}
	return nil
}

// Entries lists the files of a directory.
func (f *FS) Entries(dir *File) (list []*File, err error) {
	data, _, err := f.Clusters(dir)
	if err != nil {
		return nil, err
	}
	if uint64(len(data))*f.clusterBytes > maxDirectory {
		return nil, errors.New("exfat: a directory of more than 256 MiB")
	}
	var all []byte
	for _, r := range data {
		b := make([]byte, f.clusterBytes)
		if _, err := f.r.ReadAt(b, int64(r.Off)); err != nil {
			return nil, fmt.Errorf("exfat: %w", err)
		}
		all = append(all, b...)
	}
	for at := 0; at < len(all) && all[at] != 0; {
		if all[at] != typeFile { // the root has a bitmap, and other entries are not in use
			at += entryBytes
			continue
		}
		set := all[at:min(len(all), at+entryBytes*(1+int(all[at+1])))]
		file, err := parse(set)
		if err != nil {
			return nil, fmt.Errorf("exfat: entry %d: %w", at/entryBytes, err)
		}
		first, last := uint64(at)/f.clusterBytes, uint64(at+len(set)-1)/f.clusterBytes
		file.Entry = data[:last+1]
		file.At = data[first].Off + uint64(at)%f.clusterBytes
		list = append(list, file)
		at += len(set)
	}
	return list, nil
}

// parse reads a set of directory entries: a file, its stream, and its name.
func parse(set []byte) (*File, error) {
	u16, u64 := binary.LittleEndian.Uint16, binary.LittleEndian.Uint64
	if len(set) != entryBytes*(1+int(set[1])) || len(set) < 3*entryBytes ||
		set[entryBytes] != typeStream {
		return nil, errors.New("the file has no stream or no name")
	}
	if sum(set) != u16(set[2:]) {
		return nil, errors.New("the checksum is wrong")
	}
	stream := set[entryBytes : 2*entryBytes]
	file := &File{Attributes: u16(set[4:]), Size: u64(stream[24:]), Valid: u64(stream[8:]),
		first: binary.LittleEndian.Uint32(stream[20:]), plain: stream[1]&noFATChain != 0}
	var units []uint16
	for rest := set[2*entryBytes:]; len(rest) > 0; rest = rest[entryBytes:] {
		if rest[0] != typeName {
			break
		}
		for i := range perName {
			units = append(units, u16(rest[2+2*i:]))
		}
	}
	n := int(stream[3])
	if n == 0 || n > len(units) {
		return nil, fmt.Errorf("a name of %d characters in %d", n, len(units))
	}
	file.Name = string(utf16.Decode(units[:n]))
	return file, nil
}

// sum returns the checksum of a set of directory entries, which leaves itself out.
func sum(set []byte) (s uint16) {
	for i, v := range set {
		if i != 2 && i != 3 {
			s = (s<<15 | s>>1) + uint16(v)
		}
	}
	return s
}
