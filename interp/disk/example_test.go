package disk_test

import (
	"fmt"

	"fsward/interp/disk"
)

// Sub returns a structure in a block. A range outside of the block is an error that names the
// device address.
func ExampleRegion_Sub() {
	block := disk.NewRegion([]byte{0x53, 0xef, 1, 0, 0, 0, 0, 0}, 4096)
	magic, err := block.Sub(0, 2)
	fmt.Printf("%#x %v\n", magic.U16(0), err)
	_, err = block.Sub(6, 4)
	fmt.Println(err)
	// Output:
	// 0xef53 <nil>
	// bytes 6 to 10 lie outside the 8 bytes at device address 4096
}
