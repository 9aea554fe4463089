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

// fuzzedDevices are the devices of the fuzzed file systems.
var fuzzedDevices = &devices{list: []device{
	{id: 1, size: 1 << 30},
	{id: 2, start: interp.DiskStride, size: 1 << 30},
}}

// FuzzedItem decodes an item and returns the number of objects in it.
func FuzzedItem(tree, id, offset uint64, typ uint8, data []byte) (int, error) {
	d := decoder{
		objectBuilder: objectBuilder{tree: tree, names: change.NewNames()},
		ctx: itemContext{sectorSize: 4096, nodeSize: 16384, generation: 100,
			incompat: ondisk.IncompatSkinnyMetadata | ondisk.IncompatSimpleQuota, devs: fuzzedDevices},
	}
	k := ondisk.Key{ObjectID: id, Type: typ, Offset: offset}
	err := d.item(k, disk.NewRegion(data, 1<<20))
	return len(d.ents), err
}

// FuzzedNode recomputes the checksum of a node and checks it. It reads all items of a sound node.
func FuzzedNode(data []byte) error {
	if len(data) < ondisk.HeaderSize {
		return nil
	}
	b := append([]byte(nil), data...)
	ondisk.CsumCRC32C.Seal(b)
	r := disk.NewRegion(b, 1<<20)
	own, _ := ondisk.NewNode(r)
	rules := nodeRules{nodeSize: uint32(len(b)), sectorSize: 4096, anyChunkTree: true,
		fsid: own.FSID()}
	n, err := checkNode(r, own.Logical(), rules)
	if err != nil {
		return err
	}
	for i := range n.NrItems() {
		if j, found := n.Search(n.Key(i)); !found || j != i {
			panic("Search does not find a key of the node")
		}
		if n.Level() > 0 {
			childOf(n, i, false)
			continue
		}
		k := n.Key(i)
		_, _ = FuzzedItem(n.Owner(), k.ObjectID, k.Offset, k.Type, n.Item(i).Bytes())
	}
	return nil
}

// FuzzedSuper recomputes the checksum of a superblock, and parses the superblock and its chunks.
func FuzzedSuper(data []byte) error {
	b := new([ondisk.SuperSize]byte)
	copy(b[:], data)
	sb := ondisk.NewSuperblock(b)
	if t := sb.CsumType(); t < ondisk.CsumTypes {
		t.Seal(b[:])
	}
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
			panic("the map does not find its chunk")
		}
		checkLocate(&c)
	}
	return nil
}

// FuzzedChunk parses a chunk item and maps addresses in it.
func FuzzedChunk(logical uint64, data []byte) error {
	k := ondisk.Key{ObjectID: ondisk.FirstChunkTreeID, Type: ondisk.ChunkItemKey, Offset: logical}
	c, err := parseChunk(k, disk.NewRegion(data, 1<<20), 4096, fuzzedDevices)
	if err == nil {
		checkLocate(&c)
	}
	return err
}

// checkLocate panics if locate maps an address of a chunk outside of its stripes, or if places is
// not its inverse. Stripes that overlap have no inverse.
func checkLocate(c *chunk) {
	m, overlaps := newChunkMap([]chunk{*c})
	for _, off := range []uint64{0, 4096 % c.length, c.length / 2, c.length - 1} {
		addrs, run := c.locate(off)
		if run == 0 || run > c.length-off {
			panic("a run exceeds its chunk")
		}
		for _, addr := range addrs[:c.copies] {
			if !slices.ContainsFunc(c.stripes, func(s uint64) bool {
				return addr >= s && addr-s+run <= c.stripeLength()
			}) {
				panic("an address is outside of the stripes")
			}
			if overlaps != nil {
				continue
			}
			for p := range m.places(addr, 1) {
				if p.parity || p.logical != c.logical+off {
					panic("an address does not lead back to its offset")
				}
			}
		}
	}
}

// KeepSpans adds n subtrees to a comparison with a memory budget. It returns the reason why the
// comparison stopped, or nil.
func KeepSpans(n int, budget *interp.MemoryBudget) error {
	d := &diff{out: newRecorder(&change.Txn{Names: change.NewNames()}, itemContext{})}
	d.out.memory = budget
	t := &treeDiff{diff: d}
	for range n {
		t.addSpan(span{})
		if d.unknown != nil {
			break
		}
	}
	return d.unknown
}

// A State is the state of the last commit. The zero value has no trees.
type State struct{ s *state }

// BaseOf returns the base of a file system.
func BaseOf(f *FS) State { return State{f.base} }

