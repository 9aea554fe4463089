// Package uml boots user-mode Linux (Debian's package user-mode-linux, kernel 6.1). This kernel is
// a process of the host. Its root file system is the host's, and its disks are files of the host.
// Start reading at New.
package uml

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

//go:embed shim/ptrace.c
var shim []byte

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
	cc := exec.CommandContext(ctx, "gcc", "-O2", "-shared", "-fPIC", "-x", "c", "-o", m.shim, "-")
	cc.Stdin = bytes.NewReader(shim)
	if out, err := cc.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("uml/shim/ptrace.c: %w\n%s", err, out)
	}
	return m, nil
}

// Argv returns the words that boot with memory MiB and the disks as /dev/ubda, /dev/ubdb and so on.
// The guest's first process runs the host's program init with arguments. options are further words
// for the kernel; consoles without one are absent.
func (m *Machine) Argv(memory int, disks, options []string, init string, args ...string) []string {
	words := []string{m.kernel, fmt.Sprintf("mem=%dM", memory), "root=/dev/root", "rootfstype=hostfs",
		"rootflags=/", "init=" + init, "con=null"}
	for i, disk := range disks {
		words = append(words, fmt.Sprintf("ubd%d=%s", i, disk))
	}
	return append(append(append(words, options...), "--"), args...)
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
