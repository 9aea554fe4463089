package usermode_test

import (
	"errors"
	"fmt"
	"os"

	"fsward/explore/usermode"
)

// A machine boots from the initramfs of a guest, which make guest makes.
func ExampleNew() {
	_, err := usermode.New(usermode.Config{Initramfs: "no/explorer.cpio.zst", MemoryMiB: 192})
	fmt.Println(errors.Is(err, os.ErrNotExist))
	// Output: true
}
