package vm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// probeKVM returns nil if guests run under KVM here. On some hosts /dev/kvm makes virtual machines
// and virtual processors on which QEMU then aborts; on others the firmware runs and Linux hangs
// while it starts. So the last test starts Linux itself, if there is a kernel to start.
func probeKVM(ctx context.Context, qemu, kernel string) error {
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
	if kernel = anyKernel(kernel); kernel != "" {
		return dryRun(ctx, qemu, kernel, "-kernel", kernel, "-append", "panic=-1")
	}
	return dryRunSector(ctx, qemu)
}

// dryRunTime bounds how long Linux may take to start and panic without a disk. Where KVM works that
// takes about a second. If a busy host needs longer, its guests run under TCG.
const dryRunTime = 8 * time.Second

// resetSector is a boot loader that resets the machine.
var resetSector = []byte{
	0xba, 0xf9, 0x0c, // mov dx, 0xcf9: the reset register
	0xb0, 0x06, // mov al, 6
	0xee, // out dx, al
	0xf4, // hlt
}

// dryRunSector boots a disk with resetSector. That says less than a kernel does, but on most hosts
// where KVM does not work QEMU ends before it.
func dryRunSector(ctx context.Context, qemu string) error {
	disk, err := os.CreateTemp("", "fsward-kvm-")
	if err != nil {
		return err
	}
	defer os.Remove(disk.Name())
	sector := make([]byte, 1<<20)
	copy(sector, resetSector)
	sector[510], sector[511] = 0x55, 0xaa
	_, err = disk.Write(sector)
	if err = errors.Join(err, disk.Close()); err != nil {
		return err
	}
	return dryRun(ctx, qemu, "a boot sector", "-drive", "if=virtio,format=raw,file="+disk.Name())
}

// dryRun starts a program that resets the machine: a kernel with nothing to mount, which panics, or
// a boot sector. QEMU ends then because of -no-reboot.
func dryRun(ctx context.Context, qemu, what string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, dryRunTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, qemu, append([]string{"-accel", "kvm", "-M", "q35", "-cpu", "host",
		"-m", "256", "-nodefaults", "-display", "none", "-no-reboot"}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		return fmt.Errorf("under KVM %s does not start within %v", what, dryRunTime)
	}
	if err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
		return fmt.Errorf("QEMU does not run under KVM: %w: %s", err, first)
	}
	return nil
}

// findProgram finds a program, also in root's folders. Its error names the Debian package.
func findProgram(name, pkg string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin", "/sbin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not installed: apt-get install %s (make setup does)", name, pkg)
}
