package testimage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// uuid is that of every image. mkfs.btrfs refuses a UUID that libblkid has seen on another device
// or image, so no other test may use it.
const uuid = "7e57ed00-d15c-4000-8000-0000000f5c50"

// empty returns a builder of an image that one program makes, without files: nothing else writes
// this file system without mounting it. IMAGE in the arguments stands for the path.
func empty(size int64, argv ...string) builder {
	return func(ctx context.Context, image string) error {
		if err := create(image, size); err != nil {
			return err
		}
		return run(ctx, "y\n", replaced(argv, "IMAGE", image)...)
	}
}

func replaced(argv []string, name, value string) (out []string) {
	for _, a := range argv {
		out = append(out, strings.ReplaceAll(a, name, value))
	}
	return out
}

// filled returns a builder of an image that programs fill with the files of a folder, TREE.
func filled(size int64, special bool, commands ...[]string) builder {
	return func(ctx context.Context, image string) error {
		tree := filepath.Join(filepath.Dir(image), "tree")
		if err := hostTree(tree, special); err != nil {
			return err
		}
		if err := create(image, size); err != nil {
			return err
		}
		for _, argv := range commands {
			if err := run(ctx, "", replaced(replaced(argv, "IMAGE", image), "TREE", tree)...); err != nil {
				return err
			}
		}
		return nil
	}
}

// hostTree makes the tree of the package comment in a folder. special files are links, FIFOs, and,
// for root, devices.
func hostTree(dir string, special bool) error {
	err := os.MkdirAll(filepath.Join(dir, "d", "d2"), 0o755)
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, "f"), content(), 0o644))
	for i := 1; i <= names; i++ {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, "d", fmt.Sprintf("f%d", i)), nil, 0o644))
	}
	if !special {
		return err
	}
	err = errors.Join(err, os.Symlink("/", filepath.Join(dir, "d", "slink")),
		os.Link(filepath.Join(dir, "f"), filepath.Join(dir, "d", "hlink")),
		unix.Mkfifo(filepath.Join(dir, "fdev"), 0o644))
	for name, mode := range map[string]uint32{"bdev": unix.S_IFBLK | 0o600,
		"cdev": unix.S_IFCHR | 0o600} {
		made := unix.Mknod(filepath.Join(dir, name), mode, int(unix.Mkdev(1, 3)))
		if !errors.Is(made, fs.ErrPermission) {
			err = errors.Join(err, made)
		}
	}
	return err
}

// xfsImage builds XFS by a prototype, which makes all files. mkfs.xfs refuses small images, except
// for the tests of XFS, which set these variables.
func xfsImage(ctx context.Context, image string) error {
	dir := filepath.Dir(image)
	if err := os.WriteFile(filepath.Join(dir, "f"), content(), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "empty"), nil, 0o644); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "none\n0 0\nd--755 0 0\nbdev b--600 0 0 1 1\ncdev c--600 0 0 1 3\n"+
		"fdev p--644 0 0\nf ---644 0 0 %s/f\nd d--755 0 0\nslink l--777 0 0 /\nd2 d--755 0 0\n$\n", dir)
	for i := 1; i <= names; i++ {
		fmt.Fprintf(&b, "f%d ---644 0 0 %s/empty\n", i, dir)
	}
	b.WriteString("$\n$\n")
	proto := filepath.Join(dir, "proto")
	if err := os.WriteFile(proto, []byte(b.String()), 0o600); err != nil {
		return err
	}
	if err := create(image, 32<<20); err != nil {
		return err
	}
	return run(ctx, "", "env", "TEST_DIR=.", "TEST_DEV=.", "QA_CHECK_FS=.", "mkfs.xfs", "-q", "-f",
		"-m", "uuid="+uuid, "-d", "agcount=2", "-p", proto, image)
}
