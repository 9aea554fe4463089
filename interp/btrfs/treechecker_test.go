package btrfs_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"fsward/change"
	"fsward/interp/btrfs"
	"fsward/interp/btrfs/ondisk"
)

// header is where an alteration counts from to reach the header of an item: its key is at header,
// header+8 and header+9.
const header = -1000

// An alteration changes one number in the first item of a type in a tree: the table is by tree and
// type, in the order of docs/dev/tree-checker.md.
type alteration struct {
	off, width int
	value      uint64
	want       string // in the detail of the violation
}

const far = 1 << 40 // beyond every generation

var alterations = []struct {
	tree  uint64
	typ   byte
	with  func(data []byte) bool // which of the items; nil: the first
	which []alteration
}{
	{5, 1, nil, []alteration{ // inode_item: the first is a directory
		{0, 8, far, "generation is"}, {8, 8, far, "transid is"}, {52, 4, 0o240755, "mode is"}, {52, 4, 0o755, "mode of"}, {52, 4, 0o030755, "mode of"},
		{40, 4, 2, "nlink of a directory"}, {64, 8, 1 << 20, "flags is"}, {64, 8, 1 << 33, "flags is"},
		{header, 8, 7, "no number of an inode"}, {header + 9, 8, 1, "key offset is 1"},
	}},
	{5, 12, nil, []alteration{{10, 1, 'x', "in itself"}, {8, 2, 0, "name_len is 0"}, {8, 2, 256, "name_len is 256"}, {8, 2, 200, "beyond the end"}}},
	{5, 84, nil, []alteration{ // dir_item
		{29, 1, 0, "type of btrfs_dir_item is 0"}, {29, 1, 8, "type of btrfs_dir_item is 8"}, {29, 1, 9, "type of btrfs_dir_item is 9"},
		{8, 1, 2, "leads to"}, {0, 8, 3, "leads to"}, {9, 8, 1, "leads to"},
		{25, 2, 1, "data_len is 1"}, {27, 2, 0, "name_len is 0"}, {27, 2, 256, "name_len is 256"}, {30, 1, 0, "the hash of its name"},
	}},
	{5, 108, func(b []byte) bool { return b[20] == 0 }, []alteration{ // inline
		{0, 8, far, "generation is"}, {8, 8, 3, "ram_bytes is 3"}, {16, 1, 4, "compression is 4"}, {17, 1, 1, "encryption is 1"},
		{18, 2, 1, "other_encoding is 1"}, {20, 1, 3, "type is 3"}, {20, 1, 1, "bytes, want 53"}, {header + 9, 8, 4096, "inline data at file offset"},
	}},
	{5, 108, func(b []byte) bool { return b[20] == 1 }, []alteration{
		{8, 8, 5000, "ram_bytes is 5000, not a multiple"}, {21, 8, 4097, "disk_bytenr is 4097, not"}, {29, 8, 5000, "disk_num_bytes is 5000, not"},
		{37, 8, 5, "offset is 5, not"}, {45, 8, 5, "num_bytes is 5, not"}, {45, 8, 0, "num_bytes is 0"},
		{45, 8, 1 << 30, "beyond ram_bytes"}, {8, 8, 0, "beyond ram_bytes 0"}, {29, 8, 0, "beyond disk_num_bytes 0"},
		{header + 9, 8, 1, "file offset 1 is not a multiple"},
	}},
	{7, 128, nil, []alteration{
		{header, 8, 5, "objectid of an extent_csum is 5"}, {header + 9, 8, 4097, "not a multiple of sectorsize"},
	}},
	{1, 132, nil, []alteration{ // root_item: the first is that of the extent tree
		{160, 8, far, "generation is"}, {200, 8, far, "last_snapshot is"}, {239, 8, far, "generation_v2 is"}, {176, 8, 4097, "bytenr is 4097"},
		{238, 1, 8, "level is 8"}, {237, 1, 8, "drop_level is 8"}, {208, 8, 2, "flags is 0x2"}, {220, 8, 256, "drop_level is 0"}, {header, 8, 0, "tree 0"}, {header + 9, 8, 1, "key offset of tree 2 is 1"},
	}},
	{2, 169, nil, []alteration{ // metadata_item
		{8, 8, far, "generation is"}, {16, 8, 0, "flags is 0x0"}, {16, 8, 3, "flags is 0x3"}, {16, 8, 1, "it is of data"},
		{16, 8, 1<<9 | 2, "flags is 0x202"}, {header + 9, 8, 8, "level is 8"}, {24, 1, 1, "type 1"}, {24, 1, 178, "beyond the end"}, {24, 1, 172, "out of place"},
		{0, 8, 0, "refs is 0, the back references in the item are 1"},
	}},
	{2, 168, nil, []alteration{ // extent_item of data
		{16, 8, 1 | 1<<8, "full_backref"}, {16, 8, 2, "length of a tree block"}, {header + 9, 8, 5, "length is 5"},
		{25, 8, 3, "root is 3"}, {33, 8, 1, "objectid is 1"}, {41, 8, 1, "offset is 1"}, {49, 4, 0, "count is 0"}, {24, 1, 176, "does not fit"},
		{24, 1, 184, "of a shared_data_ref"}, {49, 4, 2, "the back references in the item are 2"},
	}},
	{2, 192, nil, []alteration{ // block_group_item
		{0, 8, far, "used is"}, {8, 8, 1, "chunk_objectid is 1"}, {16, 8, 1 | 3<<3, "more than one profile"}, {16, 8, 0, "flags is 0x0"},
		{16, 8, 3, "flags is 0x3"}, {16, 8, 1 | 1<<40, "flags is"}, {header + 9, 8, 0, "length is 0"},
	}},
	{3, 228, func(b []byte) bool { return b[24] == 1 }, []alteration{ // chunk_item of data
		{44, 2, 0, "num_stripes is 0"}, {44, 2, 2, "num_stripes is 2 in an item"}, {40, 4, 512, "sector_size is 512"}, {16, 8, 4096, "stripe_len is 4096"},
		{0, 8, 0, "no whole sectors"}, {0, 8, 5, "no whole sectors"}, {0, 8, 1<<64 - 4096, "no whole sectors"}, {header + 9, 8, 1<<40 + 1, "no whole sectors"},
		{0, 8, 1 << 50, "lies beyond"}, {24, 8, 1 | 1<<40, "type is"}, {24, 8, 1 | 3<<4, "more than one profile"}, {24, 8, 0, "type is 0x0"},
		{24, 8, 3, "SYSTEM stands alone"}, {24, 8, 1 | 1<<4, "num_stripes is 1 under"}, {24, 8, 1 | 1<<6, "num_stripes is 1 under"},
		{24, 8, 5, "MIXED_GROUPS"}, {header, 8, 257, "objectid is 257"},
	}},
	{3, 216, nil, []alteration{ // dev_item
		{16, 8, 1 << 60, "bytes_used is"}, {0, 8, 7, "devid is 7"}, {66, 8, 7, "uuid is"}, {82, 8, 7, "fsid is"},
	}},
	{4, 204, nil, []alteration{ // dev_extent
		{0, 8, 4, "chunk_tree is 4"}, {8, 8, 1, "chunk_objectid is 1"}, {16, 8, 4097, "chunk_offset is 4097"}, {24, 8, 5, "length is 5"}, {24, 8, 0, "length is 0"},
		{header + 9, 8, 4097, "begins at 4097"},
	}},
	{10, 198, nil, []alteration{ // free_space_info
		{4, 4, 2, "flags of a free_space_info"}, {0, 4, 1 << 31, "extent_count of a free_space_info"}, {header, 8, 4097, "no whole sectors"}, {header + 9, 8, 4097, "no whole sectors"},
	}},
	{10, 199, nil, []alteration{{header + 9, 8, 5, "no whole sectors"}, {header + 9, 8, 0, "no whole sectors"}}},
}

