package linux

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"fsward/explore/agent"
	"fsward/explore/uml"
	"fsward/repair/sandbox"
)

// word is the argument by which this executable knows that it is the first process of a kernel.
const word = "fsward-linux"

// mountPoint is where the guest mounts images.
const mountPoint = "/mnt/image"

// terminal is the console that the host is connected with.
const terminal = "/dev/tty1"

// Inside reports whether this process is the first one of a kernel, and has to call Main.
func Inside() bool { return os.Getpid() == 1 && slices.Contains(os.Args[1:], word) }

// Main serves the requests of the host, and ends the kernel after the last one.
func Main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "fsward:", err)
	}
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

// ServeIfInside does what this process was started for, and does not return, if it is the first
// process of a sandbox or of a kernel in one. A program that uses sandboxes, and TestMain of a test
// that does, begins with it, since both start their own executable again.
func ServeIfInside() {
	switch {
	case sandbox.Inside():
		sandbox.Main()
	case Inside():
		Main()
	default:
		return
	}
	os.Exit(0)
}

func serve() error {
	// This hides the sandbox's folder, so that nobody in the guest can reach it.
	if err := unix.Mount("none", "/mnt", "tmpfs", 0, "size=1m"); err != nil {
		return err
	}
	if err := os.Mkdir(mountPoint, 0o700); err != nil {
		return err
	}
	// A module that is missing shows when its file system is mounted.
	for _, name := range modules {
		if err := load(name); err != nil {
			fmt.Fprintf(os.Stderr, "fsward: module %s: %v\n", name, err)
		}
	}
	t, err := os.OpenFile(terminal, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	defer t.Close()
	if _, err := term.MakeRaw(int(t.Fd())); err != nil {
		return fmt.Errorf("%s: %w", terminal, err)
	}
	return agent.NewServer(t).Serve()
}

// modules are those of file systems that are not part of the kernel.
var modules = []string{"fs/minix/minix.ko", "fs/nls/nls_cp437.ko", "fs/nls/nls_iso8859-1.ko",
	"fs/nls/nls_ascii.ko", "fs/fat/vfat.ko", "crypto/crc32_generic.ko", "fs/f2fs/f2fs.ko",
	"fs/gfs2/gfs2.ko", "fs/ocfs2/ocfs2.ko"}

// load loads a module after those that it needs.
func load(name string) error {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return err
	}
	dir := filepath.Join(uml.Modules, unix.ByteSliceToString(u.Release[:]))
	list, err := needed(filepath.Join(dir, "modules.dep"), "kernel/"+name)
	if err != nil {
		return err
	}
	for _, m := range list {
		f, err := os.Open(filepath.Join(dir, m))
		if err != nil {
			return err
		}
		err = unix.FinitModule(int(f.Fd()), "", 0)
		_ = f.Close()
		if err != nil && !errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("%s: %w", m, err)
		}
	}
	return nil
}

// needed returns the paths of a module and of those that it needs, in the order in which they are
// loaded, as modules.dep has them.
func needed(path, module string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, rest, _ := strings.Cut(lines.Text(), ":")
		if name == module {
			list := append([]string{name}, strings.Fields(rest)...)
			slices.Reverse(list)
			return list, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", module, fs.ErrNotExist)
}
