package ondisk

import (
	"hash/crc32"
	"math"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// rawCRC32C is the kernel's crc32c(seed, b): without the inversions that Go's has at both ends.
func rawCRC32C(seed uint32, b []byte) uint32 { return ^crc32.Update(^seed, castagnoli, b) }

// nameHash is btrfs_name_hash.
func NameHash(name []byte) uint64 { return uint64(rawCRC32C(^uint32(1), name)) }

// extrefHash is btrfs_extref_hash: the key offset of an inode_extref.
func ExtrefHash(parent uint64, name []byte) uint64 { return uint64(rawCRC32C(uint32(parent), name)) }

// extentDataRefHash is hash_extent_data_ref of a btrfs_extent_data_ref.
func ExtentDataRefHash(ref []byte) uint64 {
	high := rawCRC32C(math.MaxUint32, ref[0:8])
	low := rawCRC32C(math.MaxUint32, ref[8:24])
	return uint64(high)<<31 ^ uint64(low)
}
