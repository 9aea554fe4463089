package main

import (
	"fmt"
	"os"
	"path/filepath"

	"fsward/dev/guestcheck"
	"fsward/explore/ramdisk"
)

// checkMount: a disk holds a file system, and what is written to that is there when it is mounted again.
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
			return fmt.Errorf("%s: %+v", fs, s)
		}
		guestcheck.Fact("mount", "%s of %d MiB holds %d pages after %d bios", fs, s.Bytes>>20, s.Pages, s.Submitted)
		if err := d.Remove(); err != nil {
			return err
		}
	}
	return nil
}

// checkIoctl: what a C program does by ioctl(2) is what is done here by write(2) and read(2).
func checkIoctl(c *ramdisk.Control) error {
	if err := guestcheck.Program("rdioctl"); err != nil {
		return err
	}
	s, err := c.Disk(3).Stat()
	if err != nil {
		return err
	}
	if s.Bytes != 8<<20 || s.Snapshots != 1 || s.Pages != 1 {
		return fmt.Errorf("what rdioctl has left: %+v", s)
	}
	return c.Disk(3).Remove()
}
