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
	d.hashes = d.hashes[:0]
	for _, db := range blocks {
		b, err := d.ahead.next(d.new.State, db.block)
		if err != nil {
			return err
		}
		faults := d.checkDir(ino, b, db.block, db.start == 0, func(e ondisk.Entry) {
			names++
			d.inodes.dirs.entryRecords(ino, e.Name, entryValue{}, entryOf(db.block, e))
			if d.again {
				return
			}
			if names <= maxHashes {
				d.hashes = append(d.hashes, maphash.Bytes(d.seed, e.Name))
			}
			if string(e.Name) == ".." {
				d.parents.add(ino, e.Ino)
			}
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

// namesTwice reports the names that occur twice in a directory. hashes has those of the names, if
// they are not too many. namesTwice reads a large directory several times, for a part of the hashes
// each time.
func (d *imageDiff) namesTwice(ino uint32, blocks []dirBlock, names uint64) error {
	rounds := (names + maxHashes - 1) / maxHashes
	for round := range rounds {
		if rounds > 1 {
			d.hashes = d.hashes[:0]
			err := d.eachName(blocks, func(_ uint32, e ondisk.Entry) {
				if h := maphash.Bytes(d.seed, e.Name); h%rounds == round {
					d.hashes = append(d.hashes, h)
				}
			})
			if err != nil {
				return err
			}
		}
		slices.Sort(d.hashes)
		twice := map[uint64]bool(nil)
		for i := 1; i < len(d.hashes) && len(twice) < maxFaults; i++ {
			if d.hashes[i] != d.hashes[i-1] {
				continue
			}
			if twice == nil {
				twice = make(map[uint64]bool)
			}
			twice[d.hashes[i]] = true
		}
		if err := d.namesOf(ino, blocks, twice); err != nil {
			return err
		}
	}
	return nil
}

// namesOf reports the names with some hashes that occur twice in a directory.
func (d *imageDiff) namesOf(ino uint32, blocks []dirBlock, hashes map[uint64]bool) error {
	if len(hashes) == 0 {
		return nil
	}
	met := make(map[string]bool)
	return d.eachName(blocks, func(block uint32, e ondisk.Entry) {
		if !hashes[maphash.Bytes(d.seed, e.Name)] {
			return
		}
		if met[string(e.Name)] {
			d.fault(on(checkDirentName.at(d.Geo.Addr(block)+uint64(e.Off), "%q occurs twice", e.Name),
				ondisk.KindInode, uint64(ino)))
		}
		met[string(e.Name)] = true
	})
}

// eachName calls visit for the entries in blocks of a directory.
func (d *imageDiff) eachName(blocks []dirBlock, visit func(block uint32, e ondisk.Entry)) error {
	for _, db := range blocks {
		b, err := d.ahead.next(d.new.State, db.block)
		if err != nil {
			return err
		}
		ondisk.Entries(b, d.Geo.FileType, func(e ondisk.Entry) { visit(db.block, e) })
	}
	return nil
}
