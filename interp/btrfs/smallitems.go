package btrfs

import (
	"fsward/change"
	"fsward/interp/disk"
)

// Sizes of structures that nothing here looks into (linux/btrfs_tree.h).
const (
	balanceItemSize    = 448 // struct btrfs_balance_item
	devReplaceItemSize = 72  // struct btrfs_dev_replace_item
	verityItemSize     = 25  // struct btrfs_verity_descriptor_item
	verityPieceSize    = 2048
	verityBlockSize    = 1024 // the least that fs-verity can use
)

// checkSmallItem checks the key and the size of items of which the rules use no more than that they are
// there.
func checkSmallItem(kind change.Kind, k key, r disk.Region) error {
	t, n := &itemTypes[kind], uint64(r.Len())
	badKey := func() error {
		return violatedAt(itemRule, r.Addr(), "%s has the key %s", t.name, keyText(k))
	}
	badSize := func() error { return violatedAt(itemRule, r.Addr(), "%s has %d bytes", t.name, n) }
	switch kind {
	case kindFreeSpaceHeader: // __load_free_space_cache, load_free_ino_cache
		switch {
		case k.objectid != freeSpaceID:
			return badKey()
		case r.Len() != freeSpaceHeaderLayout.size:
			return sizeError(t, r, freeSpaceHeaderLayout.size)
		case readKey(r, 0).typ != inodeItemKey:
			return violatedAt(itemRule, r.Addr(), "location of a free_space_header is %s", keyText(readKey(r, 0)))
		}
	case kindOrphanItem:
		switch {
		case k.objectid != orphanID && k.objectid != logFixupID:
			return badKey()
		case n != 0:
			return badSize()
		}
	case kindVerityDesc: // write_key_bytes: the descriptor item, then its bytes from offset 1 on
		switch {
		case k.offset == 0 && n != verityItemSize:
			return badSize()
		case k.offset == 0 && (r.U64(8) != 0 || r.U64(16) != 0 || r.U8(24) != 0):
			return violatedAt(itemRule, r.Addr()+8, "reserved or encryption of a verity_desc_item is not 0")
		case k.offset != 0:
			return checkVerityPiece((k.offset-1)%verityPieceSize, n, badKey, badSize)
		}
	case kindVerityMerkle:
		return checkVerityPiece(k.offset%verityBlockSize, n, badKey, badSize)
	case kindTemporaryItem: // insert_balance_item
		switch {
		case k.objectid != balanceID || k.offset != 0:
			return badKey()
		case n != balanceItemSize:
			return badSize()
		}
	case kindPersistentItem: // update_dev_stat_item; the item may grow
		switch {
		case k.objectid != 0:
			return badKey()
		case n == 0 || n%8 != 0:
			return badSize()
		}
	case kindDevReplace: // btrfs_init_dev_replace
		switch {
		case k.objectid != 0 || k.offset != 0:
			return badKey()
		case n != devReplaceItemSize:
			return badSize()
		}
	}
	return nil
}

// checkVerityPiece checks one item of those into which write_key_bytes cuts what it writes. rest is by
// how much its offset is off the grid.
func checkVerityPiece(rest, n uint64, badKey, badSize func() error) error {
	switch {
	case rest != 0:
		return badKey()
	case n == 0 || n > verityPieceSize:
		return badSize()
	}
	return nil
}
