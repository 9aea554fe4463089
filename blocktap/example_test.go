package blocktap_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"fsward/blocktap"
)

// keepFirst is a hook that refuses every change of the first sector.
type keepFirst struct{}

func (keepFirst) Handle(_ context.Context, r *blocktap.Request, do func() error) error {
	if r.Off < blocktap.SectorSize {
		return blocktap.ErrRefused
	}
	return do()
}

// A hook decides about each write before the disk changes. This hook protects the first sector. The
// device itself refuses an invalid request and does not ask the hook.
func ExampleDevice() {
	dir, err := os.MkdirTemp("", "blocktap")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	image := filepath.Join(dir, "disk.img")
	if err := os.WriteFile(image, make([]byte, 1<<20), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	disk, err := blocktap.OpenFile(image, blocktap.FileOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer disk.Close()

	dev := blocktap.NewDevice(disk, keepFirst{})
	for _, off := range []uint64{0, 4096, 4097} {
		r := blocktap.Request{Op: blocktap.OpWrite, Off: off, Len: blocktap.SectorSize,
			Data: bytes.Repeat([]byte{0xaa}, blocktap.SectorSize)}
		err := dev.Do(context.Background(), &r)
		fmt.Println(off, err)
	}
	// Output:
	// 0 refused: the write would violate an invariant
	// 4096 <nil>
	// 4097 write of 512 bytes at 4097: not a multiple of 512 bytes
}
