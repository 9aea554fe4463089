package btrfs

import (
	"encoding/binary"
	"fmt"
	"slices"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/disk"
)

// alterer changes one item in the leaves that pass through it.
type alterer struct {
	disk  interp.Disk
	spec  alterSpec
	state *state // of the superblock on disk; nil: read it again

	chosen     bool // an item was changed; it is
	tree       uint64
	key        key
	generation uint64 // of the transaction
	over       bool   // which has been committed, or refused
}

// NewAlterer makes an alterer. The disk need not hold a file system yet. spec is one of
//
//	ITEM.FIELD=N   ITEM.FIELD+N   ITEM.FIELD-N   ITEM!delete
//
// where ITEM is a kind of item (inode_item) and FIELD a member of its structure (nlink,
// location.objectid), "name" for the first byte of a name, or part of the item's key (key.offset). It may
// be followed by @ and conditions with commas between, on the tree, on objectid and offset of the key,
// and on members: inode_item.mode=0o100644@tree=5,objectid=256. Without one on the tree, items that
// belong to files are taken from file trees. The first item that fits in a transaction is the one. An
// error lists what there is.
func NewAlterer(d interp.Disk, spec string) (interp.Alterer, error) {
	s, err := parseAlterSpec(spec)
	if err != nil {
		return nil, err
	}
	return &alterer{disk: d, spec: s}, nil
}

// Alter changes the item in each leaf of its transaction that w holds whole.
func (a *alterer) Alter(w interp.Write) string {
	if w.Data == nil || a.over {
		return ""
	}
	if _, off := interp.Locate(w.Off); overlap(off, w.Len, superOffset, superSize) {
		a.state = nil // what is on disk is another one after this write
		a.over = a.chosen
		return ""
	}
	if a.state == nil {
		f, err := New(a.disk)
		if err != nil {
			return "" // no file system yet
		}
		a.state = f.base
	}
	text := ""
	step, size := uint64(a.state.rules.sectorSize), uint64(a.state.rules.nodeSize)
	for at := (step - w.Off%step) % step; at+size <= uint64(len(w.Data)); at += step {
		block := w.Data[at : at+size : at+size]
		n := a.leaf(block, w.Off+at)
		if n == nil {
			continue
		}
		if t := a.alterLeaf(n); t != "" {
			a.state.rules.csum.seal(block)
			text = t
		}
	}
	return text
}

// leaf returns the block at a device address if it is a leaf that the guest writes for its next commit.
// Leaves of the log are not.
func (a *alterer) leaf(block []byte, addr uint64) *node {
	if [16]byte(block[32:48]) != a.state.rules.fsid {
		return nil
	}
	logical := binary.LittleEndian.Uint64(block[48:])
	copies, count, err := a.state.chunks.copies(logical, uint64(len(block)), groupMetadata|groupSystem)
	if err != nil || !slices.Contains(copies[:count], addr) {
		return nil
	}
	n, err := checkNode(disk.NewRegion(block, addr), logical, a.state.rules)
	if err != nil || n.level() != 0 || n.owner() == treeLogID || n.generation() <= a.state.sb.generation() ||
		a.chosen && n.generation() != a.generation {
		return nil
	}
	return n
}

// alterLeaf changes the item in a leaf, and says how, or returns "".
func (a *alterer) alterLeaf(n *node) string {
	for i := range n.nritems() {
		if !a.fits(n, i) {
			continue
		}
		k := n.key(i)
		text, ok := a.change(n, i)
		if !ok {
			continue
		}
		a.chosen, a.tree, a.key, a.generation = true, n.owner(), k, n.generation()
		return fmt.Sprintf("%s of tree %s: %s", keyText(k), change.NumText(n.owner()), text)
	}
	return ""
}

// fits tells whether item i is the one to change.
func (a *alterer) fits(n *node, i int) bool {
	k := n.key(i)
	t := &itemTypes[a.spec.kind]
	if k.typ != t.typ || classOf(n.owner())&t.trees == 0 {
		return false
	}
	if a.chosen {
		return n.owner() == a.tree && k == a.key
	}
	inTree := t.trees&inFile == 0 || fileTree(n.owner())
	for _, c := range a.spec.where {
		if c.tree {
			if n.owner() != c.value {
				return false
			}
			inTree = true
			continue
		}
		if v, ok := a.value(n, i, c.m); !ok || v != c.value {
			return false
		}
	}
	return inTree
}

// bytes returns the bytes of a member of item i; ok is false if the item ends before.
func (a *alterer) bytes(n *node, i int, m member) ([]byte, bool) {
	from := disk.NewRegion(n.r.Bytes()[headerSize+i*itemSize:], 0)
	if !m.inKey {
		from = n.item(i)
	}
	r, err := from.Sub(uint64(m.off), uint64(m.width))
	return r.Bytes(), err == nil
}

func (a *alterer) value(n *node, i int, m member) (uint64, bool) {
	b, ok := a.bytes(n, i, m)
	if !ok {
		return 0, false
	}
	return read(disk.NewRegion(b, 0), 0, m.width), true
}

// change changes item i. It leaves alone what would break the order of keys, in the leaf or against its
// parent, for that is found before any rule is asked.
func (a *alterer) change(n *node, i int) (text string, ok bool) {
	first := i == 0 && n.nritems() > 1
	if a.spec.delete {
		if first || n.nritems() < 2 {
			return "", false
		}
		removeItem(n, i)
		return "deleted", true
	}
	m := a.spec.member
	b, ok := a.bytes(n, i, m)
	if !ok || m.inKey && first {
		return "", false
	}
	old := read(disk.NewRegion(b, 0), 0, m.width)
	now := a.spec.value
	switch a.spec.op {
	case '+':
		now = old + a.spec.value
	case '-':
		now = old - a.spec.value
	}
	var wide [8]byte
	binary.LittleEndian.PutUint64(wide[:], now)
	was := append([]byte(nil), b...)
	copy(b, wide[:m.width])
	if m.inKey && (i > 0 && n.key(i-1).compare(n.key(i)) >= 0 || i+1 < n.nritems() && n.key(i).compare(n.key(i+1)) >= 0) {
		copy(b, was)
		return "", false
	}
	now = read(disk.NewRegion(b, 0), 0, m.width)
	return fmt.Sprintf("%s %d → %d", m.name, old, now), now != old
}

// removeItem takes item i out of a leaf as btrfs_del_items does: the data of the items behind it moves
// up, and their headers with it.
func removeItem(n *node, i int) {
	b := n.r.Bytes()
	count := n.nritems()
	data := n.item(i)
	size := data.Len()
	start := int(data.Addr() - n.addr())
	lowest := int(n.item(count-1).Addr() - n.addr())
	copy(b[lowest+size:start+size], b[lowest:start])
	clear(b[lowest : lowest+size])
	for j := i + 1; j < count; j++ {
		at := headerSize + j*itemSize
		copy(b[at-itemSize:at], b[at:at+itemSize])
		moved := binary.LittleEndian.Uint32(b[at-itemSize+keySize:])
		binary.LittleEndian.PutUint32(b[at-itemSize+keySize:], moved+uint32(size))
	}
	clear(b[headerSize+(count-1)*itemSize : headerSize+count*itemSize])
	binary.LittleEndian.PutUint32(b[96:], uint32(count-1))
}
