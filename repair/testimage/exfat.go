package testimage

import (
	"context"
	"errors"
	"fmt"
	"os"

	"fsward/repair/exfat"
)

// exfatImage builds exFAT, which has regular files and directories only.
func exfatImage(ctx context.Context, image string) (err error) {
	if err := empty(4<<20, "mkfs.exfat", "-b", "4K", "IMAGE")(ctx, image); err != nil {
		return err
	}
	f, err := os.OpenFile(image, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	d := exfat.Node{Name: "d", Files: []exfat.Node{{Name: "d2", Files: []exfat.Node{}}}}
	for i := 1; i <= names; i++ {
		d.Files = append(d.Files, exfat.Node{Name: fmt.Sprintf("f%d", i)})
	}
	if err := exfat.Fill(f, []exfat.Node{{Name: "f", Data: content()}, d}); err != nil {
		return err
	}
	return run(ctx, "", "fsck.exfat", "-n", image)
}
