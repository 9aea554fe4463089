package ext3

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"fsward/change"
	"fsward/interp/ext3/ondisk"
)

// TestShownBlocks checks that the comparison of a directory whose size changed reads the path to
// the blocks that it shows or hides, and not the whole directory.
func TestShownBlocks(t *testing.T) {
	const size, first = 1024, 2000 // of the blocks of the file
	image := make([]byte, 4096*size)
	inode := make(ondisk.Inode, ondisk.InodeLen)
	next := uint32(100) // of the indirect blocks
	at := uint32(first)
	var tree func(level int) uint32
	tree = func(level int) uint32 {
		if level == 0 {
			at++
			return at - 1
		}
		block := next
		next++
		for i := range uint32(size / 4) {
			if at < first+1500 {
				binary.LittleEndian.PutUint32(image[block*size+4*i:], tree(level-1))
			}
		}
		return block
	}
	for n := range ondisk.NPointers {
		level := max(0, n-ondisk.NDirect+1)
		if at < first+1500 {
			binary.LittleEndian.PutUint32(inode[ondisk.InodeBlock0At+4*n:], tree(level))
		}
	}
	geo := &ondisk.Geometry{BlockSize: size, Blocks: 4096}
	for _, shown := range []blockRange{{0, 0}, {5, 5}, {5, 12}, {700, 700}, {1023, 1026}, {0, 1500}} {
		dev := &countingReader{ReaderAt: bytes.NewReader(image)}
		s := NewState(dev, geo, uint64(len(image)))
		var same []uint64
		d := treeDiff{geo: geo, old: s, new: s, rewrote: func(uint32) bool { return false },
			visited: &Visits{}, shown: shown, same: func(level int, start uint64, block uint32) error {
				if level == 0 {
					same = append(same, start)
					if uint64(block) != first+start {
						t.Errorf("block %d of the file is %d", start, block)
					}
				}
				return nil
			}}
		if err := d.inodes(inode, inode); err != nil {
			t.Fatal(err)
		}
		var want []uint64
		for n := shown.from; n < shown.to; n++ {
			want = append(want, n)
		}
		if !slices.Equal(same, want) {
			t.Errorf("shown %v: blocks %v", shown, same)
		}
		if most := int(shown.to-shown.from)/100 + 4; dev.reads > most {
			t.Errorf("shown %v: %d reads, want at most %d", shown, dev.reads, most)
		}
	}
}

// dirBlockOf returns a block of a directory. The entry i has the name nI, at byte 16·i.
func dirBlockOf(entries map[int]string) []byte {
	b := make([]byte, 1024)
	for i := range len(b) / 16 {
		e := b[16*i:]
		binary.LittleEndian.PutUint16(e[4:], 16)
		if name := entries[i]; name != "" {
			binary.LittleEndian.PutUint32(e, uint32(20+i))
			e[6] = byte(len(name))
			copy(e[8:], name)
		}
	}
	return b
}

// TestDirBlocks checks that the names of entries that stay in their places are not noted, and that
// an entry with the name of such an entry is found.
func TestDirBlocks(t *testing.T) {
	was, stay := map[int]string{}, map[int]string{}
	for i := range 60 {
		was[i], stay[i] = fmt.Sprint("n", i), fmt.Sprint("m", i)
	}
	for _, tc := range []struct {
		name           string
		alter          func(is map[int]string)
		noted, records int
		fault          string
	}{
		{"nothing", func(map[int]string) {}, 0, 0, ""},
		{"one less", func(is map[int]string) { delete(is, 7) }, 1, 1, ""},
		{"one more", func(is map[int]string) { is[62] = "new" }, 1, 1, ""},
		{"one moved", func(is map[int]string) { delete(is, 42); is[61] = "n42" }, 1, 1, ""},
		{"one renamed", func(is map[int]string) { is[5] = "other" }, 2, 2, ""},
		{"twice in a block", func(is map[int]string) { is[62] = "n9" }, 1, 1, `"n9" occurs twice`},
		{"twice in two", func(is map[int]string) { is[62] = "m9" }, 1, 1, `"m9" occurs twice`},
		{"two new ones", func(is map[int]string) { is[61], is[62] = "x", "x" }, 1, 1,
			`"x" occurs twice`},
	} {
		is := map[int]string{}
		for i, name := range was {
			is[i] = name
		}
		tc.alter(is)
		geo := &ondisk.Geometry{BlockSize: 1024, Blocks: 8, Inodes: 1000, InodesPerGroup: 1000,
			FirstIno: 11}
		state := func(entries map[int]string) Snapshot {
			s := NewState(bytes.NewReader(slices.Concat(make([]byte, 3072), dirBlockOf(entries),
				dirBlockOf(stay))), geo, 8192)
			return Snapshot{&Layout{Geo: geo}, s}
		}
		r := &records{txn: &change.Txn{Schema: schema, Names: change.NewNames()},
			beside: func() uint64 { return 0 }}
		d := dirDiff{compared: &compared{Layout: &Layout{Geo: geo}, old: state(was), new: state(is),
			plan: &plan{}, records: r}, names: newNameTable()}
		blocks := []dirBlock{{1, 3}, {2, 4}}
		inode := make(ondisk.Inode, ondisk.InodeLen)
		err := d.compareBlocks(2, blocks, blocks)
		if err == nil {
			err = d.elsewhere(2, inode, blocks)
		}
		if err != nil {
			t.Fatal(err)
		}
		gone, now := d.names.changed()
		if len(d.names.names) != tc.noted || len(gone)+len(now) != tc.records {
			t.Errorf("%s: %d names are noted and %d differ, want %d and %d", tc.name,
				len(d.names.names), len(gone)+len(now), tc.noted, tc.records)
		}
		switch {
		case tc.fault == "" && len(r.faults) > 0, tc.fault != "" && len(r.faults) != 1:
			t.Errorf("%s: faults %v", tc.name, r.faults)
		case tc.fault != "" && r.faults[0].Detail != tc.fault:
			t.Errorf("%s: %q, want %q", tc.name, r.faults[0].Detail, tc.fault)
		}
	}
}
