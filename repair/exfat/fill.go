package exfat

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf16"
)

// A Node is a file to make: a directory if Files is not nil.
type Node struct {
	Name  string // of ASCII
	Data  []byte
	Files []Node
}

// made is the time of files: 2024-01-01, as in a directory entry.
const made = (2024-1980)<<25 | 1<<21 | 1<<16

// Fill adds files to the root of a file system that mkfs.exfat made.
func Fill(image *os.File, files []Node) error {
	st, err := image.Stat()
	if err != nil {
		return err
	}
	f, err := Open(image, uint64(st.Size()))
	if err != nil {
		return err
	}
	w := &writer{FS: f, f: image}
	sets, err := w.sets(files)
	if err != nil {
		return err
	}
	at, err := f.address(f.root)
	if err != nil {
		return err
	}
	root := make([]byte, f.clusterBytes)
	if _, err := image.ReadAt(root, int64(at)); err != nil {
		return err
	}
	free := 0
	for free < len(root) && root[free] != 0 {
		free += entryBytes
	}
	if len(root)-free < len(sets) {
		return errors.New("exfat: the root directory is full")
	}
	_, err = image.WriteAt(sets, int64(at)+int64(free))
	return err
}

type writer struct {
	*FS
	f *os.File
}

// sets writes files, and returns their directory entries.
func (w *writer) sets(files []Node) (all []byte, err error) {
	for _, n := range files {
		attributes, data := uint16(archive), n.Data
		if n.Files != nil {
			attributes = Directory
			if data, err = w.sets(n.Files); err != nil {
				return nil, err
			}
			size := max(1, (uint64(len(data))+w.clusterBytes-1)/w.clusterBytes) * w.clusterBytes
			data = append(data, make([]byte, size-uint64(len(data)))...)
		}
		first, err := w.write(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n.Name, err)
		}
		all = append(all, set(n.Name, attributes, first, uint64(len(data)))...)
	}
	return all, nil
}

// bitmap returns the address of the allocation bitmap, which the root names.
func (w *writer) bitmap() (uint64, error) {
	at, err := w.address(w.root)
	if err != nil {
		return 0, err
	}
	b := make([]byte, w.clusterBytes)
	if _, err := w.f.ReadAt(b, int64(at)); err != nil {
		return 0, err
	}
	for ; len(b) > 0; b = b[entryBytes:] {
		if b[0] == 0x81 {
			return w.address(binary.LittleEndian.Uint32(b[20:]))
		}
	}
	return 0, errors.New("exfat: there is no allocation bitmap")
}

// write puts data into clusters that follow each other, with a chain, and returns the first.
func (w *writer) write(data []byte) (uint32, error) {
	need := (uint64(len(data)) + w.clusterBytes - 1) / w.clusterBytes
	if need == 0 {
		return 0, nil
	}
	at, err := w.bitmap()
	if err != nil {
		return 0, err
	}
	bits := make([]byte, (w.clusters+7)/8)
	if _, err := w.f.ReadAt(bits, int64(at)); err != nil {
		return 0, err
	}
	first := w.clusters // behind the last one in use
	for first > 0 && bits[(first-1)/8]>>((first-1)%8)&1 == 0 {
		first--
	}
	if w.clusters-first < need {
		return 0, errors.New("exfat: the disk is full")
	}
	chain := make([]byte, 0, 4*need)
	for n := first; n < first+need; n++ {
		bits[n/8] |= 1 << (n % 8)
		next := uint32(n + firstCluster + 1)
		if n == first+need-1 {
			next = 0xffffffff
		}
		chain = binary.LittleEndian.AppendUint32(chain, next)
	}
	_, err1 := w.f.WriteAt(bits, int64(at))
	_, err2 := w.f.WriteAt(chain, int64(w.fat+4*(first+firstCluster)))
	_, err3 := w.f.WriteAt(data, int64(w.heap+first*w.clusterBytes))
	return uint32(first + firstCluster), errors.Join(err1, err2, err3)
}

// set returns the directory entries of a file.
func set(name string, attributes uint16, first uint32, size uint64) []byte {
	units := utf16.Encode([]rune(name))
	names := (len(units) + perName - 1) / perName
	b := make([]byte, entryBytes*(2+names))
	le := binary.LittleEndian
	b[0], b[1] = typeFile, byte(1+names)
	le.PutUint16(b[4:], attributes)
	for _, at := range []int{8, 12, 16} {
		le.PutUint32(b[at:], made)
	}
	stream := b[entryBytes:]
	stream[0], stream[1], stream[3] = typeStream, 1, byte(len(units))
	le.PutUint16(stream[4:], nameHash(name))
	le.PutUint64(stream[8:], size)
	le.PutUint32(stream[20:], first)
	le.PutUint64(stream[24:], size)
	for i, u := range units {
		entry := b[entryBytes*(2+i/perName):]
		entry[0] = typeName
		le.PutUint16(entry[2+2*(i%perName):], u)
	}
	le.PutUint16(b[2:], sum(b))
	return b
}

// nameHash returns the hash of a name in capital letters.
func nameHash(name string) (h uint16) {
	for _, u := range utf16.Encode([]rune(strings.ToUpper(name))) {
		for _, v := range []byte{byte(u), byte(u >> 8)} {
			h = (h<<15 | h>>1) + uint16(v)
		}
	}
	return h
}
