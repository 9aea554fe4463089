package ext3

import "fmt"

// places says where a group keeps its metadata.
type places struct{ blockBitmap, inodeBitmap, inodeTable uint32 }

// fixedMeta tells whether a block is of a kind that never belongs to an inode: a superblock or a copy
// of it, group descriptors, bitmaps, inode tables. Blocks reserved for a growing descriptor table
// belong to the resize inode. Without the feature flex_bg all of a group's metadata is in the group.
func (l *layout) fixedMeta(block uint32) bool {
	g := l.geo.groupOf(block)
	p := l.places[g]
	return block == p.blockBitmap || block == p.inodeBitmap || block-p.inodeTable < l.geo.tableBlocks ||
		block-l.geo.groupStart(g) < l.geo.headBlocks(g)
}

// A layout is where everything of fixed place is, checked.
type layout struct {
	geo    *geometry
	places []places
}

// readLayout reads the group descriptors. block reads a block of the file system.
func readLayout(g *geometry, block func(uint32) ([]byte, error)) (*layout, error) {
	l := &layout{geo: g}
	perBlock := g.perDescBlock()
	for i := range g.descBlocks {
		b, err := block(g.descBlock(i))
		if err != nil {
			return nil, err
		}
		for j := uint32(0); j < perBlock && i*perBlock+j < g.groups; j++ {
			d := b[j*descLen:]
			p := places{le32(d, bgBlockBitmap), le32(d, bgInodeBitmap), le32(d, bgInodeTable)}
			if reason := g.misplaced(i*perBlock+j, p); reason != "" {
				return nil, corrupt(g.addr(g.descBlock(i))+uint64(j)*descLen, "%s", reason)
			}
			l.places = append(l.places, p)
		}
	}
	return l, nil
}

// misplaced says what is wrong with the places of a group's metadata, "" if nothing.
func (g *geometry) misplaced(group uint32, p places) string {
	start := uint64(g.groupStart(group))
	end := start + uint64(g.groupBlocks(group))
	first := start + uint64(g.headBlocks(group))
	within := func(b, n uint32) bool { return uint64(b) >= first && uint64(b)+uint64(n) <= end }
	table := func(b uint32) bool { return b-p.inodeTable < g.tableBlocks }
	switch {
	case !within(p.blockBitmap, 1):
		return fmt.Sprintf("the block bitmap of group %d is at block %d, want %d to %d", group, p.blockBitmap, first, end-1)
	case !within(p.inodeBitmap, 1):
		return fmt.Sprintf("the inode bitmap of group %d is at block %d, want %d to %d", group, p.inodeBitmap, first, end-1)
	case !within(p.inodeTable, g.tableBlocks):
		return fmt.Sprintf("the inode table of group %d is at block %d, want %d to %d", group, p.inodeTable, first, end-uint64(g.tableBlocks))
	case p.blockBitmap == p.inodeBitmap || table(p.blockBitmap) || table(p.inodeBitmap):
		return fmt.Sprintf("the bitmaps and the inode table of group %d overlap", group)
	}
	return ""
}

// inodePlace returns the block that an inode is in, and where in it. ino is from 1 to geo.inodes.
func (l *layout) inodePlace(ino uint32) (block uint32, off uint32) {
	g, i := (ino-1)/l.geo.inodesPerGroup, (ino-1)%l.geo.inodesPerGroup
	at := uint64(i) * uint64(l.geo.inodeSize)
	return l.places[g].inodeTable + uint32(at/uint64(l.geo.blockSize)), uint32(at % uint64(l.geo.blockSize))
}

func (l *layout) inodeAddr(ino uint32) uint64 {
	block, off := l.inodePlace(ino)
	return l.geo.addr(block) + uint64(off)
}
