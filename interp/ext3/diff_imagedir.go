package ext3

import (
	"fsward/interp/ext3/ondisk"
	"hash/maphash"
	"slices"
)

// maxHashes bounds the names of a directory that are compared at a time. Their hashes take 8 MiB.
const maxHashes = 1 << 20

// directory makes the records of the entries of a new directory, block by block.
func (d *imageDiff) directory(ino uint32, s side, blocks []dirBlock) error {
	i := s.inode
	if !i.ListsNames() {
		return nil
	}
	if i.Pointer(0) == 0 {
		d.fault(on(checkDots.at(d.inodeAddr(ino), "the directory has no first block"), ondisk.KindInode,
			uint64(ino)))
		return nil
	}
	visible := i.DirBlocks(d.Geo.BlockSize)
	blocks = slices.DeleteFunc(blocks, func(b dirBlock) bool { return b.start >= visible })
	names := uint64(0)
	for _, db := range blocks {
		b, err := d.new.Block(db.block)
		if err != nil {
			return err
		}
		faults := d.checkDir(ino, b, db.block, db.start == 0, func(e ondisk.Entry) {
			names++
			d.inodes.dirs.entryRecords(ino, e.Name, entryValue{}, entryOf(db.block, e))
		})
		for _, v := range faults {
			d.fault(v)
		}
		if err := d.tooMany(); err != nil {
			return err
		}
	}
	if d.again {
		return nil
	}
	if err := d.namesTwice(ino, blocks, names); err != nil || !i.HasIndex() {
		return err
	}
	return d.inodes.dirs.index(ino, side{}, i, blocks)
}

// namesTwice reports the names that occur twice in a directory. It reads a large directory several
// times, for a part of the hashes each time.
func (d *imageDiff) namesTwice(ino uint32, blocks []dirBlock, names uint64) error {
	seed := maphash.MakeSeed()
	rounds := names/maxHashes + 1
	for round := range rounds {
		hashes := d.hashes[:0]
		err := d.eachName(blocks, func(_ uint32, e ondisk.Entry) {
			if h := maphash.Bytes(seed, e.Name); h%rounds == round {
				hashes = append(hashes, h)
			}
		})
		if err != nil {
			return err
		}
		d.hashes = hashes
		slices.Sort(hashes)
		twice := make(map[uint64]bool)
		for i := 1; i < len(hashes) && len(twice) < maxFaults; i++ {
			if hashes[i] == hashes[i-1] {
				twice[hashes[i]] = true
			}
		}
		if len(twice) == 0 {
			continue
		}
		met := make(map[string]bool)
		err = d.eachName(blocks, func(block uint32, e ondisk.Entry) {
			if !twice[maphash.Bytes(seed, e.Name)] {
				return
			}
			if met[string(e.Name)] {
				d.fault(on(checkDirentName.at(d.Geo.Addr(block)+uint64(e.Off), "%q occurs twice", e.Name),
					ondisk.KindInode, uint64(ino)))
			}
			met[string(e.Name)] = true
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachName calls visit for the entries in blocks of a directory.
func (d *imageDiff) eachName(blocks []dirBlock, visit func(block uint32, e ondisk.Entry)) error {
	for _, db := range blocks {
		b, err := d.new.Block(db.block)
		if err != nil {
			return err
		}
		ondisk.Entries(b, d.Geo.FileType, func(e ondisk.Entry) { visit(db.block, e) })
	}
	return nil
}
