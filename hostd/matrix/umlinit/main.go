// Command umlinit is the first process of a user-mode Linux that the corruption matrix boots: it mounts
// one altered image after the other, lists all its names, and writes down how that went.
//
//	umlinit DIR FIRST
//
// DIR, on the host, has the cells one after the other in the file "cells" (see Cell), from which FIRST are
// passed over; empty directories "dev" and "mnt"; and takes one line for each cell in "results".
// The image is on /dev/ubda, which is as it was when a cell is done.
package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Println("umlinit:", err)
	}
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

func run(dir, first string) error {
	skip, err := strconv.Atoi(first)
	if err != nil {
		return err
	}
	dev, mnt := filepath.Join(dir, "dev"), filepath.Join(dir, "mnt")
	if err := unix.Mount("devtmpfs", dev, "devtmpfs", 0, ""); err != nil {
		return fmt.Errorf("devtmpfs: %w", err)
	}
	image := filepath.Join(dev, "ubda")
	cells, err := os.Open(filepath.Join(dir, "cells"))
	if err != nil {
		return err
	}
	results, err := os.OpenFile(filepath.Join(dir, "results"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		patches, err := readCell(cells)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if i < skip {
			continue
		}
		old, err := exchange(image, patches)
		if err != nil {
			return err
		}
		kernelLog()
		verdict, message := mountAndList(image, mnt)
		if log := complaint(kernelLog()); log != "" {
			message = log
			if verdict == "ok" {
				verdict = "errors"
			}
		}
		if _, err := exchange(image, old); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(results, "%d\t%s\t%s\n", i, verdict, strings.ToValidUTF8(message, "?")); err != nil {
			return err
		}
	}
}

type patch struct {
	off  int64
	data []byte
}

// readCell reads the patches of one cell: their number, and offset, length and data of each.
func readCell(r io.Reader) ([]patch, error) {
	var count uint32
	if err := binary.Read(r, binary.LittleEndian, &count); err != nil {
		return nil, err
	}
	patches := make([]patch, count)
	for i := range patches {
		var head struct {
			Off  int64
			Size uint32
		}
		if err := binary.Read(r, binary.LittleEndian, &head); err != nil {
			return nil, err
		}
		patches[i] = patch{head.Off, make([]byte, head.Size)}
		if _, err := io.ReadFull(r, patches[i].data); err != nil {
			return nil, err
		}
	}
	return patches, nil
}

// exchange writes patches and returns what was there. Closing the device empties its page cache, which
// mount reads the superblock through.
func exchange(image string, patches []patch) (old []patch, err error) {
	f, err := os.OpenFile(image, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for _, p := range patches {
		was := patch{p.off, make([]byte, len(p.data))}
		if _, err := f.ReadAt(was.data, p.off); err != nil {
			return nil, err
		}
		old = append(old, was)
		if _, err := f.WriteAt(p.data, p.off); err != nil {
			return nil, err
		}
	}
	return old, f.Sync()
}

// mountAndList mounts the image read-only and looks at every name in it.
func mountAndList(image, mnt string) (verdict, message string) {
	if err := unix.Mount(image, mnt, "btrfs", unix.MS_RDONLY|unix.MS_NOATIME, ""); err != nil {
		return "refuses", err.Error()
	}
	var first error
	_ = filepath.WalkDir(mnt, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			_, err = os.Lstat(path)
		}
		if err != nil && first == nil {
			first = fmt.Errorf("%s", strings.TrimPrefix(err.Error(), mnt))
		}
		return nil
	})
	if err := unix.Unmount(mnt, 0); err != nil && first == nil {
		first = err
	}
	if first != nil {
		return "errors", first.Error()
	}
	return "ok", ""
}

// kernelLog returns what the kernel has said since it was last asked.
func kernelLog() string {
	buf := make([]byte, 1<<18)
	n, err := unix.Klogctl(unix.SYSLOG_ACTION_READ_CLEAR, buf)
	if err != nil {
		return ""
	}
	return string(buf[:n])
}

var complaints = regexp.MustCompile(`(?m)(BTRFS (?:critical|error|warning).*|WARNING: .*|BUG: .*|kernel BUG .*)$`)

func complaint(log string) string { return complaints.FindString(log) }
