package ondisk

import (
	"encoding/binary"

	"fsward/interp/disk"
)

// MixedBackrefRev is the backref_rev of every file system since Linux 2.6.31
// (BTRFS_MIXED_BACKREF_REV).
const MixedBackrefRev = 1

// A Node is a view on a metadata block. Methods that take an index, or return an item, need a block
// that has passed the checks of the reader: every index below nritems is within the bytes, every
// item of a leaf lies in them, and keys ascend.
type Node struct {
	r disk.Region // its address is that of the first copy
}

func (n *Node) Logical() uint64         { return n.r.U64(HeaderBytenrAt) }
func (n *Node) Flags() uint64           { return n.r.U64(HeaderFlagsAt) & (1<<56 - 1) }
func (n *Node) Generation() uint64      { return n.r.U64(HeaderGenerationAt) }
func (n *Node) Owner() uint64           { return n.r.U64(HeaderOwnerAt) }
func (n *Node) NrItems() int            { return int(n.r.U32(HeaderNrItemsAt)) }
func (n *Node) Level() uint8            { return n.r.U8(HeaderLevelAt) }
func (n *Node) Addr() uint64            { return n.r.Addr() }
func (n *Node) BackrefRev() uint8       { return n.r.U8(HeaderBackrefRevAt) }
func (n *Node) Region() disk.Region     { return n.r }
func (n *Node) Bytes() []byte           { return n.r.Bytes() }
func (n *Node) FSID() [16]byte          { return [16]byte(n.r.Bytes()[HeaderFSIDAt:]) }
func (n *Node) ChunkTreeUUID() [16]byte { return [16]byte(n.r.Bytes()[HeaderChunkTreeUUIDAt:]) }

// ReadKey reads the btrfs_disk_key at an offset. The caller has checked that it lies within r.
func ReadKey(r disk.Region, off int) Key {
	b := r.Bytes()[off : off+DiskKeySize]
	return Key{
		ObjectID: binary.LittleEndian.Uint64(b[DiskKeyObjectIDAt:]),
		Type:     b[DiskKeyTypeAt],
		Offset:   binary.LittleEndian.Uint64(b[DiskKeyOffsetAt:]),
	}
}

// NewNode returns a view on a block, and reports whether the block is long enough for a header.
func NewNode(r disk.Region) (*Node, bool) { return &Node{r}, r.Len() >= HeaderSize }

// Key returns the key of item or pointer i.
func (n *Node) Key(i int) Key {
	if n.Level() == 0 {
		return ReadKey(n.r, HeaderSize+i*ItemSize)
	}
	return ReadKey(n.r, HeaderSize+i*KeyPtrSize)
}

// Child returns the logical address and the generation in pointer i of a node above the leaves.
func (n *Node) Child(i int) (logical, generation uint64) {
	at := HeaderSize + i*KeyPtrSize
	return n.r.U64(at + KeyPtrBlockptrAt), n.r.U64(at + KeyPtrGenerationAt)
}

// ItemType returns the key type of item i of a leaf.
func (n *Node) ItemType(i int) uint8 { return n.r.U8(HeaderSize + i*ItemSize + DiskKeyTypeAt) }

// ItemRange returns the offset and the size of the data of item i of a leaf, in bytes. The offset
// counts from the end of the leaf's header.
func (n *Node) ItemRange(i int) (off, size uint32) {
	at := HeaderSize + i*ItemSize
	return n.r.U32(at + ItemOffsetAt), n.r.U32(at + ItemSizeAt)
}

// Item returns the data of item i of a leaf.
func (n *Node) Item(i int) disk.Region {
	off, size := n.ItemRange(i)
	// checkNode has checked the bounds. Out of bounds, Sub returns an empty Region and an error.
	r, _ := n.r.Sub(HeaderSize+uint64(off), uint64(size))
	return r
}

// Search returns the index of the first key that is not below k.
func (n *Node) Search(k Key) (i int, found bool) { return n.bisect(0, n.NrItems(), k) }

// SearchFrom is Search for a key that is probably near index at.
func (n *Node) SearchFrom(at int, k Key) (i int, found bool) {
	lo, hi := 0, n.NrItems()
	if at >= hi {
		return n.bisect(lo, hi, k)
	}
	for step := 1; ; step *= 2 { // move away from at until k lies between lo and hi
		switch c := n.Key(at).Compare(k); {
		case c == 0:
			return at, true
		case c < 0:
			lo = at + 1
			if at += step; at >= hi {
				return n.bisect(lo, hi, k)
			}
		default:
			hi = at
			if at -= step; at < lo {
				return n.bisect(lo, hi, k)
			}
		}
	}
}

// bisect is Search among the keys [lo, hi). It returns hi if all of them are below k.
func (n *Node) bisect(lo, hi int, k Key) (i int, found bool) {
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch c := n.Key(mid).Compare(k); {
		case c == 0:
			return mid, true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return lo, false
}
