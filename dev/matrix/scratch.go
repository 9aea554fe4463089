package matrix

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"fsward/interp"
)

// disks are the disks for a checker.
type disks struct {
	paths []string // image files, or block devices if there are several
	// library for LD_PRELOAD, with which btrfs check finds these disks and no others
	blkidShim string
}

// A scratch is a copy of the disks of a stage that carries the corruption of one cell at a time.
// Several disks are loop devices, since btrfs check looks for the disks of a file system among
// block devices. A scratch writes through the loop devices, so that their page caches are current.
type scratch struct {
	disks
	files  []*os.File
	images []string
}

//go:embed shim/blkid.c
var blkidSource []byte

// newScratch copies images to files in dir. The caller closes the scratch.
func newScratch(ctx context.Context, dir string, images []string) (*scratch, error) {
	s := &scratch{}
	for _, image := range images {
		if err := s.add(ctx, dir, image, len(images) > 1); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	if len(images) == 1 {
		return s, nil
	}
	s.blkidShim = s.images[0] + ".so"
	cc := exec.CommandContext(ctx, "gcc", "-O2", "-shared", "-fPIC", "-x", "c",
		"-o", s.blkidShim, "-")
	cc.Stdin = bytes.NewReader(blkidSource)
	if out, err := cc.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("shim/blkid.c: %w\n%s", err, out), s.close())
	}
	return s, nil
}

func (s *scratch) add(ctx context.Context, dir, image string, loop bool) error {
	f, err := os.CreateTemp(dir, "scratch-*.img")
	if err != nil {
		return err
	}
	s.images = append(s.images, f.Name())
	if err := f.Close(); err != nil {
		return err
	}
	if err := run(ctx, "cp", "--sparse=always", image, f.Name()); err != nil {
		return err
	}
	path := f.Name()
	if loop {
		out, err := exec.CommandContext(ctx, "losetup", "--find", "--show", path).Output()
		if err != nil {
			return fmt.Errorf("losetup: %w", err)
		}
		path = string(bytes.TrimSpace(out))
	}
	s.paths = append(s.paths, path)
	if f, err = os.OpenFile(path, os.O_RDWR, 0); err == nil {
		s.files = append(s.files, f)
	}
	return err
}

func (s *scratch) close() error {
	var err error
	for _, f := range s.files {
		err = errors.Join(err, f.Close())
	}
	for i, path := range s.paths {
		if path != s.images[i] {
			err = errors.Join(err, run(context.Background(), "losetup", "--detach", path))
		}
	}
	for _, image := range s.images {
		err = errors.Join(err, os.Remove(image))
	}
	if s.blkidShim != "" {
		err = errors.Join(err, os.RemoveAll(s.blkidShim))
	}
	return err
}

// with calls ask while the disks carry a cell's corruption, and then restores their contents.
func (s *scratch) with(c *Cell, ask func(disks) error) (err error) {
	var old []interp.Patch
	defer func() {
		for _, p := range old {
			err = errors.Join(err, s.write(p))
		}
	}()
	for _, p := range c.patches {
		b := make([]byte, len(p.Data))
		disk, off := interp.Locate(p.Off)
		if _, err := s.files[disk].ReadAt(b, int64(off)); err != nil {
			return err
		}
		old = append(old, interp.Patch{Off: p.Off, Data: b})
		if err := s.write(p); err != nil {
			return err
		}
	}
	return ask(s.disks)
}

func (s *scratch) write(p interp.Patch) error {
	disk, off := interp.Locate(p.Off)
	_, err := s.files[disk].WriteAt(p.Data, int64(off))
	return err
}