// liveLeaf returns the leaf that is a whole tree, and where it stands: mkfs leaves older ones
// behind.
func liveLeaf(d *sparseDisk, tree uint64) (leaf []byte, at int64) {
	newest := uint64(0)
	for _, addr := range blocks(d) {
		b := make([]byte, nodeSize)
		_, _ = d.ReadAt(b, addr)
		if g := binary.LittleEndian.Uint64(b[80:]); b[100] == 0 && binary.LittleEndian.Uint64(b[88:]) == tree && g > newest {
			newest, leaf, at = g, b, addr
		}
	}
	return leaf, at
}

// alterFirst changes the first item that fits in the leaf of a tree, and makes its checksum right.
func alterFirst(d *sparseDisk, tree uint64, typ byte, with func([]byte) bool, a alteration) bool {
	b, at := liveLeaf(d, tree)
	for i := range int(binary.LittleEndian.Uint32(b[96:])) {
		head := b[101+25*i : 101+25*i+25]
		off, size := binary.LittleEndian.Uint32(head[17:]), binary.LittleEndian.Uint32(head[21:])
		data := b[101+off : 101+off+size]
		if head[8] != typ || with != nil && !with(data) {
			continue
		}
		if a.off < 0 {
			copy(head[a.off-header:], num(a.width, a.value))
		} else {
			copy(data[a.off:], num(a.width, a.value))
		}
		reseal(b)
		_, _ = d.WriteAt(b, at)
		return true
	}
	return false
}

