package btrfs

import (
	"fsward/change"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// Sizes of structures that nothing here looks into (linux/btrfs_tree.h).
const (
	balanceItemSize = 448 // struct btrfs_balance_item
	verityPieceSize = 2048
	verityBlockSize = 1024 // the least that fs-verity can use
)

// checkSmallItem checks the key and the size of items of which the rules use no more than that they
// are there.
func checkSmallItem(kind change.Kind, k ondisk.Key, r disk.Region) error {
	t, n := &ondisk.ItemTypes[kind], uint64(r.Len())
	badKey := func() error {
		return violatedAt(itemRule, r.Addr(), "%s has the key %s", t.Name, k.String())
	}
	badSize := func() error { return violatedAt(itemRule, r.Addr(), "%s has %d bytes", t.Name, n) }
	switch kind {
	case ondisk.KindFreeSpaceHeader: // __load_free_space_cache, load_free_ino_cache
		header, ok := ondisk.ViewFreeSpaceHeader(r)
		switch {
		case k.ObjectID != ondisk.FreeSpaceID:
			return badKey()
		case !ok || r.Len() > ondisk.FreeSpaceHeaderSize:
			return sizeError(t, r, ondisk.FreeSpaceHeaderSize)
		case header.Location().Type != ondisk.InodeItemKey:
			return violatedAt(itemRule, r.Addr(), "location of a free_space_header is %s", header.Location())
		}
	case ondisk.KindOrphanItem:
		switch {
		case k.ObjectID != ondisk.OrphanID && k.ObjectID != ondisk.LogFixupID:
			return badKey()
		case n != 0:
			return badSize()
		}
	case ondisk.KindVerityDesc: // write_key_bytes: the descriptor item, then its bytes from offset 1 on
		if k.Offset != 0 {
			return checkVerityPiece((k.Offset-1)%verityPieceSize, n, badKey, badSize)
		}
		desc, ok := ondisk.ViewVerityDescriptor(r)
		switch {
		case !ok || n > ondisk.VerityDescriptorSize:
			return badSize()
		case desc.Reserved() != [16]byte{} || desc.Encryption() != 0:
			return violatedAt(itemRule, r.Addr()+ondisk.VerityDescriptorReservedAt, "reserved or encryption of a verity_desc_item is not 0")
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
		case n != ondisk.DevReplaceSize:
			return badSize()
		}
	}
	return nil
}

// checkVerityPiece checks one item of those into which write_key_bytes cuts what it writes. rest is
// by how much its offset is off the grid.
func checkVerityPiece(rest, n uint64, badKey, badSize func() error) error {
	switch {
	case rest != 0:
		return badKey()
	case n == 0 || n > verityPieceSize:
		return badSize()
	}
	return nil
}
