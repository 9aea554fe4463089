package load_test

import (
	"fmt"

	"fsward/dev/load"
)

func ExampleCheck() {
	fmt.Println(load.Check("btrfs"))
	fmt.Println(load.Check("ext3"))
	// Output:
	// btrfs check $FIRST
	// e2fsck -fn $FIRST
}
