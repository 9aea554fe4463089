package main

import (
	"fmt"
	"os"
	"path/filepath"

	"fsward/dev/guestcheck"
	"fsward/explore/ramdisk"
)

// checkMount checks that a file on a disk still has its contents after an unmount and a mount.
func checkMount(c *ramdisk.Control) error {
	for n, fs := range []string{"ext3", "btrfs"} {
		d, err := c.Make(uint32(n), 128<<20)
		if err != nil {
			return err
		}
		if err := guestcheck.Mkfs(fs, d.Path()); err != nil {
			return err
		}
		if err := guestcheck.Mounted(fs, d.Path(), "", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "file"), []byte("text"), 0o600)
		}); err != nil {
			return err
		}
		if err := guestcheck.Mounted(fs, d.Path(), "", func(dir string) error {
			b, err := os.ReadFile(filepath.Join(dir, "file"))
			if err == nil && string(b) != "text" {
				err = fmt.Errorf("%s: a file holds %q", fs, b)
			}
			return err
		}); err != nil {
			return err
		}
		s, err := d.Stat()
		if err != nil {
			return err
		}
		if s.Submitted == 0 || s.Submitted != s.Completed || s.Pages == 0 || s.NoMemory != 0 {
			return fmt.Errorf("%s: unexpected state of the disk: %+v", fs, s)
		}
		guestcheck.Fact("mount", "%s of %d MiB holds %d pages after %d bios",
			fs, s.Bytes>>20, s.Pages, s.Submitted)
		if err := d.Remove(); err != nil {
			return err
		}
	}
	return nil
}

// checkIoctl checks that the ioctl(2) commands of the C program rdioctl have the same effect as the
// write(2) commands of explore/ramdisk.
func checkIoctl(c *ramdisk.Control) error {
	if err := guestcheck.Program("rdioctl"); err != nil {
		return err
	}
	s, err := c.Disk(3).Stat()
	if err != nil {
		return err
	}
	if s.Bytes != 8<<20 || s.Snapshots != 1 || s.Pages != 1 {
		return fmt.Errorf("after rdioctl the disk has the wrong state: %+v", s)
	}
	return c.Disk(3).Remove()
}
