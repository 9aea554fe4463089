package guest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"fsward/explore/agent"
	"fsward/explore/guest"
	"fsward/explore/host"
	"fsward/hostd/vm"
)

// A guest returns to a checkpoint: the file that a command makes later is gone then. The example
// boots a guest, so that it is not run.
func ExampleStart() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "fsward-guest-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	libvirt, err := vm.Connect(ctx, filepath.Join(dir, "run"), zap.NewNop())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer libvirt.Close()
	files := guest.Files{ // make guest makes them
		Kernel: "build/guest/vmlinuz", Initramfs: "build/guest/explorer.cpio.zst",
	}
	g, err := guest.Start(ctx, host.Hypervisor{Host: libvirt},
		guest.Config{Name: "example", Files: files, Dir: dir}, zap.NewNop())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Close()
	if err := restore(ctx, g); err != nil {
		fmt.Println(err)
	}
}

// restore makes a checkpoint and a file, restores the checkpoint, and looks for the file.
func restore(ctx context.Context, g *guest.Guest) error {
	checkpoint, err := g.Save(ctx)
	if err != nil {
		return err
	}
	touch := agent.Command{Args: []string{"touch", "/file"}, Timeout: time.Minute}
	if _, err := g.Run(ctx, touch); err != nil {
		return err
	}
	if err := g.Restore(ctx, checkpoint); err != nil {
		return err
	}
	done, err := g.Do(ctx, agent.Batch{Ops: []agent.Op{agent.Stat("/file")}, Timeout: time.Minute})
	if err != nil {
		return err
	}
	fmt.Println(done.Results[0].Err()) // no such file or directory
	return nil
}

// A disk of a guest stands on an image that it does not change. The image here has 8 KiB.
func ExampleNewDisk() {
	image := bytes.NewReader(bytes.Repeat([]byte("x"), 8192))
	disk, err := guest.NewDisk(base{image})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer disk.Close()
	if _, err := disk.WriteAt([]byte("fsward"), 4096); err != nil {
		fmt.Println(err)
		return
	}
	onDisk, onImage := make([]byte, 8), make([]byte, 8)
	_, err = disk.ReadAt(onDisk, 4096)
	_, imageErr := image.ReadAt(onImage, 4096)
	if err := errors.Join(err, imageErr); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("disk %s, image %s\n", onDisk, onImage)
	// Output: disk fswardxx, image xxxxxxxx
}

// base makes a reader the base of a disk.
type base struct{ *bytes.Reader }

// Size returns the size in bytes.
func (b base) Size() uint64 { return uint64(b.Reader.Size()) }
