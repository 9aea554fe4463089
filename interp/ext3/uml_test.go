package ext3

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"fsward/blocktap"
	"fsward/blocktap/fuse"
	"fsward/interp"
)

// guestInit is the script of the guest's first process.
const guestInit = `#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin MNT=%s
mount -t proc proc /proc; mount -t devtmpfs dev %s; mount --bind %s /dev
(set -ex
%s
) > %s 2>&1
echo ended $? >> %s
echo o > /proc/sysrq-trigger
sleep 100
`

// inGuest gives an image to user-mode Linux as /dev/ubda, with a follower in between, and runs a
// shell script there as root with all capabilities: on the host, root may lack CAP_SYS_RESOURCE.
// The guest sees the host's files; $MNT is an empty directory to mount on.
func inGuest(t *testing.T, image string, reread int, visit func(interp.Observation),
	script string) (f *follower, output string) {
	t.Helper()
	kernel, err := exec.LookPath("linux.uml")
	if err != nil {
		t.Fatalf("no user-mode Linux (Debian package user-mode-linux): %v", err)
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, sub := range []string{"dev", "mnt", "shown"} {
		if err := os.Mkdir(at(sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	peer(t, "gcc", "-O2", "-shared", "-fPIC", "-o", at("ptrace.so"), "../../explore/uml/shim/ptrace.c")
	init := fmt.Sprintf(guestInit, at("mnt"), at("dev"), at("dev"), script, at("output"), at("output"))
	if err := os.WriteFile(at("init"), []byte(init), 0o700); err != nil {
		t.Fatal(err)
	}
	disk, err := blocktap.OpenFile(image, blocktap.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	f = &follower{t: t, disk: disk, Rules: Engine(t), reread: reread, visit: visit}
	if f.fs, err = New(disk); err != nil {
		t.Fatal(err)
	}
	server, err := fuse.Mount(at("shown"), blocktap.NewDevice(disk, f), zaptest.NewLogger(t))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(kernel, "mem=256M", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw",
		"ubd0="+server.Path(), "init="+at("init"), "con=null", "con0=null")
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+at("ptrace.so"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // its processes are several
	if err := cmd.Start(); err != nil {
		t.Fatal(errors.Join(err, server.Unmount()))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-ctx.Done():
		t.Error("user-mode Linux takes more than three minutes")
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
	}
	if err := server.Unmount(); err != nil {
		t.Error(err)
	}
	out, err := os.ReadFile(at("output"))
	if err != nil || !strings.HasSuffix(string(out), "ended 0\n") {
		t.Errorf("the script in the guest did not end well: %v\n%s", err, out)
	}
	return f, string(out)
}
