package vm

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrivateMountsLetGo checks that a private libvirtd does not keep the host's mounts in use: a
// guarded disk that is unmounted on the host is unmounted.
func TestPrivateMountsLetGo(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("mounts need root: run the tests as root")
	}
	dir := filepath.Join(t.TempDir(), "fsward-loop-1")
	for _, sub := range []string{dir, filepath.Join(dir, "mnt")} {
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	at := filepath.Join(dir, "mnt")
	if out, err := exec.Command("mount", "-t", "tmpfs", "none", at).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	defer func() {
		if out, err := exec.Command("umount", at).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}()
	d := &daemon{made: filepath.Join(t.TempDir(), "made")}
	run := t.TempDir()
	if err := writeConfig(run, true, filepath.Join(run, "log")); err != nil {
		t.Fatal(err)
	}
	if err := d.prepareRoot(filepath.Join(run, "libvirt"),
		[]string{"cat", "/proc/self/mounts"}); err != nil {
		t.Fatal(err)
	}
	defer d.removeMade()
	out, err := d.cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if strings.Contains(string(out), at) {
		t.Errorf("%s is mounted there:\n%s", at, out)
	}
	if !strings.Contains(string(out), "/etc/libvirt") {
		t.Errorf("its own folders are not:\n%s", out)
	}
}
