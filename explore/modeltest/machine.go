package modeltest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
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
		if err := os.Truncate(image, 320<<20); err != nil {
			t.Fatal(err)
		}
		run("mkfs."+fs, "-q", image)
		run("mount", "-o", "loop", "-t", fs, image, dir)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}
