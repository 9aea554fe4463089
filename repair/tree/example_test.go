package tree_test

import (
	"context"
	"fmt"
	"os"

	"fsward/repair/testimage"
	"fsward/repair/tree"
)

// A file that is missing after a repair is a loss if the damage did not touch it. The large file of
// the image has two names.
func ExampleLosses() {
	image, err := testimage.Build(context.Background(), "minix3", os.TempDir())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer image.Close()
	before, err := tree.Read(image, "minix3")
	if err != nil {
		fmt.Println(err)
		return
	}
	after, err := tree.Read(image, "minix3")
	if err != nil {
		fmt.Println(err)
		return
	}
	for path, f := range after {
		if f.Size > 100_000 {
			delete(after, path)
		}
	}
	for _, l := range tree.Losses(before, after, nil) {
		fmt.Println(l.Path, l.What)
	}
	// Output:
	// /d/hlink is gone
	// /f is gone
}
