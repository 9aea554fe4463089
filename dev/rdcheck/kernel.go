package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/dev/guestcheck"
	"fsward/explore/ramdisk"
)

// kernelLog returns the kernel's messages.
func kernelLog() (string, error) {
	const readAll = 3 // SYSLOG_ACTION_READ_ALL
	b := make([]byte, 1<<20)
	n, err := unix.Klogctl(readAll, b)
	return string(b[:max(n, 0)]), err
}

// injectKernel checks that ext3 aborts its journal if all writes fail, and that the kernel's
// messages name the disk.
func injectKernel(d *ramdisk.Disk) error {
	if err := guestcheck.Mkfs("ext3", d.Path()); err != nil {
		return err
	}
	err := guestcheck.Mounted("ext3", d.Path(), "", func(dir string) error {
		if err := d.Inject(failNth(ramdisk.Write, 1, math.MaxUint64, unix.EIO)); err != nil {
			return err
		}
		f, err := os.Create(filepath.Join(dir, "file"))
		if err != nil {
			return err
		}
		defer f.Close()
		if err := f.Sync(); err == nil {
			return errors.New("fsync of a new file succeeds although all writes fail")
		}
		if _, err := os.Create(filepath.Join(dir, "second")); !errors.Is(err, unix.EROFS) {
			return errors.Join(errors.New("after the abort, to make a file does not fail with EROFS"), err)
		}
		return d.ClearRules()
	})
	if err != nil {
		return err
	}
	text, err := kernelLog()
	if err != nil {
		return err
	}
	for _, want := range []string{
		"Buffer I/O error on dev fswrd0",
		"Aborting journal on device fswrd0",
	} {
		if !strings.Contains(text, want) {
			return fmt.Errorf("no message of the kernel has %q", want)
		}
	}
	return nil
}
