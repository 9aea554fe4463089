package testimage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	extBytes  = 4 << 20
	fileBytes = 278 << 10 // of /f: SWIFT's file of 278 blocks
	names     = 100       // of /d: f1 to f100
)

// ext returns a builder of ext2, ext3 and ext4 with blocks of 1 KiB. debugfs makes the files, so
// that it needs no mount and no root. With sparse it makes another file, /sparse, too.
func ext(sparse bool, options ...string) builder {
	return func(ctx context.Context, image string) error {
		if err := create(image, extBytes); err != nil {
			return err
		}
		argv := append([]string{"mke2fs", "-q", "-F", "-b", "1024", "-N", "256",
			"-U", uuid,
			"-E", "hash_seed=66666666-7777-8888-9999-aaaaaaaaaaaa"}, options...)
		if err := run(ctx, "", append(argv, image)...); err != nil {
			return err
		}
		data := filepath.Join(filepath.Dir(image), "f")
		if err := os.WriteFile(data, content(), 0o600); err != nil {
			return err
		}
		commands := extScript(data)
		if sparse {
			source := filepath.Join(filepath.Dir(image), "sparse")
			if err := writeSparse(source); err != nil {
				return err
			}
			commands += "write " + source + " sparse\n"
		}
		script := filepath.Join(filepath.Dir(image), "script")
		if err := os.WriteFile(script, []byte(commands), 0o600); err != nil {
			return err
		}
		if err := run(ctx, "", "debugfs", "-w", "-f", script, image); err != nil {
			return err
		}
		// debugfs says nothing about commands that failed, but e2fsck does, and nothing may be wrong.
		return run(ctx, "", "e2fsck", "-fn", image)
	}
}

// extScript returns the commands of debugfs that make the tree.
func extScript(data string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "mknod bdev b 1 1\nmkdir d\nmknod cdev c 1 3\nmknod fdev p\nwrite %s f\n", data)
	b.WriteString("sif f mode 0100644\nsif f links_count 2\nln f d/hlink\nsymlink d/slink /\n" +
		"symlink d/long " + longTarget + "\nmkdir d/d2\n")
	for i := 1; i <= names; i++ {
		fmt.Fprintf(&b, "write /dev/null d/f%d\n", i)
	}
	return b.String()
}

// writeSparse writes a file with holes between six blocks of 4 KiB: more extents than an inode of
// ext4 holds, so that they are in a block of their own.
func writeSparse(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	for at := int64(0); err == nil && at < 6; at++ {
		_, err = f.WriteAt(content()[:4096], at*8192)
	}
	return errors.Join(err, f.Close())
}

// longTarget is a symbolic link's that does not fit into an inode.
var longTarget = "/" + strings.Repeat("long/", 20)

// content returns the contents of /f, in which every block is different from every other.
func content() []byte {
	b := make([]byte, 0, fileBytes)
	for i := 0; len(b) < fileBytes; i++ {
		b = fmt.Appendf(b, "%015d\n", i)
	}
	return b
}
