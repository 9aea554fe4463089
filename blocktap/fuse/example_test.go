package fuse_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/blocktap/fuse"
)

// logged is a hook that prints each change and performs it.
type logged struct{}

func (logged) Handle(_ context.Context, r *blocktap.Request, do func() error) error {
	fmt.Println(r.Op, r.Off, r.Len)
	return do()
}

// Mount shows a disk as a file. The hook sees every write to that file. For one minute, the
// printed command makes a loop device of the file. The example does not run, because it needs FUSE.
func ExampleMount() {
	disk, err := blocktap.OpenFile("disk.img", blocktap.FileOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer disk.Close()
	dir, err := os.MkdirTemp("", "fuse")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(dir)
	server, err := fuse.Mount(dir, blocktap.NewDevice(disk, logged{}), zap.NewNop())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("losetup --find --show --direct-io=on", server.Path())
	time.Sleep(time.Minute)
	if err := server.Unmount(); err != nil {
		fmt.Println(err)
	}
}
