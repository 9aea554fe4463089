package ondisk

import (
	"encoding/binary"
	"fmt"

	"fsward/change"
)

// Key is struct btrfs_disk_key.
type Key struct {
	ObjectID uint64
	Type     uint8
	Offset   uint64
}

const UUIDSize = 16 // BTRFS_UUID_SIZE

// Put writes the key into b as a btrfs_disk_key.
func (k Key) Put(b []byte) {
	binary.LittleEndian.PutUint64(b[DiskKeyObjectIDAt:], k.ObjectID)
	b[DiskKeyTypeAt] = k.Type
	binary.LittleEndian.PutUint64(b[DiskKeyOffsetAt:], k.Offset)
}

// Compare orders keys as btrfs_comp_cpu_keys does.
func (k Key) Compare(o Key) int {
	switch {
	case k.ObjectID != o.ObjectID:
		return order(k.ObjectID < o.ObjectID)
	case k.Type != o.Type:
		return order(k.Type < o.Type)
	case k.Offset != o.Offset:
		return order(k.Offset < o.Offset)
	default:
		return 0
	}
}

func order(less bool) int {
	if less {
		return -1
	}
	return 1
}

// String writes a key as rules do. It writes an unknown type as a number.
func (k Key) String() string {
	name := fmt.Sprint(k.Type)
	if t := itemTypeOf(k.Type); t != nil {
		name = t.Name
	}
	return fmt.Sprintf("k(%s,%s,%s)", change.NumText(k.ObjectID), name, change.NumText(k.Offset))
}