// Each report of the kernel's tree-checker is made of a block of a real file system with one number
// changed in it and the checksum right; unchanged, it is sound.
func TestTreeChecker(t *testing.T) {
	seed := seedDisk(t)
	if obs, err := btrfs.Image(seed); err != nil || obs.Unknown != nil || len(obs.Violations) > 0 {
		t.Fatalf("what is not altered: %v %+v", err, obs.Violations)
	}
	for _, item := range alterations {
		for _, a := range item.which {
			t.Run(fmt.Sprintf("%d/%d/%d=%d", item.tree, item.typ, a.off, a.value), func(t *testing.T) {
				d := seed.clone()
				if !alterFirst(d, item.tree, item.typ, item.with, a) {
					t.Fatal("there is no such item")
				}
				obs, err := btrfs.Image(d)
				said := fmt.Sprint(err, obs.Unknown)
				for _, v := range obs.Violations {
					if said += "\n" + v.Rule + " " + v.Detail; v.Kind == change.ByStructure && strings.Contains(v.Detail, a.want) {
						return
					}
				}
				if err == nil || !strings.Contains(err.Error(), a.want) {
					t.Errorf("want %q: %s", a.want, said)
				}
			})
		}
	}
}

// What the tree-checker says of a leaf as a whole.
func TestTreeCheckerLeaf(t *testing.T) {
	seed := seedDisk(t)
	for want, change := range map[string]func(b []byte){
		"the flag WRITTEN": func(b []byte) { b[56] = 0 },
		"tree 5 is empty":  func(b []byte) { put32(96, 0)(b) },
	} {
		d := seed.clone()
		b, at := liveLeaf(d, 5)
		change(b)
		reseal(b)
		_, _ = d.WriteAt(b, at)
		obs, err := btrfs.Image(d)
		if err != nil || len(obs.Violations) == 0 || !strings.Contains(obs.Violations[0].Detail, want) {
			t.Errorf("want %q: %v %+v", want, err, obs.Violations)
		}
	}
}

// num is a number of width bytes, little-endian.
func num(width int, n uint64) []byte {
	b := binary.LittleEndian.AppendUint64(nil, n)
	return b[:width]
}

