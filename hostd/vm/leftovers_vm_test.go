//go:build vmtest

package vm

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"
)

// TestGuestLeftoversOfAKilledRun checks that the next process with the same run directory ends what
// a killed one left.
func TestGuestLeftoversOfAKilledRun(t *testing.T) {
	if os.Getenv(leftoverEnv) != "" {
		leftoverRun(t, false)
		return
	}
	t.Run("fsward", func(t *testing.T) { leftoverRun(t, false) })
	t.Run("fsward-and-libvirtd", func(t *testing.T) { leftoverRun(t, true) })
}

// leftoverEnv tells the process that will be killed its folder.
const leftoverEnv = "FSWARD_VM_TEST_RUN"

func leftoverRun(t *testing.T, killDaemon bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	kernel, initramfs := guestFiles(t)
	cfg := func(dir string) Config {
		return Config{Name: "fsward-left", Kernel: kernel, Initramfs: initramfs,
			Cmdline: "fsward.btrfs=none fsward.ext3=none",
			Console: filepath.Join(dir, "console"), Channel: true}
	}
	if dir := os.Getenv(leftoverEnv); dir != "" {
		startAndHang(ctx, t, filepath.Join(dir, "run"), cfg(dir))
		return
	}
	dir := shortDir(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestGuestLeftoversOfAKilledRun$", "-test.v")
	cmd.Env = append(os.Environ(), leftoverEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := bufio.NewScanner(out)
	for s.Scan() && s.Text() != "started" {
		t.Log("child: " + s.Text())
	}
	if _, err := Connect(ctx, filepath.Join(dir, "run"), zap.NewNop()); err == nil ||
		!strings.Contains(err.Error(), "in use by another") {
		t.Errorf("a run directory that is in use: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if killDaemon { // before it can end the guest
		killLibvirtd(t, filepath.Join(dir, "run"))
	}
	_ = cmd.Wait()

	h := connect(ctx, t, filepath.Join(dir, "run"))
	d, err := h.Start(ctx, cfg(dir))
	if err != nil {
		t.Fatal(err)
	}
	readyAndStop(ctx, t, d)
	noQEMUIsLeft(t, dir)
}

// startAndHang is the process that will be killed: it starts a guest and waits.
func startAndHang(ctx context.Context, t *testing.T, runDir string, cfg Config) {
	t.Helper()
	h, err := Connect(ctx, runDir, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Start(ctx, cfg); err != nil {
		t.Fatal(err)
	}
	fmt.Println("started")
	<-ctx.Done()
}

// killLibvirtd kills the private libvirtd of a run directory.
func killLibvirtd(t *testing.T, runDir string) {
	t.Helper()
	var pid int
	text, err := os.ReadFile(pidFile(runDir))
	if err == nil {
		_, err = fmt.Sscan(string(text), &pid)
	}
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// readyAndStop waits until the workload of a guest is ready, and powers the guest off.
func readyAndStop(ctx context.Context, t *testing.T, d *Domain) {
	t.Helper()
	w := NewWorkload(d.Channel())
	if err := w.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
	if end, err := d.Wait(ctx); err != nil || !end.Clean() {
		t.Errorf("the guest ended with %v, %v", end, err)
	}
}

// noQEMUIsLeft checks that no QEMU of a folder runs.
func noQEMUIsLeft(t *testing.T, dir string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if b, _ := os.ReadFile(f); strings.HasPrefix(filepath.Base(string(b)), "qemu") &&
			strings.Contains(string(b), dir) {
			t.Errorf("%s is left", f)
		}
	}
}
