package loopmount

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// detached waits until a loop device has released its file. If another process has the device open,
// losetup --detach only requests that (loop_clr_fd sets LO_FLAGS_AUTOCLEAR). Programs that look for
// file systems on all disks of the machine open it for a short time: mkfs.btrfs, btrfs check and
// blkid. A mount namespace that was created while the file system was mounted keeps it mounted
// after umount.
func detached(loopDev string, timeout time.Duration) error {
	file := filepath.Join("/sys/block", filepath.Base(loopDev), "loop/backing_file")
	for deadline := time.Now().Add(timeout); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s is still in use after %v, by %s",
				loopDev, timeout, strings.Join(holders(loopDev), ", "))
		}
	}
}

// holders describes the processes that have a device open or mounted.
func holders(device string) (found []string) {
	processes, _ := filepath.Glob("/proc/[0-9]*") // the only error is an invalid pattern
	for _, process := range processes {
		how := ""
		open, _ := filepath.Glob(process + "/fd/*")
		for _, fd := range open {
			if target, err := os.Readlink(fd); err == nil && target == device {
				how = "open"
			}
		}
		// Reading fails if the process has ended meanwhile.
		mounts, err := os.ReadFile(process + "/mounts")
		if err == nil && strings.Contains("\n"+string(mounts), "\n"+device+" ") {
			how = "mounted"
		}
		if name, err := os.ReadFile(process + "/comm"); err == nil && how != "" {
			found = append(found, fmt.Sprintf("%s (%s), which has it %s",
				strings.TrimSpace(string(name)), filepath.Base(process), how))
		}
	}
	if found == nil {
		return []string{"no process visible in /proc"}
	}
	return found
}
