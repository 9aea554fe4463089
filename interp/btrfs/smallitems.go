package btrfs

import (
	"fsward/change"
	"fsward/interp/btrfs/ondisk"
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
func checkSmallItem(kind change.Kind, k ondisk.Key, r disk.Region) error {
	t, n := &ondisk.ItemTypes[kind], uint64(r.Len())
	badKey := func() error {
		return violatedAt(itemRule, r.Addr(), "%s has the key %s", t.Name, k.String())
	}
	badSize := func() error { return violatedAt(itemRule, r.Addr(), "%s has %d bytes", t.Name, n) }
	switch kind {
	case ondisk.KindFreeSpaceHeader: // __load_free_space_cache, load_free_ino_cache
		switch {
		case k.ObjectID != ondisk.FreeSpaceID:
			return badKey()
		case r.Len() != ondisk.FreeSpaceHeaderSize:
			return sizeError(t, r, ondisk.FreeSpaceHeaderSize)
		case ondisk.ReadKey(r, 0).Type != ondisk.InodeItemKey:
			return violatedAt(itemRule, r.Addr(), "location of a free_space_header is %s", ondisk.ReadKey(r, 0).String())
		}
	case ondisk.KindOrphanItem:
		switch {
		case k.ObjectID != ondisk.OrphanID && k.ObjectID != ondisk.LogFixupID:
			return badKey()
		case n != 0:
			return badSize()
		}
	case ondisk.KindVerityDesc: // write_key_bytes: the descriptor item, then its bytes from offset 1 on
		switch {
		case k.Offset == 0 && n != verityItemSize:
			return badSize()
		case k.Offset == 0 && (r.U64(8) != 0 || r.U64(16) != 0 || r.U8(24) != 0):
			return violatedAt(itemRule, r.Addr()+8, "reserved or encryption of a verity_desc_item is not 0")
		case k.Offset != 0:
			return checkVerityPiece((k.Offset-1)%verityPieceSize, n, badKey, badSize)
		}
	case ondisk.KindVerityMerkle:
		return checkVerityPiece(k.Offset%verityBlockSize, n, badKey, badSize)
	case ondisk.KindTemporaryItem: // insert_balance_item
		switch {
		case k.ObjectID != ondisk.BalanceID || k.Offset != 0:
			return badKey()
		case n != balanceItemSize:
			return badSize()
		}
	case ondisk.KindPersistentItem: // update_dev_stat_item; the item may grow
		switch {
		case k.ObjectID != 0:
			return badKey()
		case n == 0 || n%8 != 0:
			return badSize()
		}
	case ondisk.KindDevReplace: // btrfs_init_dev_replace
		switch {
		case k.ObjectID != 0 || k.Offset != 0:
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
