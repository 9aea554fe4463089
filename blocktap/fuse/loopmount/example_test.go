package loopmount_test

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/blocktap/fuse/loopmount"
)

// The host's kernel mounts an image, and a script writes to it. The example does not run, because
// it needs root.
func ExampleAttach() {
	disk, err := blocktap.OpenFile("ext3.img", blocktap.FileOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer disk.Close()
	ctx := context.Background()
	dev := blocktap.NewDevice(disk, nil)
	loop, err := loopmount.Attach(ctx, dev, zap.NewNop())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer loop.Close()
	if err := loop.Mount("ext3", "data=journal"); err != nil {
		fmt.Println(err)
		return
	}
	out, err := loop.Run(ctx, "echo hello > greeting; sync; cat greeting")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s%d requests\n", out, dev.Requests())
	if err := loop.Unmount(); err != nil {
		fmt.Println(err)
	}
}

// The error of a command that takes too long names the command and its time.
func ExampleTimeoutError() {
	var err error = &loopmount.TimeoutError{Command: "mount", After: 60 * time.Second, Stuck: true}
	fmt.Println(err)
	// Output:
	// mount: still running after 1m0s; the device was aborted, and the command still hangs
}
