package btrfs_test

import (
	"errors"
	"fmt"

	"fsward/interp"
	"fsward/interp/btrfs"
)

// New finds no Btrfs on a disk without a superblock. Watch waits until a file system appears.
func ExampleWatch() {
	d := newSparseDisk(1 << 20)
	_, err := btrfs.New(d)
	fmt.Println(errors.Is(err, interp.ErrNotFound))
	f := btrfs.Watch(d)
	obs := f.Observe(interp.Write{Off: 0, Len: 4096, Data: make([]byte, 4096)})
	f.Settle(true)
	fmt.Printf("%q %v\n", f.FS(), obs.Point == interp.NoPoint)
	// Output:
	// true
	// "" true
}
