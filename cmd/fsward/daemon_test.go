package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// startGuests starts a daemon of the guests web, with the disk vda, and mail, whose image is
// missing.
func startGuests(t *testing.T) *guestsDaemon {
	t.Helper()
	d := &guestsDaemon{T: t, dir: t.TempDir()}
	d.image("a.img", 32<<20)
	config := fmt.Sprintf(`control: unix:%[1]s/control
json: true
guests:
  web: {disk: vda=%[1]s/a.img, listen: "unix:%[1]s/web.sock", memory: 64M}
  mail: {disk: vda=%[1]s/missing.img, listen: "unix:%[1]s/mail.sock", reserve: 32M}
`, d.dir)
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
	var err error
	for range 1000 { // until the guard has started again
		var r *nbd.Remote
		r, err = nbd.Dial(d.Context(), "unix", filepath.Join(d.dir, guest+".sock"),
			nbd.RemoteOptions{Export: disk})
		if err == nil {
			return r.Size(), r.Close()
		}
		if strings.Contains(err.Error(), "export") { // the server knows no such disk
			return 0, err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return 0, err
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
	d := startGuests(t)
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
