package daemon

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fsward/blocktap/nbd"
)

// TestSocketOptions checks the group and the mode of a socket, whatever the umask is, and that the
// folder of the socket is made.
func TestSocketOptions(t *testing.T) {
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	for _, c := range []struct {
		group, mode string
		want        os.FileMode
		gid         uint32
	}{
		{"", "", 0o600, uint32(os.Getgid())},
		{"", "666", 0o666, uint32(os.Getgid())},
		{"kvm", "660", 0o660, lookup(t, "kvm")},
		{"4242", "0660", 0o660, 4242},
	} {
		opt, err := ParseSocketOptions(c.group, c.mode)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "run", "s")
		l, err := Listen(path, opt)
		if err != nil {
			t.Fatal(err)
		}
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if gid := st.Sys().(*syscall.Stat_t).Gid; st.Mode().Perm() != c.want || gid != c.gid {
			t.Errorf("group %q, mode %q: %s of group %d", c.group, c.mode, st.Mode(), gid)
		}
		l.Close()
	}
	for _, bad := range [][2]string{{"no-such-group", ""}, {"", "0"}, {"", "999"}, {"", "rw"},
		{"", "1777"}} {
		if _, err := ParseSocketOptions(bad[0], bad[1]); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

// lookup returns the number of a group, as getent reads it.
func lookup(t *testing.T, group string) (gid uint32) {
	t.Helper()
	out, err := exec.Command("getent", "group", group).Output()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(strings.Split(string(out), ":")[2], "%d", &gid); err != nil {
		t.Fatal(err)
	}
	return gid
}

// TestActivated starts this test with a socket as systemd does (sd_listen_fds(3)).
func TestActivated(t *testing.T) {
	if name := os.Getenv("DAEMON_LISTENS_ON"); name != "" {
		listenActivated(t, name)
		return
	}
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f, err := l.(*net.UnixListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	child := func(name string) *exec.Cmd {
		cmd := exec.Command("sh", "-c", `LISTEN_PID=$$ exec "$0" -test.run='^TestActivated$'`, os.Args[0])
		cmd.Env = append(os.Environ(), "DAEMON_LISTENS_ON="+name, "LISTEN_FDS=1",
			"LISTEN_FDNAMES=disks")
		cmd.ExtraFiles = []*os.File{f}
		return cmd
	}
	if out, err := child("other").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	cmd := child("disks")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	nc, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 5)
	if n, err := nc.Read(said); err != nil || string(said[:n]) != "hello" {
		t.Errorf("%q, %v", said[:n], err)
	}
	nc.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the socket of systemd was removed: %v", err)
	}
}

// listenActivated is the child of TestActivated. systemd gave it the socket disks.
func listenActivated(t *testing.T, name string) {
	first, err := Listen("systemd:"+name, nbd.SocketOptions{})
	if name != "disks" {
		if err == nil || !strings.Contains(err.Error(), "no socket") {
			t.Errorf("the socket %s: %v", name, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	first.Close() // and again, as after a change of a guest's disks
	l, err := Listen("systemd:"+name, nbd.SocketOptions{})
	if err != nil {
		t.Fatal(err)
	}
	nc, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(nc, "hello")
	nc.Close()
}
