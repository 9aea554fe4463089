package ext3

import "fsward/interp/ext3/ondisk"

// FixedMeta reports whether a block can never belong to an inode: it holds a superblock or a copy
// of one, group descriptors, a bitmap, or inodes. Blocks that are reserved for a growing descriptor
// table belong to the resize inode. Without the feature flex_bg, all metadata of a group is in the
// group.
func (l *Layout) FixedMeta(block uint32) bool {
	g := l.Geo.GroupOf(block)
	p := l.Places[g]
	return block == p.BlockBitmap || block == p.InodeBitmap ||
		block-p.InodeTable < l.Geo.TableBlocks ||
		block-l.Geo.GroupStart(g) < l.Geo.HeadBlocks(g)
}

// A Layout has the places of all metadata with a fixed place. The places have been checked.
type Layout struct {
	Geo    *ondisk.Geometry
	Places []ondisk.Places
}

// readLayout reads and checks the group descriptors. block reads a block of the file system.
func readLayout(g *ondisk.Geometry, block func(uint32) ([]byte, error)) (*Layout, error) {
	l := &Layout{Geo: g}
	perBlock := g.PerDescBlock()
	for i := range g.DescBlocks {
		b, err := block(g.DescBlock(i))
		if err != nil {
			return nil, err
		}
		for j := uint32(0); j < perBlock && i*perBlock+j < g.Groups; j++ {
			d := b[j*ondisk.GroupDescLen:]
			p := ondisk.Places{BlockBitmap: ondisk.GroupDescOf(d).BlockBitmap(),
				InodeBitmap: ondisk.GroupDescOf(d).InodeBitmap(),
				InodeTable:  ondisk.GroupDescOf(d).InodeTable()}
			if reason := g.Misplaced(i*perBlock+j, p); reason != "" {
				return nil, ondisk.Corrupt(g.Addr(g.DescBlock(i))+uint64(j)*ondisk.GroupDescLen, "%s", reason)
			}
			l.Places = append(l.Places, p)
		}
	}
	return l, nil
}

// inodePlace returns the block that holds an inode, and the offset in it. ino is from 1 to
// Geo.Inodes.
func (l *Layout) inodePlace(ino uint32) (block uint32, off uint32) {
	g, i := (ino-1)/l.Geo.InodesPerGroup, (ino-1)%l.Geo.InodesPerGroup
	at := uint64(i) * uint64(l.Geo.InodeSize)
	return l.Places[g].InodeTable + uint32(at/uint64(l.Geo.BlockSize)),
		uint32(at % uint64(l.Geo.BlockSize))
}

func (l *Layout) inodeAddr(ino uint32) uint64 {
	block, off := l.inodePlace(ino)
	return l.Geo.Addr(block) + uint64(off)
}
