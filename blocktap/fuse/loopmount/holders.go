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

// detached waits until a loop device has let its file go. Detaching only asks for that when somebody else has the device
// open (loop_clr_fd sets LO_FLAGS_AUTOCLEAR): programs that look for a file system on every disk of the machine do, such as
// mkfs.btrfs, btrfs check and blkid, of whoever else runs them. A process in a mount namespace that was made meanwhile keeps
// the file system on it mounted, although umount has done its work here.
func detached(loopDev string, timeout time.Duration) error {
	file := filepath.Join("/sys/block", filepath.Base(loopDev), "loop/backing_file")
	for deadline := time.Now().Add(timeout); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s is still in use after %v, by %s", loopDev, timeout, strings.Join(holders(loopDev), ", "))
		}
	}
}

// holders names the processes that have a device open or mounted.
func holders(device string) (found []string) {
	processes, _ := filepath.Glob("/proc/[0-9]*") // only a bad pattern is an error
	for _, process := range processes {
		how := ""
		open, _ := filepath.Glob(process + "/fd/*")
		for _, fd := range open {
			if target, err := os.Readlink(fd); err == nil && target == device {
				how = "open"
			}
		}
		// A process may have ended since, and then there is nothing to read.
		if mounts, err := os.ReadFile(process + "/mounts"); err == nil && strings.Contains("\n"+string(mounts), "\n"+device+" ") {
			how = "mounted"
		}
		if name, err := os.ReadFile(process + "/comm"); err == nil && how != "" {
			found = append(found, fmt.Sprintf("%s (%s), which has it %s", strings.TrimSpace(string(name)), filepath.Base(process), how))
		}
	}
	if found == nil {
		return []string{"no process that can be seen"}
	}
	return found
}
