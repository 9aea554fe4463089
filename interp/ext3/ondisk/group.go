package ondisk

import "fmt"

// Places holds the blocks of a group's bitmaps and the first block of its inode table.
type Places struct{ BlockBitmap, InodeBitmap, InodeTable uint32 }

// Misplaced describes the first fault in the places of a group's metadata, or returns "".
func (g *Geometry) Misplaced(group uint32, p Places) string {
	start := uint64(g.GroupStart(group))
	end := start + uint64(g.GroupBlocks(group))
	first := start + uint64(g.HeadBlocks(group))
	within := func(b, n uint32) bool { return uint64(b) >= first && uint64(b)+uint64(n) <= end }
	table := func(b uint32) bool { return b-p.InodeTable < g.TableBlocks }
	switch {
	case !within(p.BlockBitmap, 1):
		return fmt.Sprintf("the block bitmap of group %d is at block %d, want %d to %d", group,
			p.BlockBitmap, first, end-1)
	case !within(p.InodeBitmap, 1):
		return fmt.Sprintf("the inode bitmap of group %d is at block %d, want %d to %d", group,
			p.InodeBitmap, first, end-1)
	case !within(p.InodeTable, g.TableBlocks):
		return fmt.Sprintf("the inode table of group %d is at block %d, want %d to %d", group,
			p.InodeTable, first, end-uint64(g.TableBlocks))
	case p.BlockBitmap == p.InodeBitmap || table(p.BlockBitmap) || table(p.InodeBitmap):
		return fmt.Sprintf("the bitmaps and the inode table of group %d overlap", group)
	}
	return ""
}
