package ondisk_test

import (
	"fmt"

	"fsward/interp/ext3/ondisk"
)

// A view names the members of a structure; the table of fields says where they stand.
func ExampleGroupDesc() {
	b := make([]byte, ondisk.GroupDescLen)
	for _, f := range ondisk.GroupLayout.Fields {
		if f.Name == "free_blocks_count" {
			f.Put(b, 4711)
		}
	}
	fmt.Println(ondisk.GroupDescOf(b).FreeBlocksCount())
	// Output: 4711
}

// The block of a directory has two entries, "." and "..". The second takes the rest of the block.
func ExampleEntries() {
	b := make([]byte, 1024)
	put := func(off, length int, ino uint32, name string) {
		head := ondisk.DirentHeadOf(b[off:])
		head.SetInode(ino)
		head.SetRecLen(uint16(length))
		head.SetNameLen(uint8(len(name)))
		head.SetFileType(2)
		copy(b[off+ondisk.DirentNameAt:], name)
	}
	put(0, ondisk.DotLen, 12, ".")
	put(ondisk.DotLen, 1024-ondisk.DotLen, 2, "..")
	_, fault := ondisk.Entries(b, true, func(e ondisk.Entry) {
		fmt.Printf("%s: inode %d\n", e.Name, e.Ino)
	})
	fmt.Printf("fault: %q\n", fault)
	// Output:
	// .: inode 12
	// ..: inode 2
	// fault: ""
}
