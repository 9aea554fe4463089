package ondisk

import (
	"encoding/binary"
	"hash/crc32"
	"math"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// rawCRC32C is the kernel's crc32c(seed, b). It omits the inversions that Go applies before and
// after.
func rawCRC32C(seed uint32, b []byte) uint32 { return ^crc32.Update(^seed, castagnoli, b) }

// NameHash is btrfs_name_hash.
func NameHash(name []byte) uint64 { return uint64(rawCRC32C(^uint32(1), name)) }

// ExtrefHash is btrfs_extref_hash: the key offset of an inode_extref.
func ExtrefHash(parent uint64, name []byte) uint64 {
	return uint64(rawCRC32C(uint32(parent), name))
}

// ExtentDataRefHash is hash_extent_data_ref, computed from the bytes of a btrfs_extent_data_ref.
func ExtentDataRefHash(ref []byte) uint64 {
	high := rawCRC32C(math.MaxUint32, ref[ExtentDataRefRootAt:ExtentDataRefObjectIDAt])
	low := rawCRC32C(math.MaxUint32, ref[ExtentDataRefObjectIDAt:ExtentDataRefCountAt])
	return uint64(high)<<31 ^ uint64(low)
}

// DataRefHash is hash_extent_data_ref. It is the key offset of an extent_data_ref, unless the hash
// collides with that of another one.
func DataRefHash(root, objectid, offset uint64) uint64 {
	var ref [ExtentDataRefCountAt]byte
	binary.LittleEndian.PutUint64(ref[ExtentDataRefRootAt:], root)
	binary.LittleEndian.PutUint64(ref[ExtentDataRefObjectIDAt:], objectid)
	binary.LittleEndian.PutUint64(ref[ExtentDataRefOffsetAt:], offset)
	return ExtentDataRefHash(ref[:])
}
