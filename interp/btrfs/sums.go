package btrfs

import "fsward/interp/btrfs/ondisk"

// eachSum visits the checksums of the data at the logical addresses from lo to hi, in order, with
// the address of each sector. A sector that begins before lo and reaches past it is visited, too.
func eachSum(s *state, lo, hi uint64, visit func(logical uint64, sum []byte) error) error {
	root, ok, err := s.treeRoot(ondisk.CsumTreeID)
	if err != nil || !ok {
		return err
	}
	sector, size := uint64(s.rules.sectorSize), uint64(s.rules.csum.Size())
	from := ondisk.Key{ObjectID: ondisk.ExtentCsumID, Type: ondisk.ExtentCsumKey, Offset: lo}
	pos, ok, err := s.seek(ondisk.CsumTreeID, root.pointer, from)
	if err != nil {
		return err
	}
	// The previous item may reach this place. After the last item, the position is already on it.
	if ok && (pos.key().ObjectID != ondisk.ExtentCsumID || pos.key().Offset > lo) {
		if _, err := pos.move(-1); err != nil {
			return err
		}
	}
	for ok = pos.path[pos.depth].n.NrItems() > 0; ok && err == nil; ok, err = pos.move(1) {
		k := pos.key()
		if k.Offset >= hi && k.ObjectID == ondisk.ExtentCsumID {
			break
		}
		if k.ObjectID != ondisk.ExtentCsumID || k.Type != ondisk.ExtentCsumKey {
			continue
		}
		item := pos.item()
		sums := item.data().Bytes()
		for i := firstSum(k.Offset, lo, sector); (i+1)*size <= uint64(len(sums)); i++ {
			at := k.Offset + i*sector
			if at >= hi {
				break
			}
			if err := visit(at, sums[i*size:(i+1)*size]); err != nil {
				return err
			}
		}
	}
	return err
}

// firstSum returns the index of the checksum of a sector in an item that begins at start, or 0 if
// the sector lies before start.
func firstSum(start, logical, sector uint64) uint64 {
	if logical <= start {
		return 0
	}
	return (logical - start) / sector
}
