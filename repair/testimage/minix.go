package testimage

import (
	"context"
	"errors"
	"fmt"
	"os"

	"fsward/repair/minix"
)

const minixBytes = 1 << 20

// minixImage returns a builder of a version of Minix.
func minixImage(version string) builder {
	return func(ctx context.Context, image string) (err error) {
		if err := create(image, minixBytes); err != nil {
			return err
		}
		if err := run(ctx, "", "mkfs.minix", "-"+version, image); err != nil {
			return err
		}
		f, err := os.OpenFile(image, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		w, err := minix.NewWriter(f)
		if err != nil {
			return err
		}
		return fillMinix(w)
	}
}

// fillMinix makes the tree of the package comment.
func fillMinix(w *minix.Writer) error {
	var failed error
	add := func(dir uint64, name string, file minix.File) uint64 {
		n, err := w.Add(dir, name, file)
		failed = errors.Join(failed, err)
		return n
	}
	add(minix.Root, "bdev", minix.File{Mode: minix.BlockDev | 0o600, Device: 0x101})
	d := add(minix.Root, "d", minix.File{Mode: minix.Directory | 0o755})
	add(minix.Root, "cdev", minix.File{Mode: minix.CharDev | 0o600, Device: 0x103})
	add(minix.Root, "fdev", minix.File{Mode: minix.FIFO | 0o644})
	f := add(minix.Root, "f", minix.File{Mode: minix.Regular | 0o644, Data: content()})
	add(d, "slink", minix.File{Mode: minix.Symlink | 0o777, Data: []byte("/")})
	failed = errors.Join(failed, w.Link(d, "hlink", f, true))
	add(d, "d2", minix.File{Mode: minix.Directory | 0o755})
	for i := 1; i <= names; i++ {
		add(d, fmt.Sprintf("f%d", i), minix.File{Mode: minix.Regular | 0o644})
	}
	return failed
}
