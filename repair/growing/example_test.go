package growing_test

import (
	"fmt"
	"path/filepath"

	"fsward/repair/growing"
)

// printed is a Watcher that prints what it sees.
type printed struct{}

func (printed) Wrote(off uint64, data []byte) { fmt.Println("wrote", len(data), "bytes at", off) }

func (printed) Flushed() { fmt.Println("flushed") }

// Serves an undo file of at most 64 MiB. The example is not run, because it needs FUSE.
func ExampleMount() {
	s, err := growing.Mount("/tmp/undo", 64<<20, printed{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("e2fsck -fy -z", filepath.Join("/tmp/undo", growing.FileName), "disk.img")
	fmt.Println(s.Unmount())
}
