// Package uml boots user-mode Linux (Debian's package user-mode-linux, kernel 6.1). This kernel is
// a process of the host. Its root file system is the host's, and its disks are files of the host.
// Start reading at New.
package uml

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

//go:embed shim
var shim embed.FS

// Modules is the folder of that kernel's modules.
const Modules = "/usr/lib/uml/modules"

// A Machine boots user-mode Linux.
type Machine struct{ kernel, shim string }

// New finds the kernel, and compiles in dir the library that it needs on this host.
func New(ctx context.Context, dir string) (*Machine, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	m := &Machine{shim: filepath.Join(dir, "ptrace.so")}
	if m.kernel, err = exec.LookPath("linux.uml"); err != nil {
		return nil, fmt.Errorf("%w: apt-get install user-mode-linux", err)
	}
	if err := os.CopyFS(dir, shim); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	cc := exec.CommandContext(ctx, "gcc", "-O2", "-shared", "-fPIC", "-o", m.shim,
		filepath.Join(dir, "shim", "ptrace.c"), filepath.Join(dir, "shim", "written.c"),
		filepath.Join(dir, "shim", "disks.c"))
	if out, err := cc.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("explore/uml/shim: %w\n%s", err, out)
	}
	return m, nil
}

// Argv returns the words that boot with memory MiB and the disks as /dev/ubda, /dev/ubdb and so on.
// The guest's first process runs the host's program init with arguments. options are further words
// for the kernel; consoles without one are absent.
func (m *Machine) Argv(memory int, disks, options []string, init string, args ...string) []string {
	root := []string{"root=/dev/root", "rootfstype=hostfs", "rootflags=/", "init=" + init}
	return append(m.words(memory, disks, append(root, options...)), append([]string{"--"}, args...)...)
}

// InitramfsArgv is Argv for a guest whose root is a copy of an initramfs of the host. init is a
// program in it.
func (m *Machine) InitramfsArgv(memory int, disks, options []string,
	initramfs, init string) []string {
	root := []string{"initrd=" + initramfs, "rootfstype=ramfs", "rdinit=" + init}
	return m.words(memory, disks, append(root, options...))
}

// words returns the words that all guests have, and the options. Without the old pseudo-terminals,
// which nothing uses, a guest boots in two thirds of the time.
func (m *Machine) words(memory int, disks, options []string) []string {
	words := []string{m.kernel, fmt.Sprintf("mem=%dM", memory), "con=null", "pty.legacy_count=0"}
	for i, disk := range disks {
		words = append(words, fmt.Sprintf("ubd%d=%s", i, disk))
	}
	return append(words, options...)
}

// Env returns the variable that each command of Argv needs, as NAME=VALUE.
func (m *Machine) Env() string { return "LD_PRELOAD=" + m.shim }

// Command returns the command that boots with Argv, without consoles. The guest may write the
// host's files. The kernel consists of several processes, so the command runs in its own process
// group; Kill ends all of them.
func (m *Machine) Command(memory int, disks []string, init string, args ...string) *exec.Cmd {
	words := m.Argv(memory, disks, []string{"rw", "con0=null"}, init, args...)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = append(os.Environ(), m.Env())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// Kill stops a started machine at once, as a loss of power does. The machine may have ended before.
func Kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
