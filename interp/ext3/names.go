package ext3

import (
	"bytes"
	"hash/maphash"
	"slices"

	"fsward/interp/ext3/ondisk"
)

// An entryValue is the inode and the file type of a directory entry, and its place.
type entryValue struct {
	ino   uint32 // 0: there is no entry
	block uint32
	off   uint16 // in the block
	typ   uint8
}

func entryOf(block uint32, e ondisk.Entry) entryValue {
	return entryValue{ino: e.Ino, block: block, off: uint16(e.Off), typ: e.Type}
}

// same reports whether two entries of one name have the same value, at any place.
func (v entryValue) same(w entryValue) bool { return v.ino == w.ino && v.typ == w.typ }

// A nameDiff is a name in a directory with its values before and after a transaction.
type nameDiff struct {
	name    []byte
	hash    uint64
	was, is entryValue
}

// A nameTable holds the names of the entries of a directory that a transaction changed or moved,
// before and after it. To save memory, a name takes neither its own string nor entries in two maps.
type nameTable struct {
	seed  maphash.Seed
	slots []uint32 // index in names plus 1; 0: empty. Their number is a power of two.
	names []nameDiff
	text  []byte // the end of the present piece of memory for the bytes of names
	taken int    // bytes of all such pieces
}

// nameBytes is the memory that a name in the table takes without its slots and its bytes.
const nameBytes = 64

// textBytes is the memory for the bytes of names that is taken at a time.
const textBytes = 16 << 10

// bytes returns the memory of the table.
func (d *nameTable) bytes() uint64 {
	return uint64(len(d.slots))*4 + uint64(cap(d.names))*nameBytes + uint64(d.taken)
}

// keep copies a name, so that the table does not keep the block that it is in.
func (d *nameTable) keep(name []byte) []byte {
	if len(name) > cap(d.text)-len(d.text) {
		d.text = make([]byte, 0, textBytes)
		d.taken += textBytes
	}
	from := len(d.text)
	d.text = append(d.text, name...)
	return d.text[from:len(d.text):len(d.text)]
}

// short returns a part of the hash of a name that does not depend on the size of the table.
func short(hash uint64) uint32 { return uint32(hash >> 32) }

const (
	minSlots = 64
	maxSlots = 1 << 14 // slots that are kept for the next directory
)

func newNameTable() *nameTable {
	return &nameTable{seed: maphash.MakeSeed(), slots: make([]uint32, minSlots)}
}

// reset empties the table.
func (d *nameTable) reset() {
	if len(d.slots) > maxSlots {
		d.slots = make([]uint32, minSlots)
	} else {
		clear(d.slots)
	}
	clear(d.names) // release the text
	d.names, d.text, d.taken = d.names[:0], d.text[:0], cap(d.text)
	if cap(d.names) > maxSlots {
		d.names = nil
	}
}

// find returns a name and the slot where it is or would be. The name is nil if it is not there.
func (d *nameTable) find(name []byte) (n *nameDiff, hash uint64, slot int) {
	hash = maphash.Bytes(d.seed, name)
	mask := len(d.slots) - 1
	for slot = int(hash) & mask; d.slots[slot] != 0; slot = (slot + 1) & mask {
		if n := &d.names[d.slots[slot]-1]; n.hash == hash && bytes.Equal(n.name, name) {
			return n, hash, slot
		}
	}
	return nil, hash, slot
}

// at returns a name, and adds it if it is not there. The result is valid until the next name is
// added.
func (d *nameTable) at(name []byte) *nameDiff {
	n, hash, slot := d.find(name)
	if n != nil {
		return n
	}
	d.names = append(d.names, nameDiff{name: d.keep(name), hash: hash})
	d.slots[slot] = uint32(len(d.names))
	if 2*len(d.names) > len(d.slots) {
		d.grow()
	}
	return &d.names[len(d.names)-1]
}

func (d *nameTable) grow() {
	d.slots = make([]uint32, 2*len(d.slots))
	mask := len(d.slots) - 1
	for i := range d.names {
		slot := int(d.names[i].hash) & mask
		for d.slots[slot] != 0 {
			slot = (slot + 1) & mask
		}
		d.slots[slot] = uint32(i + 1)
	}
}

// came reports whether the table has an entry that is new or moved, and whether it has a name that
// is new.
func (d *nameTable) came() (entry, name bool) {
	for i := range d.names {
		n := &d.names[i]
		entry, name = entry || n.is.ino != 0, name || n.was.ino == 0
	}
	return entry, name
}

// twice reports whether an entry has a name that the table has at another place after the
// transaction.
func (d *nameTable) twice(block uint32, e ondisk.Entry) bool {
	n, _, _ := d.find(e.Name)
	return n != nil && n.is.ino != 0 && (n.is.block != block || int(n.is.off) != e.Off)
}

// changed returns the names that are gone, and those that are new or changed, each in the order of
// their bytes.
func (d *nameTable) changed() (gone, now []*nameDiff) {
	for i := range d.names {
		switch n := &d.names[i]; {
		case n.is.ino == 0 && n.was.ino != 0:
			gone = append(gone, n)
		case !n.is.same(n.was):
			now = append(now, n)
		}
	}
	byName := func(a, b *nameDiff) int { return bytes.Compare(a.name, b.name) }
	slices.SortFunc(gone, byName)
	slices.SortFunc(now, byName)
	return gone, now
}
