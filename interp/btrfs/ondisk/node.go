package ondisk

import (
	"encoding/binary"

	"fsward/interp/disk"
)

// Layout of struct btrfs_header and what follows it in a node or leaf.
const (
	MixedBackrefRev = 1 // BTRFS_MIXED_BACKREF_REV, of every file system since Linux 2.6.31
)

// A Node is a view on a metadata block that has passed the checks of the reader: every index below nritems is
// within the bytes, every item of a leaf lies in them, and keys grow.
type Node struct {
	r disk.Region // Addr is that of the first copy
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

// ReadKey reads a btrfs_disk_key; the caller has checked that it lies within r.
func ReadKey(r disk.Region, off int) Key {
	b := r.Bytes()[off : off+DiskKeySize]
	return Key{binary.LittleEndian.Uint64(b[DiskKeyObjectIDAt:]), b[DiskKeyTypeAt], binary.LittleEndian.Uint64(b[DiskKeyOffsetAt:])}
}

// NewNode returns a view on a block, and reports whether it is long enough for a header.
func NewNode(r disk.Region) (*Node, bool) { return &Node{r}, r.Len() >= HeaderSize }

// Key returns the key of item or pointer i.
func (n *Node) Key(i int) Key {
	if n.Level() == 0 {
		return ReadKey(n.r, HeaderSize+i*ItemSize)
	}
	return ReadKey(n.r, HeaderSize+i*KeyPtrSize)
}

// Child returns the address and generation in pointer i of a node above the leaves.
func (n *Node) Child(i int) (logical, generation uint64) {
	at := HeaderSize + i*KeyPtrSize
	return n.r.U64(at + KeyPtrBlockptrAt), n.r.U64(at + KeyPtrGenerationAt)
}

// ItemType returns the key type of item i of a leaf.
func (n *Node) ItemType(i int) uint8 { return n.r.U8(HeaderSize + i*ItemSize + DiskKeyTypeAt) }

// ItemRange returns where the data of item i of a leaf begins, behind the header of the leaf, and
// how long it is, in bytes.
func (n *Node) ItemRange(i int) (off, size uint32) {
	at := HeaderSize + i*ItemSize
	return n.r.U32(at + ItemOffsetAt), n.r.U32(at + ItemSizeAt)
}

// Item returns the data of item i of a leaf.
func (n *Node) Item(i int) disk.Region {
	off, size := n.ItemRange(i)
	// checkNode has made sure of the bounds; a Region that is none is empty, not a panic.
	r, _ := n.r.Sub(HeaderSize+uint64(off), uint64(size))
	return r
}

// Search returns the index of the first key that is not below k.
func (n *Node) Search(k Key) (i int, found bool) { return n.bisect(0, n.NrItems(), k) }

// SearchFrom is Search for a key that is likely to be near index at.
func (n *Node) SearchFrom(at int, k Key) (i int, found bool) {
	lo, hi := 0, n.NrItems()
	if at >= hi {
		return n.bisect(lo, hi, k)
	}
	for step := 1; ; step *= 2 { // away from at, until k is passed
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

// bisect is Search among the keys from lo on and before hi, where the answer is known to be, or to
// be hi.
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
