package ext3

import (
	"hash/maphash"
	"io"
	"slices"

	"fsward/change"
	"fsward/interp/ext3/ondisk"
)

// An imageDiff makes the records of a file system in which everything is new. Only sets of bits
// grow with the file system.
type imageDiff struct {
	*compared
	groups groupDiff
	inodes inodeDiff
	owners
	alone   *numberSet // disputed blocks that an earlier pass found; each gets records of its own
	attrs   numberSet  // extended attribute blocks that an inode names
	onList  numberSet  // inodes on the list of orphans
	ahead   window
	parents parentTable
	seed    maphash.Seed
	hashes  []uint64 // scratch: hashes of the names of a directory

	again    bool // an earlier pass found the structure sound
	progress func(done, total uint64)
}

// newImageDiff compares an empty file system with the state s. The records go to p.
func newImageDiff(s Snapshot, generation uint32, dev io.ReaderAt, size uint64, p *parts,
	names *change.Names) *imageDiff {
	txn := &change.Txn{Schema: schema, Generation: uint64(generation), Names: names,
		Whole: true}
	c := &compared{Layout: s.Layout, was: s.Layout, device: size, old: Snapshot{s.Layout,
		NewState(dev, s.Geo, size)}, new: s, plan: &plan{},
		records: &records{txn: txn, parts: p}}
	c.beside = c.blocks.bytes
	c.image = &imageDiff{compared: c, groups: groupDiff{c}, inodes: newInodeDiff(c),
		seed: maphash.MakeSeed()}
	return c.image
}

// run makes the records, group by group and inode by inode, so that memory does not grow with them.
// The records of blocks follow those of the first pointers to them.
func (d *imageDiff) run() error {
	if err := d.superblock(); err != nil {
		return err
	}
	if err := d.orphanList(); err != nil {
		return err
	}
	if err := d.allInodes(); err != nil {
		return err
	}
	for block := range d.attrs.all() {
		if err := d.inodes.compareXattrBlock(block); err != nil {
			return err
		}
		if err := d.tooMany(); err != nil {
			return err
		}
	}
	for g := range d.Geo.Groups {
		if err := d.unowned(g); err != nil {
			return err
		}
		if err := d.groups.compareFields(g); err != nil {
			return err
		}
		if err := d.tooMany(); err != nil {
			return err
		}
	}
	slices.SortFunc(d.sharers, sharer.compare)
	if d.parts.partial() {
		return d.handOn(0)
	}
	return nil
}

// allInodes makes the records of the bitmaps and of the inodes, group by group.
func (d *imageDiff) allInodes() error {
	total, err := d.inodesInUse()
	if err != nil {
		return err
	}
	if d.parts.drop { // the count may be wrong, and the budget bounds what is taken for it
		if err := d.expect(int(total) * leastRecords); err != nil {
			return err
		}
	}
	done := uint64(0)
	for g := range d.Geo.Groups {
		if err := d.groups.compare(g); err != nil {
			return err
		}
		for ino := range d.todo.inodes.all() {
			if err := d.inode(ino); err != nil {
				return err
			}
			if done++; d.progress != nil {
				d.progress(done, max(done, total))
			}
		}
		d.todo.inodes = numberSet{}
	}
	return nil
}

// leastRecords is the number of records that an inode with a name makes at least: of the inode
// itself, which may lack two of the fields, of its bit in the bitmap, and of the directory entry.
var leastRecords = 1 + len(ondisk.InodeRecordFields) - 2 + 2 + 2

// inodesInUse returns how many inodes the groups count as used.
func (d *imageDiff) inodesInUse() (n uint64, err error) {
	for g := range d.Geo.Groups {
		desc, err := d.new.desc(g)
		if err != nil {
			return 0, err
		}
		n += uint64(d.Geo.InodesPerGroup - min(d.Geo.InodesPerGroup,
			uint32(ondisk.GroupDescOf(desc).FreeInodesCount())))
	}
	return n, nil
}

// inode makes the records of an inode and of its blocks.
func (d *imageDiff) inode(ino uint32) error {
	marked, err := d.new.marked(ino)
	if err != nil {
		return err
	}
	if marked {
		d.inodeBit(ino, (ino-1)/d.Geo.InodesPerGroup, true)
	}
	if err := d.inodes.compareTree(ino); err != nil {
		return err
	}
	if err := d.claimRuns(); err != nil {
		return err
	}
	if err := d.inodes.compareFields(ino); err != nil {
		return err
	}
	return d.tooMany()
}

// orphanList follows the list of orphans.
func (d *imageDiff) orphanList() error {
	sb, err := d.new.super()
	if err != nil {
		return err
	}
	fault := func(format string, ino uint32) {
		d.fault(on(checkOrphans.at(ondisk.SuperOff+ondisk.SuperLastOrphanAt, format, ino),
			ondisk.KindSuperblock, 0))
	}
	for at := ondisk.SuperOf(sb).LastOrphan(); at != 0; {
		switch {
		case at < d.Geo.FirstIno || at > d.Geo.Inodes:
			fault("the list names inode %d", at)
			return nil
		case !d.onList.add(at):
			fault("the list comes back to inode %d", at)
			return nil
		}
		d.txn.Add(change.Object{Kind: ondisk.KindOrphan, ID: uint64(at)})
		if err := d.tooMany(); err != nil {
			return err
		}
		i, err := d.new.Inode(at)
		if err != nil {
			return err
		}
		at = i.Dtime()
	}
	return nil
}
