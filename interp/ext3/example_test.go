package ext3_test

import (
	"errors"
	"fmt"

	"fsward/interp"
	"fsward/interp/ext3"
)

// blank is a disk of zeros.
type blank uint64

func (b blank) Size() uint64 { return uint64(b) }

func (b blank) ReadAt(p []byte, _ int64) (int, error) {
	clear(p)
	return len(p), nil
}

// A disk without an ext3 superblock is interp.ErrNotFound.
func ExampleNew() {
	_, err := ext3.New(blank(1 << 20))
	fmt.Println(errors.Is(err, interp.ErrNotFound))
	// Output: true
}

// Each check that is made before any rule runs has a name, which verdicts use.
func ExampleChecks() {
	for _, c := range ext3.Checks()[:2] {
		fmt.Println(c.Name)
	}
	// Output:
	// ext3/superblock
	// ext3/superblock-geometry
}
