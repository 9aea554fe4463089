package btrfs_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"fsward/interp/btrfs"
	"fsward/interp/btrfs/ondisk"
)

// num returns a little-endian number of width bytes.
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

// diskKey returns a btrfs_disk_key.
func diskKey(objectID uint64, typ byte, offset uint64) []byte {
	return join(num(8, objectID), []byte{typ}, num(8, offset))
}

// dataRef is a btrfs_extent_data_ref of tree 5, inode 257, offset 0, count 1.
var dataRef = join(num(8, 5), num(8, 257), num(8, 0), num(4, 1))

// extentItem returns an extent_item with back references inside.
func extentItem(refs, flags uint64, inline ...[]byte) []byte {
	return join(append([][]byte{num(8, refs), num(8, 7), num(8, flags)}, inline...)...)
}

// sharedRef returns an inline back reference with an address or the number of a tree.
func sharedRef(typ byte, from uint64) []byte { return join([]byte{typ}, num(8, from)) }

// xattrItem returns an xattr_item with the name user.a and a value of one byte.
func xattrItem(typ byte, location uint64) []byte {
	const name = "user.a"
	return join(diskKey(location, 0, 0), num(8, 7), num(2, 1), num(2, uint64(len(name))),
		[]byte{typ}, []byte(name), []byte{'v'})
}

// fileExtent returns a file extent whose data lie at address 1 MiB.
func fileExtent(ram uint64, compression, typ byte, onDisk, length uint64) []byte {
	return join(num(8, 7), num(8, ram), []byte{compression, 0, 0, 0, typ},
		num(8, 1<<20), num(8, onDisk), num(8, 0), num(8, length))
}

var (
	ownerRef      = join([]byte{172}, num(8, 5))
	xattrHash     = ondisk.NameHash([]byte("user.a"))
	entryWithData = join(diskKey(258, 1, 0), num(8, 7), num(2, 1), num(2, 1), []byte{1}, []byte("ab"))
	mixedChunk    = join(num(8, 1<<20), num(8, 2), num(8, 65536), num(8, 5), num(4, 65536),
		num(4, 65536), num(4, 4096), num(2, 1), num(2, 1), num(8, 1), num(8, 1<<20),
		make([]byte, 16))
)

