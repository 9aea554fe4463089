// Package uml boots user-mode Linux (Debian's package user-mode-linux, kernel 6.1): a kernel that
// is a process of the host, with the host's files as its root file system and files of the host as
// its disks. Start reading at New.
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

// New makes in dir the files that the kernel needs on this host.
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

// Command returns the command that boots with memory MiB and the disks as /dev/ubda, /dev/ubdb, ….
// Its first process is the program init of the host. It is a process group of its own, since the
// kernel consists of several processes: Kill ends it.
func (m *Machine) Command(memory int, disks []string, init string, args ...string) *exec.Cmd {
	words := []string{fmt.Sprintf("mem=%dM", memory), "root=/dev/root", "rootfstype=hostfs",
		"rootflags=/", "rw", "init=" + init, "con=null", "con0=null"}
	for i, disk := range disks {
		words = append(words, fmt.Sprintf("ubd%d=%s", i, disk))
	}
	cmd := exec.Command(m.kernel, append(append(words, "--"), args...)...)
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+m.shim)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// Kill cuts the power of a machine that was started: it stops where it is.
// it may just have ended
func Kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
