package testimage_test

import (
	"context"
	"fmt"
	"os"

	"fsward/repair/minix"
	"fsward/repair/testimage"
)

// The root of an image has the tree of the package comment.
func ExampleBuild() {
	image, err := testimage.Build(context.Background(), "minix3", os.TempDir())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer image.Close()
	fs, err := minix.Open(image, image.Size())
	if err != nil {
		fmt.Println(err)
		return
	}
	root, err := fs.Inode(minix.Root)
	if err != nil {
		fmt.Println(err)
		return
	}
	entries, err := fs.Entries(root)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range entries {
		fmt.Println(e.Name)
	}
	// Output:
	// bdev
	// d
	// cdev
	// fdev
	// f
}
