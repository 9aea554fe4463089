package minix

import (
	"encoding/binary"
	"fmt"
	"os"
)

// A Writer adds files to a Minix file system that mkfs.minix made.
type Writer struct {
	*FS
	f *os.File
}

// NewWriter opens an image.
func NewWriter(f *os.File) (*Writer, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	fs, err := Open(f, uint64(st.Size()))
	if err != nil {
		return nil, err
	}
	return &Writer{fs, f}, nil
}

// take allocates the first free bit of a bitmap.
func (w *Writer) take(block, blocks, count uint64) (uint64, error) {
	b := make([]byte, blocks*BlockSize)
	if _, err := w.f.ReadAt(b, int64(block*BlockSize)); err != nil {
		return 0, err
	}
	for n := range min(count, 8*uint64(len(b))) {
		if b[n/8]>>(n%8)&1 == 0 {
			b[n/8] |= 1 << (n % 8)
			_, err := w.f.WriteAt(b[n/8:n/8+1], int64(block*BlockSize+n/8))
			return n, err
		}
	}
	return 0, fmt.Errorf("minix: the disk is full")
}

// zone allocates a zone with contents.
func (w *Writer) zone(data []byte) (uint64, error) {
	n, err := w.take(2+w.imap, w.zmap, w.zones-w.firstData+1)
	if err != nil {
		return 0, err
	}
	zone := w.firstData + n - 1
	b := make([]byte, BlockSize)
	copy(b, data)
	_, err = w.f.WriteAt(b, int64(zone*BlockSize))
	return zone, err
}

// A File is what Add makes. Device is the number of a device.
type File struct {
	Mode   uint32
	Data   []byte
	Device uint16
}

// Add makes a file and enters it into a directory. It returns its inode.
func (w *Writer) Add(dir uint64, name string, file File) (uint64, error) {
	n, err := w.take(2, w.imap, w.inodes+1)
	if err != nil {
		return 0, err
	}
	data, links := file.Data, 1
	if file.Mode&TypeMask == Directory {
		data, links = append(w.entry(".", n), w.entry("..", dir)...), 2
	}
	raw := make([]byte, w.inodeSize)
	le := binary.LittleEndian
	le.PutUint16(raw, uint16(file.Mode))
	const second = 1704067200 // 2024-01-01
	if w.version == 1 {
		le.PutUint32(raw[4:], uint32(len(data)))
		le.PutUint32(raw[8:], second)
		raw[13] = byte(links)
	} else {
		le.PutUint16(raw[2:], uint16(links))
		le.PutUint32(raw[8:], uint32(len(data)))
		for _, at := range []int{12, 16, 20} {
			le.PutUint32(raw[at:], second)
		}
	}
	w.put(raw, w.pointerAt, 0, uint64(file.Device))
	if err := w.data(raw, data); err != nil {
		return 0, err
	}
	if _, err := w.f.WriteAt(raw, int64(w.inodeAt(n))); err != nil {
		return 0, err
	}
	if file.Mode&TypeMask == Directory {
		if err := w.addLinks(dir, 1); err != nil {
			return 0, err
		}
	}
	return n, w.Link(dir, name, n, false)
}

// data allocates the zones of a file, and sets the pointers in its inode.
func (w *Writer) data(raw, data []byte) error {
	var zones []uint64
	for at := 0; at < len(data); at += BlockSize {
		z, err := w.zone(data[at:min(at+BlockSize, len(data))])
		if err != nil {
			return err
		}
		zones = append(zones, z)
	}
	for n := range min(direct, len(zones)) {
		w.put(raw, w.pointerAt, uint64(n), zones[n])
	}
	zones = zones[min(direct, len(zones)):]
	per := int(BlockSize / w.pointer)
	if len(zones) == 0 {
		return nil
	}
	single, err := w.pointers(zones[:min(per, len(zones))])
	if err != nil {
		return err
	}
	w.put(raw, w.pointerAt, direct, single)
	var blocks []uint64
	for zones = zones[min(per, len(zones)):]; len(zones) > 0; zones = zones[min(per, len(zones)):] {
		block, err := w.pointers(zones[:min(per, len(zones))])
		if err != nil {
			return err
		}
		blocks = append(blocks, block)
	}
	if len(blocks) == 0 {
		return nil
	}
	double, err := w.pointers(blocks)
	w.put(raw, w.pointerAt, direct+1, double)
	return err
}

// pointers allocates a zone of pointers.
func (w *Writer) pointers(zones []uint64) (uint64, error) {
	b := make([]byte, BlockSize)
	for n, z := range zones {
		w.put(b, 0, uint64(n), z)
	}
	return w.zone(b)
}

func (w *Writer) entry(name string, inode uint64) []byte {
	b := make([]byte, w.entryLen)
	if w.numberLen == 4 {
		binary.LittleEndian.PutUint32(b, uint32(inode))
	} else {
		binary.LittleEndian.PutUint16(b, uint16(inode))
	}
	copy(b[w.numberLen:], name)
	return b
}

// Link enters an inode into a directory, which may have no more than seven blocks. With count, the
// inode gets one more link.
func (w *Writer) Link(dir uint64, name string, inode uint64, count bool) error {
	if count {
		if err := w.addLinks(inode, 1); err != nil {
			return err
		}
	}
	i, err := w.Inode(dir)
	if err != nil {
		return err
	}
	block := i.Size / BlockSize
	if block >= direct {
		return fmt.Errorf("minix: directory %d is full", dir)
	}
	if i.Size%BlockSize == 0 {
		z, err := w.zone(nil)
		if err != nil {
			return err
		}
		w.put(i.raw, w.pointerAt, block, z)
	}
	at := i.Pointer(block)*BlockSize + i.Size%BlockSize
	if _, err := w.f.WriteAt(w.entry(name, inode), int64(at)); err != nil {
		return err
	}
	sizeAt := 8
	if w.version == 1 {
		sizeAt = 4
	}
	binary.LittleEndian.PutUint32(i.raw[sizeAt:], uint32(i.Size+w.entryLen))
	_, err = w.f.WriteAt(i.raw, int64(i.Off))
	return err
}

func (w *Writer) addLinks(inode uint64, n uint16) error {
	i, err := w.Inode(inode)
	if err != nil {
		return err
	}
	if w.version == 1 {
		i.raw[13] += byte(n)
	} else {
		binary.LittleEndian.PutUint16(i.raw[2:], uint16(i.Links)+n)
	}
	_, err = w.f.WriteAt(i.raw, int64(i.Off))
	return err
}
