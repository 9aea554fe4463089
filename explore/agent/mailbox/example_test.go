package mailbox_test

import (
	"fmt"
	"os"
	"path/filepath"

	"fsward/explore/agent/mailbox"
)

// The file of a mailbox exists before the kernel that maps it boots.
func ExampleMake() {
	dir, err := os.MkdirTemp("", "fsward-mailbox-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "mailbox")
	if err := mailbox.Make(path); err != nil {
		fmt.Println(err)
		return
	}
	info, err := os.Stat(path)
	fmt.Println(info.Size(), err)
	// Output:
	// 17825792 <nil>
}
