package btrfs

import (
	"encoding/binary"
	"hash/crc32"

	"fsward/change"
	"fsward/interp/disk"
)

// What the fuzz tests feed with bytes.

// FuzzedItem decodes an item and returns the number of objects in it.
func FuzzedItem(tree, id, offset uint64, typ uint8, data []byte) (int, error) {
	d := decoder{tree: tree, names: change.NewNames(), ctx: itemContext{sectorSize: 4096, nodeSize: 16384, generation: 100, devID: 1, deviceSize: 1 << 30}}
	err := d.item(key{id, typ, offset}, disk.NewRegion(data, 1<<20))
	return len(d.ents), err
}

// FuzzedNode checks a node, makes its checksum right first, and reads all of it if it is sound.
func FuzzedNode(data []byte) error {
	if len(data) < 101 {
		return nil
	}
	b := append([]byte(nil), data...)
	binary.LittleEndian.PutUint32(b, crc32.Checksum(b[32:], castagnoli))
	rules := nodeRules{nodeSize: uint32(len(b)), sectorSize: 4096, anyChunkTree: true, fsid: [16]byte(b[32:48])}
	n, err := checkNode(disk.NewRegion(b, 1<<20), binary.LittleEndian.Uint64(b[48:]), rules)
	if err != nil {
		return err
	}
	for i := range n.nritems() {
		if j, found := n.search(n.key(i)); !found || j != i {
			panic("a key that is there is not found")
		}
		if n.level() > 0 {
			childOf(n, i, false)
			continue
		}
		k := n.key(i)
		if _, err := FuzzedItem(n.owner(), k.objectid, k.offset, k.typ, n.item(i).Bytes()); err != nil {
			continue
		}
	}
	return nil
}

// FuzzedSuper parses a superblock and its chunks, with a checksum that is made right first.
func FuzzedSuper(data []byte) error {
	b := new([superSize]byte)
	copy(b[:], data)
	binary.LittleEndian.PutUint32(b[:], crc32.Checksum(b[32:], castagnoli))
	sb, err := parseSuper(b, superOffset)
	if err != nil {
		return err
	}
	chunks, err := parseSysArray(sb, superOffset, 1<<40)
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
	}
	return nil
}

// FuzzedChunk parses a chunk item.
func FuzzedChunk(logical uint64, data []byte) error {
	_, err := parseChunk(key{firstChunkTreeID, chunkItemKey, logical}, disk.NewRegion(data, 1<<20), 4096, 1, 1<<30)
	return err
}