// Difference returns the difference of a tree as text, computed by one goroutine, or by two if
// halves is set. ok is false if two goroutines cannot share the work.
func Difference(old, now State, tree uint64, halves bool) (lines []string, ok bool) {
	txn := &change.Txn{Schema: ondisk.Schema, Names: change.NewNames()}
	d := &diff{old: old.s, new: now.s, budget: newBudget(), out: newRecorder(txn, now.s.itemContext())}
	version := func(s State) *treeVersion {
		if s.s == nil {
			return nil
		}
		r, found, err := s.s.treeRoot(tree)
		if !found || err != nil {
			return nil
		}
		return &treeVersion{s.s, tree, r.pointer}
	}
	var root *pointer
	if v := version(now); v != nil {
		root = &v.root
	}
	t := d.newTree(tree, version(old), root, false)
	d.out.begin(tree)
	d.out.reserve(t.newRecords / 2) // does not suffice for some trees
	d.out.growFrom = 0              // the records also move where some would still fit
	if ok = true; halves {
		ok = d.mergeHalves(t, t.leaves())
	} else {
		d.record(t.leaves(), keyInterval{}, nil)
	}
	for _, r := range txn.Records {
		text := ondisk.Schema.RecordText(r, txn.Names)
		lines = append(lines, fmt.Sprintf("%s %#v %#v", text, r.Old, r.New))
	}
	return append(lines, fmt.Sprint(d.faults, d.unknown, d.used, txn.Names.Len())), ok
}

// Whole reports whether the cache has a block of which all copies were written. first is the
// address of the first copy.
func (f *FS) Whole(first uint64) bool {
	e, ok := f.base.cache.nodes.Peek(first)
	return ok && e.seen != 0 && e.whole
}

// NodesRead returns the number of blocks that the comparison of two states reads.
func NodesRead(old, now State) int {
	s := now.s
	_, d, err := comparison{base: old.s, sb: s.sb, at: s.devs.list[0].start + ondisk.SuperOffset,
		disk: s.disk, devs: s.devs, cache: s.cache, names: change.NewNames()}.run()
	if err != nil || d.failed() {
		return maxNodes
	}
	return maxNodes - d.budget.nodes
}

// CameTrue reports whether the commit under observation was foreseen.
func (f *FS) CameTrue() bool { return f.forecasts.Came() != nil }

// References records that one extent gets references from n files, of which every second had one
// before. It looks for settled objects from settleAt on, and returns the most objects that were
// gathered at once.
func References(n, settleAt int) (records []change.Record, most int, err error) {
	const extent = 1 << 20
	type ref struct {
		key  ondisk.Key
		data [2][]byte // before and after
	}
	refs := make([]ref, n)
	for i := range refs {
		r := &refs[i]
		for side := range r.data {
			b := binary.LittleEndian.AppendUint64(nil, ondisk.FSTreeID)
			b = binary.LittleEndian.AppendUint64(b, uint64(257+i))
			b = binary.LittleEndian.AppendUint64(b, 0)
			r.data[side] = binary.LittleEndian.AppendUint32(b, uint32(1+side))
		}
		r.key = ondisk.Key{ObjectID: extent, Type: ondisk.ExtentDataRefKey,
			Offset: ondisk.ExtentDataRefHash(r.data[0])}
	}
	slices.SortFunc(refs, func(a, b ref) int { return a.key.Compare(b.key) })
	txn := &change.Txn{Schema: ondisk.Schema, Names: change.NewNames()}
	r := newRecorder(txn, itemContext{sectorSize: 4096})
	r.settleAt = settleAt
	r.begin(2)
	for i := range refs {
		was, now := oneItemLeaf(refs[i].key, refs[i].data[0]), oneItemLeaf(refs[i].key, refs[i].data[1])
		if i%2 == 0 {
			was = nil
		}
		if err := r.item(refs[i].key, was, now); err != nil {
			return nil, 0, err
		}
		most = max(most, len(r.dec.ents)+len(r.oldDec.ents))
	}
	err = r.flush()
	return txn.Records, most, err
}

// oneItemLeaf returns the item of a leaf that has only this item.
func oneItemLeaf(k ondisk.Key, data []byte) *itemRef {
	b := make([]byte, ondisk.HeaderSize, ondisk.HeaderSize+64)
	binary.LittleEndian.PutUint32(b[96:], 1) // nritems
	b = binary.LittleEndian.AppendUint64(b, k.ObjectID)
	b = binary.LittleEndian.AppendUint64(append(b, k.Type), k.Offset)
	b = binary.LittleEndian.AppendUint32(b, uint32(25)) // the data follow the item's header
	b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
	n, _ := ondisk.NewNode(disk.NewRegion(append(b, data...), 1<<20))
	return &itemRef{leaf: n}
}
