package minix_test

import (
	"fmt"
	"os"
	"os/exec"

	"fsward/repair/minix"
)

// fill makes a Minix file system in a file, with one file in it.
func fill(f *os.File) error {
	if err := f.Truncate(1 << 20); err != nil {
		return err
	}
	if out, err := exec.Command("/sbin/mkfs.minix", f.Name()).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	w, err := minix.NewWriter(f)
	if err != nil {
		return err
	}
	_, err = w.Add(minix.Root, "hello", minix.File{Mode: minix.Regular | 0o644, Data: []byte("world")})
	return err
}

// A Writer adds files to an empty file system, and an FS reads them.
func ExampleFS() {
	f, err := os.CreateTemp("", "minix")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if err := fill(f); err != nil {
		fmt.Println(err)
		return
	}
	fs, err := minix.Open(f, 1<<20)
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
		i, err := fs.Inode(e.Inode)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(e.Name, i.Size)
	}
	// Output: hello 5
}
