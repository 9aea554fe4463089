package btrfs

import (
	"encoding/binary"
	"fmt"
	"slices"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// What the fuzz tests feed with bytes.

// fuzzedDevices are the disks of what is fuzzed.
var fuzzedDevices = &devices{list: []device{{id: 1, size: 1 << 30}, {id: 2, start: interp.DiskStride, size: 1 << 30}}}

// FuzzedItem decodes an item and returns the number of objects in it.
func FuzzedItem(tree, id, offset uint64, typ uint8, data []byte) (int, error) {
	d := decoder{objectBuilder: objectBuilder{tree: tree, names: change.NewNames()}, ctx: itemContext{sectorSize: 4096, nodeSize: 16384, generation: 100,
		incompat: ondisk.IncompatSkinnyMetadata | ondisk.IncompatSimpleQuota, devs: fuzzedDevices}}
	err := d.item(ondisk.Key{ObjectID: id, Type: typ, Offset: offset}, disk.NewRegion(data, 1<<20))
	return len(d.ents), err
}

// FuzzedNode checks a node, makes its checksum right first, and reads all of it if it is sound.
func FuzzedNode(data []byte) error {
	if len(data) < 101 {
		return nil
	}
	b := append([]byte(nil), data...)
	ondisk.CsumCRC32C.Seal(b)
	rules := nodeRules{nodeSize: uint32(len(b)), sectorSize: 4096, anyChunkTree: true, fsid: [16]byte(b[32:48])}
	n, err := checkNode(disk.NewRegion(b, 1<<20), binary.LittleEndian.Uint64(b[48:]), rules)
	if err != nil {
		return err
	}
	for i := range n.NrItems() {
		if j, found := n.Search(n.Key(i)); !found || j != i {
			panic("a key that is there is not found")
		}
		if n.Level() > 0 {
			childOf(n, i, false)
			continue
		}
		k := n.Key(i)
		if _, err := FuzzedItem(n.Owner(), k.ObjectID, k.Offset, k.Type, n.Item(i).Bytes()); err != nil {
			continue
		}
	}
	return nil
}

// FuzzedSuper parses a superblock and its chunks, with a checksum that is made right first.
func FuzzedSuper(data []byte) error {
	b := new([ondisk.SuperSize]byte)
	copy(b[:], data)
	if t := ondisk.CsumType(binary.LittleEndian.Uint16(b[196:])); t < ondisk.CsumTypes {
		t.Seal(b[:])
	}
	sb := ondisk.NewSuperblock(b)
	if err := checkSuper(sb, ondisk.SuperOffset); err != nil {
		return err
	}
	chunks, err := parseSysArray(sb, ondisk.SuperOffset, fuzzedDevices)
	if err != nil {
		return err
	}
	m, err := newChunkMap(chunks)
	if err != nil {
		return err
	}
	for _, c := range m.chunks {
		if m.find(c.logical, c.length) == nil || m.find(c.logical, c.length+1) != nil {
			panic("a chunk is not found in its map")
		}
		checkLocate(&c)
	}
	return nil
}

// FuzzedChunk parses a chunk item and maps addresses in it.
func FuzzedChunk(logical uint64, data []byte) error {
	c, err := parseChunk(ondisk.Key{ObjectID: ondisk.FirstChunkTreeID, Type: ondisk.ChunkItemKey, Offset: logical}, disk.NewRegion(data, 1<<20), 4096, fuzzedDevices)
	if err == nil {
		checkLocate(&c)
	}
	return err
}

// checkLocate panics if an address in a chunk is mapped outside its stripes.
func checkLocate(c *chunk) {
	for _, off := range []uint64{0, 4096 % c.length, c.length / 2, c.length - 1} {
		addrs, run := c.locate(off)
		if run == 0 || run > c.length-off {
			panic("a run that leaves its chunk")
		}
		for _, addr := range addrs[:c.copies] {
			if !slices.ContainsFunc(c.stripes, func(s uint64) bool { return addr >= s && addr-s+run <= c.stripeLength() }) {
				panic("an address outside the stripes")
			}
		}
	}
}

// KeepSpans makes a comparison keep n subtrees in mind, within a room, and returns why it had to
// stop, or nil.
func KeepSpans(n int, room *interp.MemoryBudget) error {
	d := &diff{out: newRecorder(&change.Txn{Names: change.NewNames()}, itemContext{})}
	d.out.memory = room
	t := &treeDiff{diff: d}
	for range n {
		t.addSpan(span{})
		if d.unknown != nil {
			break
		}
	}
	return d.unknown
}

// A State is what the last commit says; the zero value is nothing.
type State struct{ s *state }

// BaseOf returns the state that a file system is in.
func BaseOf(f *FS) State { return State{f.base} }

// Difference returns what differs in a tree, as text, found by one goroutine or by two; ok is false
// if two cannot share it.
func Difference(old, now State, tree uint64, halves bool) (lines []string, ok bool) {
	txn := &change.Txn{Schema: ondisk.Schema, Names: change.NewNames()}
	d := &diff{old: old.s, new: now.s, budget: newBudget(), out: newRecorder(txn, now.s.itemContext())}
	root := func(s State) *pointer {
		if s.s == nil {
			return nil
		}
		r, found, err := s.s.treeRoot(tree)
		if !found || err != nil {
			return nil
		}
		return &r.pointer
	}
	t := d.newTree(tree, root(old), root(now), false)
	d.out.begin(tree)
	d.out.reserve(t.newRecords / 2) // too few for some
	if ok = true; halves {
		ok = d.mergeHalves(t)
	} else {
		d.record(t.merge, nil)
	}
	for _, r := range txn.Records {
		lines = append(lines, fmt.Sprintf("%s %#v %#v", ondisk.Schema.RecordText(r, txn.Names), r.Old, r.New))
	}
	return append(lines, fmt.Sprint(d.faults, d.unknown, d.used, txn.Names.Len())), ok
}

// Whole reports whether a block is kept that was written in all of its copies; first is the address
// of the first.
func (f *FS) Whole(first uint64) bool {
	e, ok := f.base.cache.nodes.Peek(first)
	return ok && e.seen != 0 && e.whole
}
