package ondisk_test

import (
	"encoding/binary"
	"fmt"

	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// A view reads the members of a structure by name.
func ExampleViewInodeItem() {
	b := make([]byte, ondisk.InodeItemSize)
	binary.LittleEndian.PutUint32(b[ondisk.InodeItemNLinkAt:], 2)
	inode, ok := ondisk.ViewInodeItem(disk.NewRegion(b, 1<<20))
	fmt.Println(ok, inode.NLink(), inode.Addr()+ondisk.InodeItemNLinkAt)
	// Output: true 2 1048616
}

// String writes a key as rules do.
func ExampleKey() {
	fmt.Println(ondisk.Key{ObjectID: 257, Type: ondisk.InodeItemKey})
	// Output: k(257,inode_item,0)
}
