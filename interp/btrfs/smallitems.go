package btrfs

import (
	"fsward/change"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// Sizes in bytes of structures that fsward does not decode (linux/btrfs_tree.h, fs/btrfs/verity.c).
const (
	balanceItemSize = 448 // struct btrfs_balance_item
	verityPieceSize = 2048
	verityBlockSize = 1024 // the smallest block size of fs-verity
)

// checkSmallItem checks the key and the size of an item. Rules ask only whether such an item exists
// and what its size is.
func checkSmallItem(kind change.Kind, k ondisk.Key, r disk.Region) error {
	n, keyOK, sizeOK := uint64(r.Len()), true, true
	switch kind {
	case ondisk.KindFreeSpaceHeader:
		return checkFreeSpaceHeader(k, r)
	case ondisk.KindOrphanItem:
		keyOK = k.ObjectID == ondisk.OrphanID || k.ObjectID == ondisk.LogFixupID
		sizeOK = n == 0
	case ondisk.KindVerityDesc:
		// write_key_bytes: a descriptor item at offset 0, then the bytes of the descriptor from 1 on.
		if k.Offset == 0 {
			return checkVerityDescriptor(r)
		}
		keyOK, sizeOK = (k.Offset-1)%verityPieceSize == 0, isVerityPiece(n)
	case ondisk.KindVerityMerkle:
		keyOK, sizeOK = k.Offset%verityBlockSize == 0, isVerityPiece(n)
	case ondisk.KindTemporaryItem: // insert_balance_item
		keyOK = k.ObjectID == ondisk.BalanceID && k.Offset == 0
		sizeOK = n == balanceItemSize
	case ondisk.KindPersistentItem: // update_dev_stat_item; the item may grow
		keyOK, sizeOK = k.ObjectID == 0, n != 0 && n%8 == 0
	case ondisk.KindDevReplace: // btrfs_init_dev_replace
		keyOK = k.ObjectID == 0 && k.Offset == 0
		sizeOK = n == ondisk.DevReplaceSize
	}
	switch {
	case !keyOK:
		return smallKeyError(kind, k, r)
	case !sizeOK:
		return smallSizeError(kind, r)
	}
	return nil
}

func smallKeyError(kind change.Kind, k ondisk.Key, r disk.Region) error {
	return violatedAt(itemRule, r.Addr(), "%s has the key %s", ondisk.ItemTypes[kind].Name, k.String())
}

func smallSizeError(kind change.Kind, r disk.Region) error {
	return violatedAt(itemRule, r.Addr(), "%s has %d bytes", ondisk.ItemTypes[kind].Name, r.Len())
}

// checkFreeSpaceHeader follows __load_free_space_cache and load_free_ino_cache.
func checkFreeSpaceHeader(k ondisk.Key, r disk.Region) error {
	header, ok := ondisk.ViewFreeSpaceHeader(r)
	switch {
	case k.ObjectID != ondisk.FreeSpaceID:
		return smallKeyError(ondisk.KindFreeSpaceHeader, k, r)
	case !ok || r.Len() > ondisk.FreeSpaceHeaderSize:
		t := &ondisk.ItemTypes[ondisk.KindFreeSpaceHeader]
		return sizeError(t, r, ondisk.FreeSpaceHeaderSize)
	case header.Location().Type != ondisk.InodeItemKey:
		return violatedAt(itemRule, r.Addr(), "location of a free_space_header is %s",
			header.Location())
	}
	return nil
}

// checkVerityDescriptor checks the first item of an fs-verity descriptor.
func checkVerityDescriptor(r disk.Region) error {
	desc, ok := ondisk.ViewVerityDescriptor(r)
	switch {
	case !ok || r.Len() > ondisk.VerityDescriptorSize:
		return smallSizeError(ondisk.KindVerityDesc, r)
	case desc.Reserved() != [16]byte{} || desc.Encryption() != 0:
		return violatedAt(itemRule, r.Addr()+ondisk.VerityDescriptorReservedAt,
			"reserved or encryption of a verity_desc_item is not 0")
	}
	return nil
}

// isVerityPiece reports whether write_key_bytes writes items of n bytes.
func isVerityPiece(n uint64) bool { return n > 0 && n <= verityPieceSize }
