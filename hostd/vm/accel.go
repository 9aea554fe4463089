package vm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ioctl numbers and the version of linux/kvm.h.
const (
	kvmGetAPIVersion = 0xAE00
	kvmCreateVM      = 0xAE01
	kvmAPIVersion    = 12
)

// probeKVM returns nil if guests run under KVM here. There are hosts whose /dev/kvm makes virtual
// machines and virtual processors on which QEMU then aborts, so QEMU itself is asked last.
func probeKVM(ctx context.Context, qemu string) error {
	f, err := os.OpenFile("/dev/kvm", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	version, err := unix.IoctlRetInt(int(f.Fd()), kvmGetAPIVersion)
	if err != nil {
		return fmt.Errorf("/dev/kvm: KVM_GET_API_VERSION: %w", err)
	}
	if version != kvmAPIVersion {
		return fmt.Errorf("/dev/kvm has API version %d, expected %d", version, kvmAPIVersion)
	}
	machine, err := unix.IoctlRetInt(int(f.Fd()), kvmCreateVM)
	if err != nil {
		return fmt.Errorf("/dev/kvm: KVM_CREATE_VM: %w", err)
	}
	if err := unix.Close(machine); err != nil {
		return err
	}
	return dryRun(ctx, qemu)
}

// dryRun starts QEMU with a machine like the guest's, stopped, and quits it.
func dryRun(ctx context.Context, qemu string) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, qemu, "-accel", "kvm", "-M", "q35", "-cpu", "host", "-m", "64",
		"-nodefaults", "-display", "none", "-S", "-qmp", "stdio")
	cmd.Stdin = strings.NewReader(`{"execute":"qmp_capabilities"}{"execute":"quit"}`)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		return errors.New("QEMU under KVM does not answer")
	}
	if err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
		return fmt.Errorf("QEMU does not run under KVM: %w: %s", err, first)
	}
	return nil
}
