package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fsward/blocktap/nbd"
	"fsward/hostd/daemon"
	"fsward/hostd/guard"
)

// guestsDaemon is a running fsward daemon.
type guestsDaemon struct {
	*testing.T
	dir     string
	cmd     *exec.Cmd
	out     bytes.Buffer // its reports; read after stop
	control *daemon.Control
}

// startGuests starts a daemon of the guests web, with a raw image of 32 MiB, and mail, with another
// image of the test's folder. Their disks are named vda.
func startGuests(t *testing.T, dir, mail string) *guestsDaemon {
	t.Helper()
	d := &guestsDaemon{T: t, dir: dir}
	d.image("a.img", 32<<20)
	config := fmt.Sprintf(`control: unix:%[1]s/control
json: true
guests:
  web: {disk: vda=%[1]s/a.img, listen: "unix:%[1]s/web.sock", memory: 64M}
  mail: {disk: vda=%[1]s/%[2]s, listen: "unix:%[1]s/mail.sock", reserve: 32M}
`, d.dir, mail)
	file := filepath.Join(d.dir, "fsward.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	d.control = daemon.NewControl(filepath.Join(d.dir, "control"))
	d.cmd = exec.Command("fsward", "daemon", "--config", file)
	d.cmd.Stdout, d.cmd.Stderr = &d.out, os.Stderr
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill()
		_ = d.cmd.Wait()
	})
	return d
}

// image makes an image of zeros.
func (d *guestsDaemon) image(name string, size int64) string {
	d.Helper()
	path := filepath.Join(d.dir, name)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		d.Fatal(err)
	}
	if err := os.Truncate(path, size); err != nil {
		d.Fatal(err)
	}
	return path
}