// unusualItems are items that a small file system does not have.
var unusualItems = []struct {
	what     string
	tree, id uint64
	typ      byte
	offset   uint64
	data     []byte
	want     string // in the error; "": the item is sound
}{
	{"xattr", 5, 257, 24, xattrHash, xattrItem(8, 0), ""},
	{"xattr type", 5, 257, 24, xattrHash, xattrItem(1, 0), "type of an xattr_item is 1"},
	{"xattr location", 5, 257, 24, xattrHash, xattrItem(8, 5), "location"},
	{"xattr hash", 5, 257, 24, xattrHash + 1, xattrItem(8, 0), "the hash of its name"},
	{"xattr cut short", 5, 257, 24, xattrHash, xattrItem(8, 0)[:36], "beyond the end"},
	{"entry with data", 5, 257, 96, 2, entryWithData, "data_len of a directory entry is 1"},
	{"compressed", 5, 257, 108, 0, fileExtent(131072, 1, 1, 4096, 131072), ""},
	{"compressed too much", 5, 257, 108, 0,
		fileExtent(135168, 1, 1, 4096, 131072), "are compressed together"},
	{"compressed too long", 5, 257, 108, 0,
		fileExtent(131072, 1, 1, 135168, 4096), "a compressed extent has at most"},
	{"compressed prealloc", 5, 257, 108, 0, fileExtent(4096, 1, 2, 4096, 4096), "preallocated"},
	{"end beyond 64 bits", 5, 257, 108, 1<<64 - 4096,
		fileExtent(8192, 0, 1, 8192, 8192), "num_bytes is 8192 at"},
	{"prealloc", 5, 257, 108, 0, fileExtent(4096, 0, 2, 4096, 4096), ""},
	{"inline compressed", 5, 257, 108, 0,
		join(num(8, 7), num(8, 4096), []byte{3, 0, 0, 0, 0, 1, 2, 3}), ""},
	{"inline too long", 5, 257, 108, 0,
		join(num(8, 7), num(8, 4096), []byte{0, 0, 0, 0, 0}, make([]byte, 4096)), "more than a sector"},
	{"inline empty", 5, 257, 108, 0,
		join(num(8, 7), num(8, 0), []byte{0, 0, 0, 0, 0}), "inline data of 0 bytes"},
	{"extent_data cut short", 5, 257, 108, 0, make([]byte, 20), "at least 21"},
	{"csum size", 7, ^uint64(9), 128, 4096, make([]byte, 6), "extent_csum with 6 bytes"},
	{"csum", 7, ^uint64(9), 128, 4096, make([]byte, 8), ""},
	{"root item size", 1, 5, 132, 0, make([]byte, 300), "300 bytes"},
	{"reloc tree", 1, ^uint64(7), 132, 3, make([]byte, 439), "no file tree"},
	{"reloc tree of a subvolume", 1, ^uint64(7), 132, 256, make([]byte, 439), ""},
	{"inode item size", 5, 257, 1, 0, make([]byte, 159), "159 bytes"},
	{"block group size", 2, 1 << 20, 192, 1 << 20, make([]byte, 23), "23 bytes"},
	{"mixed chunk", 3, 256, 228, 1 << 20, mixedChunk, "MIXED_GROUPS"},
	{"dev item size", 3, 1, 216, 1, make([]byte, 97), "97 bytes"},
	{"dev item objectid", 3, 2, 216, 1, make([]byte, 98), "objectid is 2"},
	{"extent item size", 2, 1 << 20, 168, 4096, make([]byte, 23), "23 bytes"},
	{"extent address", 2, 1<<20 + 1, 168, 4096,
		extentItem(1, 1, []byte{178}, dataRef), "not a multiple"},
	{"owner of data", 2, 1 << 20, 168, 4096, extentItem(1, 1, ownerRef, []byte{178}, dataRef), ""},
	{"owner behind", 2, 1 << 20, 168, 4096,
		extentItem(1, 1, []byte{178}, dataRef, ownerRef), "out of place"},
	{"owner of a block", 2, 1 << 20, 169, 0, extentItem(0, 2, ownerRef), "out of place"},
	{"refs below inline", 2, 1 << 20, 168, 4096, extentItem(0, 1, []byte{178}, dataRef), "refs is 0"},
	{"shared data", 2, 1 << 20, 168, 4096, extentItem(1, 1, sharedRef(184, 8192), num(4, 1)), ""},
	{"shared data parent", 2, 1 << 20, 168, 4096,
		extentItem(1, 1, sharedRef(184, 8193), num(4, 1)), "parent of a shared_data_ref"},
	{"shared data count", 2, 1 << 20, 168, 4096,
		extentItem(1, 1, sharedRef(184, 8192), num(4, 0)), "count of a shared_data_ref"},
	{"shared block", 2, 1 << 20, 169, 0,
		extentItem(2, 2, sharedRef(176, 5), sharedRef(182, 8192)), ""},
	{"shared block parent", 2, 1 << 20, 169, 0,
		extentItem(1, 2, sharedRef(182, 8193)), "parent of a shared_block_ref"},
	{"types out of order", 2, 1 << 20, 169, 0,
		extentItem(2, 2, sharedRef(182, 8192), sharedRef(176, 5)), "out of order"},
	{"sequence out of order", 2, 1 << 20, 169, 0,
		extentItem(2, 2, sharedRef(176, 5), sharedRef(176, 256)), "out of order"},
	{"padding", 2, 1 << 20, 169, 0, extentItem(1, 2, sharedRef(176, 5), []byte{0}), "type 0"},
	{"block info", 2, 1 << 20, 168, 16384,
		extentItem(1, 2, make([]byte, 17), []byte{3}, sharedRef(176, 5)), ""},
	{"block info level", 2, 1 << 20, 168, 16384,
		extentItem(1, 2, make([]byte, 17), []byte{8}, sharedRef(176, 5)), "level is 8"},
	{"block info cut short", 2, 1 << 20, 168, 16384,
		extentItem(1, 2, make([]byte, 9)), "btrfs_tree_block_info"},
	{"keyed data ref", 2, 1 << 20, 178, ondisk.ExtentDataRefHash(dataRef), dataRef, ""},
	{"keyed data ref hash", 2, 1 << 20, 178, 5, dataRef, "its hash is"},
	{"keyed data ref size", 2, 1 << 20, 178, 0, dataRef[:27], "27 bytes"},
	{"keyed data ref extent", 2, 1<<20 + 1, 178, ondisk.ExtentDataRefHash(dataRef),
		dataRef, "not a multiple"},
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
	{"quota status of 6.7", 8, 0, 240, 0,
		join(num(8, 1), num(8, 7), num(8, 8), num(8, 0), num(8, 3)), ""},
	{"quota version", 8, 0, 240, 0,
		join(num(8, 2), num(8, 7), num(8, 1), num(8, 0)), "version is 2"},
	{"quota flags", 8, 0, 240, 0,
		join(num(8, 1), num(8, 7), num(8, 16), num(8, 0)), "flags is 0x10"},
	{"quota generation", 8, 0, 240, 0,
		join(num(8, 1), num(8, far), num(8, 1), num(8, 0)), "generation is"},
	{"quota info", 8, 0, 242, 5, join(num(8, far), make([]byte, 32)), "generation is"},
	{"quota limit", 8, 0, 244, 5, join(num(8, 64), make([]byte, 32)), ""},
	{"quota limit objectid", 8, 3, 244, 5, make([]byte, 40), "objectid is 3"},
	{"orphan", 5, ondisk.OrphanID, 48, 257, nil, ""},
	{"orphan key", 5, 257, 48, 257, nil, "has the key"},
	{"orphan size", 5, ondisk.OrphanID, 48, 257, []byte{1}, "1 bytes"},
	{"verity descriptor", 5, 257, 36, 0, join(num(8, 256), make([]byte, 17)), ""},
	{"verity descriptor size", 5, 257, 36, 0, make([]byte, 24), "24 bytes"},
	{"verity encryption", 5, 257, 36, 0, join(make([]byte, 24), []byte{1}), "encryption"},
	{"verity piece", 5, 257, 36, 1, make([]byte, 256), ""},
	{"verity tree", 5, 257, 37, 2048, make([]byte, 2048), ""},
	{"verity tree offset", 5, 257, 37, 100, make([]byte, 2048), "has the key"},
	{"verity tree size", 5, 257, 37, 0, make([]byte, 2049), "2049 bytes"},
	{"balance", 1, ondisk.BalanceID, 248, 0, make([]byte, 448), ""},
	{"balance size", 1, ondisk.BalanceID, 248, 0, make([]byte, 8), "8 bytes"},
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
}

// TestTreeCheckerItems checks that the decoder accepts sound items, and reports the faults of
// others.
func TestTreeCheckerItems(t *testing.T) {
	for _, tc := range unusualItems {
		_, err := btrfs.FuzzedItem(tc.tree, tc.id, tc.offset, tc.typ, tc.data)
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s: %v, want no error", tc.what, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s: %v, want %q", tc.what, err, tc.want)
		}
	}
}
