package btrfs_test

import (
	"testing"

	"fsward/interp"
	"fsward/interp/btrfs"
	"fsward/interp/btrfs/ondisk"
)

// cutItem shortens item i of a leaf to its first n bytes. The item behind it gets the rest, so that
// no byte is without an item.
func cutItem(leaf []byte, i, n int) {
	data, head, next := itemData(leaf, i), itemHead(leaf, i), itemHead(leaf, i+1)
	cut := len(data) - n
	copy(data[cut:], data[:n])
	put32(ondisk.ItemOffsetAt, get32(head, ondisk.ItemOffsetAt)+uint32(cut))(head)
	put32(ondisk.ItemSizeAt, uint32(n))(head)
	put32(ondisk.ItemSizeAt, get32(next, ondisk.ItemSizeAt)+uint32(cut))(next)
}

// TestCutExtents reads a file whose extent is too short, whatever its type and compression. The
// leaf is sound as a whole.
func TestCutExtents(t *testing.T) {
	seed := seedDisk(t)
	leaf, at := liveLeaf(seed, ondisk.FSTreeID)
	i := 0
	for itemKey(leaf, i).Type != ondisk.ExtentDataKey {
		i++
	}
	inode := itemKey(leaf, i).ObjectID
	for n := range min(len(itemData(leaf, i)), ondisk.FileExtentSize) {
		for typ := range byte(3) {
			for compression := range byte(4) {
				d, b := seed.clone(), append([]byte(nil), leaf...)
				data := itemData(b, i)
				data[ondisk.FileExtentTypeAt], data[ondisk.FileExtentCompressionAt] = typ, compression
				cutItem(b, i, n)
				reseal(b)
				_, _ = d.WriteAt(b, at)
				files, err := btrfs.OpenFiles(d)
				if err != nil {
					t.Fatal(err)
				}
				err = files.Contents(ondisk.FSTreeID, inode, 1<<20,
					func(interp.Piece) error { return nil })
				if err == nil && (n < ondisk.InlineStart || typ != ondisk.ExtentInline) {
					t.Errorf("an extent of %d bytes of the type %d is no error", n, typ)
				}
			}
		}
	}
}