func join(parts ...[]byte) (b []byte) {
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// dataRef is a btrfs_extent_data_ref: of tree 5, inode 257, offset 0.
var dataRef = join(num(8, 5), num(8, 257), num(8, 0), num(4, 1))

// docs/dev/tree-checker.md names functions and rules that there are, but for Linux's own.
func TestTreeCheckerDocument(t *testing.T) {
	doc, err := os.ReadFile("../../docs/dev/tree-checker.md")
	must(t, err)
	files, err := filepath.Glob("*.go")
	must(t, err)
	known := map[string]bool{}
	for _, f := range files {
		source, err := os.ReadFile(f)
		must(t, err)
		for _, m := range regexp.MustCompile(`(?m)^func (?:\([^)]*\) )?(\w+)\(`).FindAllSubmatch(source, -1) {
			known[string(m[1])] = true
		}
	}
	for _, r := range newEngine(t).Rules() {
		known[strings.TrimPrefix(r.Name, "btrfs/")] = true
	}
	rows := 0
	for _, line := range strings.Split(string(doc), "\n") {
		head, isHead := strings.CutPrefix(line, "## ")
		report, by, ok := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		switch {
		case isHead:
			report, by = "heading", head
		case !ok || !strings.HasPrefix(line, "| "):
			continue
		default:
			rows++
		}
		for _, m := range regexp.MustCompile("`(?:\\w+\\.)?(\\w+)`|rule (\\d+)").FindAllStringSubmatch(by, -1) {
			if name := m[1] + m[2]; !known[name] {
				t.Errorf("%s: there is no function or rule %s", report, name)
			}
		}
	}
	if rows < 60 {
		t.Errorf("the tables have %d rows", rows)
	}
}

// Items that a small file system does not have, sound and not.
func TestTreeCheckerItems(t *testing.T) {
	extent := func(refs, flags uint64, inline ...[]byte) []byte {
		return join(append([][]byte{num(8, refs), num(8, 7), num(8, flags)}, inline...)...)
	}
	owner := join([]byte{172}, num(8, 5))
	shared := func(typ byte, parent uint64) []byte { return join([]byte{typ}, num(8, parent)) }
	xattr := func(typ byte, location uint64, name string) []byte {
		return join(num(8, location), num(9, 0)[:8], []byte{0}, num(8, 7), num(2, 1), num(2, uint64(len(name))), []byte{typ}, []byte(name), []byte{'v'})
	}
	hash := ondisk.NameHash([]byte("user.a"))
	const orphan, balance = ^uint64(4), ^uint64(3)
	for _, tc := range []struct {
		what     string
		tree, id uint64
		typ      byte
		offset   uint64
		data     []byte
		want     string // "" if it is sound
	}{
		{"xattr", 5, 257, 24, hash, xattr(8, 0, "user.a"), ""},
		{"xattr type", 5, 257, 24, hash, xattr(1, 0, "user.a"), "type of an xattr_item is 1"},
		{"xattr location", 5, 257, 24, hash, xattr(8, 5, "user.a"), "location"},
		{"xattr hash", 5, 257, 24, hash + 1, xattr(8, 0, "user.a"), "the hash of its name"},
		{"xattr cut short", 5, 257, 24, hash, xattr(8, 0, "user.a")[:36], "beyond the end"},
		{"entry with data", 5, 257, 96, 2, join(num(8, 258), []byte{1}, num(8, 0), num(8, 7), num(2, 1), num(2, 1), []byte{1}, []byte("ab")), "data_len of a directory entry is 1"},
		{"compressed", 5, 257, 108, 0, join(num(8, 7), num(8, 131072), []byte{1, 0, 0, 0, 1}, num(8, 1<<20), num(8, 4096), num(8, 0), num(8, 131072)), ""},
		{"compressed too much", 5, 257, 108, 0, join(num(8, 7), num(8, 135168), []byte{1, 0, 0, 0, 1}, num(8, 1<<20), num(8, 4096), num(8, 0), num(8, 131072)), "are compressed together"},
		{"compressed too long", 5, 257, 108, 0, join(num(8, 7), num(8, 131072), []byte{1, 0, 0, 0, 1}, num(8, 1<<20), num(8, 135168), num(8, 0), num(8, 4096)), "a compressed extent has at most"},
		{"compressed prealloc", 5, 257, 108, 0, join(num(8, 7), num(8, 4096), []byte{1, 0, 0, 0, 2}, num(8, 1<<20), num(8, 4096), num(8, 0), num(8, 4096)), "preallocated"},
		{"end beyond 64 bits", 5, 257, 108, 1<<64 - 4096, join(num(8, 7), num(8, 8192), []byte{0, 0, 0, 0, 1}, num(8, 1<<20), num(8, 8192), num(8, 0), num(8, 8192)), "num_bytes is 8192 at"},
		{"prealloc", 5, 257, 108, 0, join(num(8, 7), num(8, 4096), []byte{0, 0, 0, 0, 2}, num(8, 1<<20), num(8, 4096), num(8, 0), num(8, 4096)), ""},
		{"inline compressed", 5, 257, 108, 0, join(num(8, 7), num(8, 4096), []byte{3, 0, 0, 0, 0, 1, 2, 3}), ""},
		{"inline too long", 5, 257, 108, 0, join(num(8, 7), num(8, 4096), []byte{0, 0, 0, 0, 0}, make([]byte, 4096)), "more than a sector"},
		{"inline empty", 5, 257, 108, 0, join(num(8, 7), num(8, 0), []byte{0, 0, 0, 0, 0}), "inline data of 0 bytes"},
		{"extent_data cut short", 5, 257, 108, 0, make([]byte, 20), "at least 21"},
		{"csum size", 7, ^uint64(9), 128, 4096, make([]byte, 6), "extent_csum with 6 bytes"},
		{"csum", 7, ^uint64(9), 128, 4096, make([]byte, 8), ""},
		{"root item size", 1, 5, 132, 0, make([]byte, 300), "300 bytes"},
		{"reloc tree", 1, ^uint64(7), 132, 3, make([]byte, 439), "no file tree"},
		{"reloc tree of a subvolume", 1, ^uint64(7), 132, 256, make([]byte, 439), ""},
		{"inode item size", 5, 257, 1, 0, make([]byte, 159), "159 bytes"},
		{"block group size", 2, 1 << 20, 192, 1 << 20, make([]byte, 23), "23 bytes"},
		{"mixed chunk", 3, 256, 228, 1 << 20, join(num(8, 1<<20), num(8, 2), num(8, 65536), num(8, 5), num(4, 65536), num(4, 65536), num(4, 4096), num(2, 1), num(2, 1),
			num(8, 1), num(8, 1<<20), make([]byte, 16)), "MIXED_GROUPS"},
		{"dev item size", 3, 1, 216, 1, make([]byte, 97), "97 bytes"},
		{"dev item objectid", 3, 2, 216, 1, make([]byte, 98), "objectid is 2"},
		{"extent item size", 2, 1 << 20, 168, 4096, make([]byte, 23), "23 bytes"},
		{"extent address", 2, 1<<20 + 1, 168, 4096, extent(1, 1, []byte{178}, dataRef), "not a multiple"},
		{"owner of data", 2, 1 << 20, 168, 4096, extent(1, 1, owner, []byte{178}, dataRef), ""},
		{"owner behind", 2, 1 << 20, 168, 4096, extent(1, 1, []byte{178}, dataRef, owner), "out of place"},
		{"owner of a block", 2, 1 << 20, 169, 0, extent(0, 2, owner), "out of place"},
		{"refs below inline", 2, 1 << 20, 168, 4096, extent(0, 1, []byte{178}, dataRef), "refs is 0"},
		{"shared data", 2, 1 << 20, 168, 4096, extent(1, 1, shared(184, 8192), num(4, 1)), ""},
		{"shared data parent", 2, 1 << 20, 168, 4096, extent(1, 1, shared(184, 8193), num(4, 1)), "parent of a shared_data_ref"},
		{"shared data count", 2, 1 << 20, 168, 4096, extent(1, 1, shared(184, 8192), num(4, 0)), "count of a shared_data_ref"},
		{"shared block", 2, 1 << 20, 169, 0, extent(2, 2, shared(176, 5), shared(182, 8192)), ""},
		{"shared block parent", 2, 1 << 20, 169, 0, extent(1, 2, shared(182, 8193)), "parent of a shared_block_ref"},
		{"types out of order", 2, 1 << 20, 169, 0, extent(2, 2, shared(182, 8192), shared(176, 5)), "out of order"},
		{"sequence out of order", 2, 1 << 20, 169, 0, extent(2, 2, shared(176, 5), shared(176, 256)), "out of order"},
		{"padding", 2, 1 << 20, 169, 0, extent(1, 2, shared(176, 5), []byte{0}), "type 0"},
		{"block info", 2, 1 << 20, 168, 16384, extent(1, 2, make([]byte, 17), []byte{3}, shared(176, 5)), ""},
		{"block info level", 2, 1 << 20, 168, 16384, extent(1, 2, make([]byte, 17), []byte{8}, shared(176, 5)), "level is 8"},
		{"block info cut short", 2, 1 << 20, 168, 16384, extent(1, 2, make([]byte, 9)), "btrfs_tree_block_info"},
		{"keyed data ref", 2, 1 << 20, 178, ondisk.ExtentDataRefHash(dataRef), dataRef, ""},
		{"keyed data ref hash", 2, 1 << 20, 178, 5, dataRef, "its hash is"},
		{"keyed data ref size", 2, 1 << 20, 178, 0, dataRef[:27], "27 bytes"},
		{"keyed data ref extent", 2, 1<<20 + 1, 178, ondisk.ExtentDataRefHash(dataRef), dataRef, "not a multiple"},
		{"keyed block ref", 2, 1 << 20, 176, 5, nil, ""},
		{"keyed block ref size", 2, 1 << 20, 176, 5, []byte{1}, "1 bytes"},
		{"keyed block ref extent", 2, 1<<20 + 1, 176, 5, nil, "not a multiple"},
		{"keyed shared ref", 2, 1 << 20, 182, 8192, nil, ""},
		{"keyed shared ref parent", 2, 1 << 20, 182, 8193, nil, "parent of a shared_block_ref"},
		{"keyed shared data", 2, 1 << 20, 184, 8192, num(4, 2), ""},
		{"keyed shared data count", 2, 1 << 20, 184, 8192, num(4, 0), "count of a shared_data_ref"},
		{"inode_ref cut short", 5, 257, 12, 256, num(8, 2), "inode_ref"},
		{"extref cut short", 5, 257, 13, 256, make([]byte, 10), "inode_extref"},
		{"extref name", 5, 257, 13, 256, make([]byte, 19), "name_len is 0"},
		{"dev extent size", 4, 1, 204, 1 << 20, make([]byte, 40), "40 bytes"},
		{"free space info size", 10, 1 << 20, 198, 1 << 20, make([]byte, 4), "4 bytes"},
		{"bitmap", 10, 1 << 20, 200, 1 << 20, make([]byte, 32), ""},
		{"bitmap size", 10, 1 << 20, 200, 1 << 20, make([]byte, 31), "31 bytes for 256 sectors"},
		{"bitmap too long", 10, 1 << 30, 200, 1 << 30, make([]byte, 32768), "sectors"},
		{"quota status", 8, 0, 240, 0, join(num(8, 1), num(8, 7), num(8, 1), num(8, 0)), ""},
		{"quota status of 6.7", 8, 0, 240, 0, join(num(8, 1), num(8, 7), num(8, 8), num(8, 0), num(8, 3)), ""},
		{"quota version", 8, 0, 240, 0, join(num(8, 2), num(8, 7), num(8, 1), num(8, 0)), "version is 2"},
		{"quota flags", 8, 0, 240, 0, join(num(8, 1), num(8, 7), num(8, 16), num(8, 0)), "flags is 0x10"},
		{"quota generation", 8, 0, 240, 0, join(num(8, 1), num(8, far), num(8, 1), num(8, 0)), "generation is"},
		{"quota info", 8, 0, 242, 5, join(num(8, far), make([]byte, 32)), "generation is"},
		{"quota limit", 8, 0, 244, 5, join(num(8, 64), make([]byte, 32)), ""},
		{"quota limit objectid", 8, 3, 244, 5, make([]byte, 40), "objectid is 3"},
		{"orphan", 5, orphan, 48, 257, nil, ""},
		{"orphan key", 5, 257, 48, 257, nil, "has the key"},
		{"orphan size", 5, orphan, 48, 257, []byte{1}, "1 bytes"},
		{"verity descriptor", 5, 257, 36, 0, join(num(8, 256), make([]byte, 17)), ""},
		{"verity descriptor size", 5, 257, 36, 0, make([]byte, 24), "24 bytes"},
		{"verity encryption", 5, 257, 36, 0, join(make([]byte, 24), []byte{1}), "encryption"},
		{"verity piece", 5, 257, 36, 1, make([]byte, 256), ""},
		{"verity tree", 5, 257, 37, 2048, make([]byte, 2048), ""},
		{"verity tree offset", 5, 257, 37, 100, make([]byte, 2048), "has the key"},
		{"verity tree size", 5, 257, 37, 0, make([]byte, 2049), "2049 bytes"},
		{"balance", 1, balance, 248, 0, make([]byte, 448), ""},
		{"balance size", 1, balance, 248, 0, make([]byte, 8), "8 bytes"},
		{"balance key", 1, 5, 248, 0, make([]byte, 448), "has the key"},
		{"device statistics", 4, 0, 249, 1, make([]byte, 40), ""},
		{"device statistics size", 4, 0, 249, 1, make([]byte, 41), "41 bytes"},
		{"device replacement", 4, 0, 250, 0, make([]byte, 72), ""},
		{"device replacement size", 4, 0, 250, 0, make([]byte, 71), "71 bytes"},
		{"uuid", 9, 1, 251, 2, num(8, 256), ""},
		{"uuid twice", 9, 1, 251, 2, join(num(8, 256), num(8, 256)), ""},
		{"uuid size", 9, 1, 251, 2, make([]byte, 7), "7 bytes"},
		{"unknown key type", 5, 257, 2, 0, nil, "an item of type 2"},
		{"wrong tree", 7, 257, 1, 0, make([]byte, 160), "an item of type 1 in tree 7"},
	} {
		_, err := btrfs.FuzzedItem(tc.tree, tc.id, tc.offset, tc.typ, tc.data)
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s: %v, it is sound", tc.what, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s: %v, want %q", tc.what, err, tc.want)
		}
	}
}

// A subvolume that Linux has entered twice under its UUID is one object.
func TestUUIDTwice(t *testing.T) {
	if n, err := btrfs.FuzzedItem(9, 1, 2, 251, join(num(8, 256), num(8, 256), num(8, 257))); n != 2 || err != nil {
		t.Errorf("%d objects, %v; want 2", n, err)
	}
}
