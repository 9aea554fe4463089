package fuse

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// connectionsDir is where the fusectl file system shows one folder for each connection.
const connectionsDir = "/sys/fs/fuse/connections"

// fusectlMagic is FUSE_CTL_SUPER_MAGIC of the kernel's fs/fuse/control.c.
const fusectlMagic = 0x65735543

// connection returns the number of the FUSE connection that is mounted on a directory: the minor number
// of its device (fuse_ctl_add_conn). It is read from mountinfo, which needs no answer of the file
// system, as stat would.
func connection(dir string) (uint32, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	number := ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		// "36 35 0:45 / /mnt rw,nosuid - fuse.fsward fsward rw": proc_pid_mountinfo(5)
		words := strings.Fields(lines.Text())
		if len(words) > 4 && unescape(words[4]) == dir {
			_, number, _ = strings.Cut(words[2], ":") // the last one lies on top
		}
	}
	n, err := strconv.ParseUint(number, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%s is not in /proc/self/mountinfo", dir)
	}
	return uint32(n), nil
}

// unescape undoes how mountinfo writes blanks and backslashes (mangle).
func unescape(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}

// abort ends a connection through fusectl, which is mounted if it is not yet.
func abort(conn uint32) error {
	path := filepath.Join(connectionsDir, strconv.FormatUint(uint64(conn), 10), "abort")
	err := os.WriteFile(path, []byte("1"), 0)
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var st unix.Statfs_t
	if err := unix.Statfs(connectionsDir, &st); err != nil {
		return err
	}
	if uint32(st.Type) == fusectlMagic {
		return nil // the connection is gone already
	}
	if err := unix.Mount("fusectl", connectionsDir, "fusectl", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mounting fusectl on %s: %w", connectionsDir, err)
	}
	err = os.WriteFile(path, []byte("1"), 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