// wait waits until the status of a volume, by its name, is as wanted.
func (d *guestsDaemon) wait(name, state string) {
	d.Helper()
	var last []guard.VolumeStatus
	for range 1000 {
		var err error
		if last, err = d.control.Status(); err == nil {
			for _, s := range last {
				if s.Name() == name && strings.Contains(s.State, state) {
					return
				}
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	d.Fatalf("%s is not %q: %+v", name, state, last)
}

// size returns the size of a disk that a guest's socket exports.
func (d *guestsDaemon) size(guest, disk string) (uint64, error) {
	r, err := d.connect(guest, disk)
	if err != nil {
		return 0, err
	}
	return r.Size(), r.Close()
}

// connect connects to a disk of a guest. It waits while the guest's server does not listen: the
// guard starts, or starts again, and a status may be known before.
func (d *guestsDaemon) connect(guest, disk string) (*nbd.Remote, error) {
	var err error
	for range 1000 {
		var r *nbd.Remote
		r, err = nbd.Dial(d.Context(), "unix", filepath.Join(d.dir, guest+".sock"),
			nbd.RemoteOptions{Export: disk})
		if err == nil || strings.Contains(err.Error(), "export") { // the server knows no such disk
			return r, err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil, err
}

// disk runs fsward disk, and returns what it prints on stderr if it fails.
func (d *guestsDaemon) disk(args ...string) string {
	cmd := exec.Command("fsward", append(append([]string{"disk"}, args...), "--control",
		"unix:"+filepath.Join(d.dir, "control"))...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return strings.TrimSpace(string(out)) + err.Error()
	}
	return ""
}

// TestDaemonOfGuests serves two guests in one process. One cannot be served; the other does not
// notice. Disks are added, removed and grown while they are served.
func TestDaemonOfGuests(t *testing.T) {
	d := startGuests(t, t.TempDir(), "missing.img")
	d.wait("web/vda", "blank")
	d.wait("mail", "not served at the moment")
	_ = d.cmd.Process.Signal(syscall.SIGHUP) // reload the rules
	b, other := d.image("b.img", 8<<20), d.image("c.img", 8<<20)
	for _, step := range []struct {
		do, fails string // fails: a part of the error; "" if it works
		args      []string
		guest     string
		disk      string
		size      uint64 // 0: the guest has no such disk
	}{
		{"add", "", []string{"web/vdb", b}, "web", "vdb", 8 << 20},
		{"add", "two disks are named", []string{"web/vdb", other}, "web", "vdb", 8 << 20},
		{"add", "in use", []string{"web/vdc", filepath.Join(d.dir, "a.img")}, "web", "vda", 32 << 20},
		{"add", "the guests are web, mail", []string{"nobody/vdb", "x"}, "web", "vda", 32 << 20},
		{"grow", "", []string{"web/vdb", "--size", "16M"}, "web", "vdb", 16 << 20},
		{"grow", "shrink", []string{"web/vdb", "--size", "4M"}, "web", "vdb", 16 << 20},
		{"grow", "", []string{"web/vda"}, "web", "vda", 32 << 20},
		{"remove", "", []string{"web/vdb"}, "web", "vdb", 0},
		{"remove", "the only disk", []string{"web/vda"}, "web", "vda", 32 << 20},
		{"remove", "the guest has vda", []string{"web/vdb"}, "web", "vda", 32 << 20},
	} {
		text := d.disk(append([]string{step.do}, step.args...)...)
		if (text == "") != (step.fails == "") || !strings.Contains(text, step.fails) {
			t.Errorf("disk %s %q: %q, want %q", step.do, step.args, text, step.fails)
		}
		if size, err := d.size(step.guest, step.disk); size != step.size || (err == nil) != (size > 0) {
			t.Errorf("after disk %s %q: %s has %d bytes, %v; want %d", step.do, step.args, step.disk,
				size, err, step.size)
		}
	}
	d.image("missing.img", 8<<20)
	if text := d.disk("grow", "mail/vda"); text != "" { // and try the guest again
		t.Error(text)
	}
	d.wait("mail/vda", "blank")
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	if err := d.cmd.Wait(); err != nil {
		t.Errorf("the daemon ended: %v", err)
	}
	for _, guest := range []string{"web", "mail"} {
		if !strings.Contains(d.out.String(), `"guest":"`+guest+`"`) {
			t.Errorf("no report names the guest %s:\n%s", guest, &d.out)
		}
	}
}

// TestDaemonFailureDomain kills the qemu-storage-daemon of one guest's disk. Its requests fail, and
// its image is not opened again. The other guest does not notice.
func TestDaemonFailureDomain(t *testing.T) {
	dir := t.TempDir()
	run(t, "qemu-img", "create", "-q", "-f", "qcow2", filepath.Join(dir, "b.qcow2"), "32M")
	d := startGuests(t, dir, "b.qcow2")
	d.wait("web/vda", "blank")
	d.wait("mail/vda", "blank")
	web, mail := d.dial("web"), d.dial("mail")
	write := func(r *nbd.Remote) error {
		_, err := r.WriteAt(make([]byte, 4096), 4096)
		return errors.Join(err, r.Flush())
	}
	if err := errors.Join(write(web), write(mail)); err != nil {
		t.Fatal(err)
	}
	d.killChildren()
	if err := write(mail); !errors.Is(err, syscall.EIO) {
		t.Errorf("a write of the guest that has lost its disk: %v, want EIO", err)
	}
	if err := write(web); err != nil {
		t.Errorf("a write of the other guest: %v", err)
	}
	text := d.disk("grow", "mail/vda")
	_, after, _ := strings.Cut(text, "remove ")
	marker, _, _ := strings.Cut(after, ",")
	if !strings.Contains(text, "was killed") || marker == "" {
		t.Fatalf("opening the image again: %q", text)
	}
	d.wait("mail", "was killed")
	if err := write(web); err != nil {
		t.Errorf("a write of the other guest: %v", err)
	}
	if err := os.Remove(marker); err != nil {
		t.Fatal(err)
	}
	if text := d.disk("grow", "mail/vda"); text != "" {
		t.Error(text)
	}
	d.wait("mail/vda", "blank")
}

// killChildren kills the processes that the daemon has started: a qemu-storage-daemon.
func (d *guestsDaemon) killChildren() {
	d.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", d.cmd.Process.Pid))
	if err != nil {
		d.Fatal(err)
	}
	killed := 0
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			d.Fatal(err)
		}
		for _, word := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(word)
			if err != nil {
				d.Fatal(err)
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				d.Fatal(err)
			}
			killed++
		}
	}
	if killed != 1 {
		d.Fatalf("the daemon had %d children, want 1", killed)
	}
}

// dial connects to the disk of a guest.
func (d *guestsDaemon) dial(guest string) *nbd.Remote {
	d.Helper()
	r, err := d.connect(guest, "vda")
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() { _ = r.Close() })
	return r
}
