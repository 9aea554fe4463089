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

// kernelLog is what the kernel has said.
func kernelLog() (string, error) {
	const readAll = 3 // SYSLOG_ACTION_READ_ALL
	b := make([]byte, 1<<20)
	n, err := unix.Klogctl(readAll, b)
	return string(b[:max(n, 0)]), err
}

// injectKernel: ext3 on a disk whose writes fail aborts its journal, and the kernel says on which disk.
func injectKernel(d *ramdisk.Disk) error {
	if err := guestcheck.Mkfs("ext3", d.Path()); err != nil {
		return err
	}
	err := guestcheck.Mounted("ext3", d.Path(), "", func(dir string) error {
		if err := d.Inject(ramdisk.Rule{Action: ramdisk.Fail, Ops: []ramdisk.Op{ramdisk.Write}, Error: uint32(unix.EIO), Nth: 1,
			Times: math.MaxUint64}); err != nil {
			return err
		}
		f, err := os.Create(filepath.Join(dir, "file"))
		if err != nil {
			return err
		}
		defer f.Close()
		if err := f.Sync(); err == nil {
			return errors.New("fsync of a new file succeeds though nothing can be written")
		}
		if _, err := os.Create(filepath.Join(dir, "second")); !errors.Is(err, unix.EROFS) {
			return errors.Join(errors.New("a file is made in a file system with an aborted journal, or fails otherwise"), err)
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
	for _, want := range []string{"Buffer I/O error on dev fswrd0", "Aborting journal on device fswrd0"} {
		if !strings.Contains(text, want) {
			return fmt.Errorf("the kernel does not say %q", want)
		}
	}
	return nil
}
