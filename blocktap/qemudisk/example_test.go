package qemudisk_test

import (
	"fmt"
	"os"
	"path/filepath"

	"fsward/blocktap/qemudisk"
)

// Detect needs a header and a name that agree: the guest of a raw disk may write any header.
func ExampleDetect() {
	dir, err := os.MkdirTemp("", "qemudisk")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	header := append([]byte("QFI\xfb\x00\x00\x00\x03"), make([]byte, 504)...)
	for _, name := range []string{"vm.qcow2", "vm.img"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, header, 0o600); err != nil {
			fmt.Println(err)
			return
		}
		format, err := qemudisk.Detect(path)
		fmt.Printf("%s: %q, refused: %t\n", name, format, err != nil)
	}
	// Output:
	// vm.qcow2: "qcow2", refused: false
	// vm.img: "", refused: true
}
