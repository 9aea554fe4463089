package testimage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/repair/linux"
)

// mounted returns a builder of an image that one program makes, and that Linux fills: nothing else
// writes these file systems.
func mounted(fs string, size int64, argv ...string) builder {
	return func(ctx context.Context, image string) (err error) {
		if err := empty(size, argv...)(ctx, image); err != nil {
			return err
		}
		m, err := linux.Start(ctx, uint64(size))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, m.Close()) }()
		made, err := Open(image)
		if err != nil {
			return err
		}
		defer made.Close()
		if err := m.Put(made); err != nil {
			return err
		}
		for _, ops := range treeOps() {
			if err := m.Fill(ctx, fs, ops); err != nil {
				return err
			}
		}
		filled, err := Open(m.Path())
		if err != nil {
			return err
		}
		defer filled.Close()
		f, err := os.Create(image)
		if err != nil {
			return err
		}
		return errors.Join(filled.CopyTo(f), f.Close())
	}
}

// treeOps returns the operations that make the tree of the package comment, in parts that
// linux.Fill accepts.
func treeOps() [][]agent.Op {
	at := func(name string) string { return linux.Root + "/" + name }
	device := func(minor uint32) uint64 { return unix.Mkdev(1, minor) }
	parts := [][]agent.Op{{
		agent.Mknod(at("bdev"), unix.S_IFBLK|0o600, device(1)),
		agent.Mkdir(at("d"), 0o755),
		agent.Mknod(at("cdev"), unix.S_IFCHR|0o600, device(3)),
		agent.Mknod(at("fdev"), unix.S_IFIFO|0o644, 0),
		agent.Open(0, at("f"), unix.O_RDWR|unix.O_CREAT, 0o644),
		agent.Fill(0, 0, fileBytes, 1),
		agent.Close(0),
		agent.Link(at("f"), at("d/hlink")),
		agent.Symlink("/", at("d/slink")),
		agent.Symlink(longTarget, at("d/long")),
		agent.Mkdir(at("d/d2"), 0o755),
	}}
	const each = 20 // files of one part
	for i := 1; i <= names; i++ {
		if i%each == 1 {
			parts = append(parts, nil)
		}
		path := at(fmt.Sprintf("d/f%d", i))
		last := &parts[len(parts)-1]
		*last = append(*last, agent.Open(0, path, unix.O_RDWR|unix.O_CREAT, 0o644), agent.Close(0))
	}
	made := time.Unix(1704067200, 0) // 2024-01-01, as in other images
	var times []agent.Op
	for _, name := range []string{"f", "d", ""} {
		times = append(times, agent.Utimes(at(name), made, made))
	}
	return append(parts, times)
}
