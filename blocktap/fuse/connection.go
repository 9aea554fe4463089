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

// connectionsDir is the mount point of fusectl. It contains one directory for each connection.
const connectionsDir = "/sys/fs/fuse/connections"

// fusectlMagic is FUSE_CTL_SUPER_MAGIC (fs/fuse/control.c).
const fusectlMagic = 0x65735543

// connection returns the number of the FUSE connection that is mounted on a directory. It is the
// minor number of the mount's device (fuse_ctl_add_conn). connection reads it from mountinfo,
// because stat would wait for an answer of the file system.
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
			_, number, _ = strings.Cut(words[2], ":") // the last mount is the topmost
		}
	}
	n, err := strconv.ParseUint(number, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%s is not in /proc/self/mountinfo", dir)
	}
	return uint32(n), nil
}

// unescape replaces the escape sequences of white space and backslashes in mountinfo (mangle).
func unescape(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}

// abort ends a connection through fusectl. It mounts fusectl if necessary.
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
		return nil // the connection has ended already
	}
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	if err := unix.Mount("fusectl", connectionsDir, "fusectl", flags, ""); err != nil {
		return fmt.Errorf("mounting fusectl on %s: %w", connectionsDir, err)
	}
	err = os.WriteFile(path, []byte("1"), 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
