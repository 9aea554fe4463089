package modeltest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// ThisMachine returns a client of an agent in the process of the test: the kernel of the machine
// that runs the test performs its operations.
func ThisMachine(t testing.TB) *agent.Client {
	t.Helper()
	here, there := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- agent.NewServer(there).Serve() }()
	c := agent.NewClient(here)
	t.Cleanup(func() {
		c.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return c
}

// Mounted mounts an empty file system on this machine, and returns its folder: tmpfs, or another
// one in an image file of 320 MiB through a loop device. It needs root.
func Mounted(t testing.TB, fs string) string {
	t.Helper()
	return mounted(t, fs, 320<<20)
}

// MountedSmall is Mounted, but an ext2, ext3 or ext4 has 16 MiB and 512 inodes, so that a test can
// use them up.
func MountedSmall(t testing.TB, fs string) string {
	t.Helper()
	if strings.HasPrefix(fs, "ext") {
		return mounted(t, fs, 16<<20, "-N", "512")
	}
	return Mounted(t, fs)
}

// mounted mounts an empty file system of some bytes, made with options of its mkfs.
func mounted(t testing.TB, fs string, bytes int64, options ...string) string {
	t.Helper()
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, out)
		}
	}
	if fs == "tmpfs" {
		run("mount", "-t", "tmpfs", "none", dir)
	} else {
		image := filepath.Join(t.TempDir(), "image")
		if err := os.WriteFile(image, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(image, bytes); err != nil {
			t.Fatal(err)
		}
		run(slices.Concat([]string{"mkfs." + fs, "-q"}, options, []string{image})...)
		run("mount", "-o", "loop", "-t", fs, image, dir)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}
