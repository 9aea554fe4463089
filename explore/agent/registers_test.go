package agent

import (
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPeekedRegisters checks that the registers of a thread are the same one after the other, as
// user-mode Linux gives them.
func TestPeekedRegisters(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command("true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	pid := cmd.Process.Pid
	if _, err := unix.Wait4(pid, nil, unix.WALL, nil); err != nil {
		t.Fatal(err)
	}
	var want, got unix.PtraceRegs
	if err := unix.PtraceGetRegs(pid, &want); err != nil {
		t.Fatal(err)
	}
	if err := peekRegisters(pid, &got); err != nil || got != want || want.Rip == 0 {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}
