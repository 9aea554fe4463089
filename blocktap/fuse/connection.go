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

// A mount is an entry of mountinfo.
type mount struct {
	kind   string // type of the file system: "fuse.fsward", "ext4"
	source string
	conn   uint32 // number of the FUSE connection, if it has one
}

// mountAt returns the topmost mount on a directory; nil if there is none. It reads mountinfo,
// because stat would wait for an answer of the file system.
func mountAt(dir string) (*mount, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var found *mount
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20) // the options of an overlay can be long
	for lines.Scan() {
		// "36 35 0:45 / /mnt rw,nosuid shared:1 - fuse.fsward fsward rw": proc_pid_mountinfo(5)
		before, after, _ := strings.Cut(lines.Text(), " - ")
		words, more := strings.Fields(before), strings.Fields(after)
		if len(words) < 5 || len(more) < 2 || unescape(words[4]) != dir {
			continue
		}
		// The number of a connection is the minor number of the mount's device (fuse_ctl_add_conn).
		_, minor, _ := strings.Cut(words[2], ":")
		conn, err := strconv.ParseUint(minor, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("/proc/self/mountinfo: %q: %w", lines.Text(), err)
		}
		// The last mount is the topmost.
		found = &mount{kind: more[0], source: unescape(more[1]), conn: uint32(conn)}
	}
	return found, lines.Err()
}

// connection returns the number of the FUSE connection that is mounted on a directory.
func connection(dir string) (uint32, error) {
	m, err := mountAt(dir)
	if err != nil {
		return 0, err
	}
	if m == nil {
		return 0, fmt.Errorf("%s is not in /proc/self/mountinfo", dir)
	}
	return m.conn, nil
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
