//go:build cgo

package vm

import (
	"context"
	"errors"
	"flag"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"libvirt.org/go/libvirtxml"
)

var update = flag.Bool("update", false, "rewrite testdata")

func example() Config {
	return Config{
		Name: "guest", Kernel: "/g/vmlinuz", Initramfs: "/g/initramfs", Cmdline: "quiet fsward.btrfs=b&<",
		Disks: []Disk{{NBDSocket: "/r/nbd", Export: "root", Serial: "root"},
			{NBDSocket: "/r/nbd", Export: "data"}},
		Console: "/r/console", Channel: true, Calls: "/r/calls",
	}
}

func TestDomainXML(t *testing.T) {
	const uuid = "6a1d7a4e-0000-4000-8000-000000000001"
	kernel := func(*Config) {}
	for _, c := range []struct {
		golden string
		change func(*Config)
		place  place
	}{
		{"disk.xml", func(c *Config) {
			c.Kernel, c.Initramfs, c.Cmdline, c.EFI, c.Network = "", "", "", true, true
		}, place{uuid: uuid, accel: AccelTCG, consoleSocket: "/r/guest.console",
			nvram: "/r/guest.nvram"}},
		{"tcg.xml", kernel, place{uuid: uuid, accel: AccelTCG, consoleSocket: "/r/guest.console",
			channelSocket: "/r/guest.channel",
			agentSocket:   "/r/guest.agent"}},
		{"kvm.xml", kernel, place{uuid: uuid, accel: AccelKVM, consoleSocket: "/r/guest.console",
			labels: []libvirtxml.DomainSecLabel{
				{Type: "static", Model: "dac", Relabel: "no", Label: "+0:+0"}, {Type: "none",
					Model: "apparmor"}}}},
	} {
		cfg := example()
		c.change(&cfg)
		if err := cfg.check(); err != nil {
			t.Fatal(err)
		}
		got, err := domainXML(&cfg, &c.place)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", c.golden)
		if *update {
			if err := os.WriteFile(path, []byte(got+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got+"\n"); d != "" {
			t.Errorf("%s (-want +got); -update rewrites it:\n%s", c.golden, d)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	long := "/" + strings.Repeat("d", 107)
	for _, c := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.Name = "" }, `domain name "": expected at most 40 letters`},
		{func(c *Config) { c.Name = "../x" }, `domain name "../x"`},
		{func(c *Config) { c.Name = strings.Repeat("x", 41) }, "at most 40"},
		{func(c *Config) { c.Kernel = "" }, "an initramfs and a command line need a kernel"},
		{func(c *Config) { *c = Config{Name: "x", Console: "/c"} }, "neither a kernel nor a disk"},
		{func(c *Config) { c.EFI = true }, "EFI boots a disk, not a kernel"},
		{func(c *Config) { c.Console = "" },
			"the console file and the socket of each disk must be given"},
		{func(c *Config) { c.Cmdline = "a\nb" }, "a kernel command line is one line"},
		{func(c *Config) { c.Disks[1].NBDSocket = "" }, "socket of each disk"},
		{func(c *Config) { c.Disks[1].NBDSocket = long },
			"has 108 bytes, at most 107 are possible: choose a shorter run directory"},
		{func(c *Config) { c.Disks[1].Serial = strings.Repeat("s", 21) }, "expected at most 20 letters"},
		{func(c *Config) { c.Disks[1].Serial = "a b" }, `disk serial "a b"`},
		{func(c *Config) { c.Disks[1].Serial = "root" }, `two disks have the serial "root"`},
		{func(c *Config) { c.Disks = make([]Disk, 9) }, "9 disks, at most 8 are supported"},
	} {
		cfg := example()
		c.change(&cfg)
		if err := cfg.check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// consoleOf runs a console on the output of a guest and returns the lines, the file and the
// console.
func consoleOf(t *testing.T, write func(net.Conn)) (lines []string, file string, c *console) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "console")
	c, err := newConsole(path, func(s string) { lines = append(lines, s) })
	if err != nil {
		t.Fatal(err)
	}
	guest, host := net.Pipe()
	go func() {
		write(guest)
		_ = guest.Close()
	}()
	c.run(host)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return lines, string(b), c
}

func send(t *testing.T, conn net.Conn, s string) {
	if _, err := conn.Write([]byte(s)); err != nil {
		t.Error(err)
	}
}

func TestConsoleLines(t *testing.T) {
	const text = "one\r\n\r\n\x1b[2Jtwo\tx\xff\x00\nKernel panic - not syncing: x\nlast"
	lines, file, c := consoleOf(t, func(g net.Conn) {
		send(t, g, text[:7])
		send(t, g, text[7:])
	})
	if d := cmp.Diff([]string{"one", "[2Jtwo x", "Kernel panic - not syncing: x", "last"},
		lines); d != "" {
		t.Error(d)
	}
	if file != text {
		t.Errorf("the file has %q", file)
	}
	if last, panicked := c.state(); last != "last" || !panicked || c.err != nil {
		t.Errorf("last line %q, panic %v, error %v", last, panicked, c.err)
	}
}

// A hostile guest fills neither the disk nor memory.
func TestConsoleIsBounded(t *testing.T) {
	block := strings.Repeat("x", 1<<20)
	longest := 0
	lines, file, _ := consoleOf(t, func(g net.Conn) {
		for range maxConsole>>20 + 2 {
			send(t, g, block)
		}
	})
	for _, l := range lines {
		longest = max(longest, len(l))
	}
	if longest > maxLine {
		t.Errorf("a line of %d bytes was delivered", longest)
	}
	if len(file) > maxConsole+64<<10 || !strings.HasSuffix(file, "the rest is not kept]\n") {
		t.Errorf("the file has %d bytes and ends with %q", len(file), file[len(file)-60:])
	}
}

// guestOf returns a channel to a guest that answers each command with lines, and hangs up after the
// last.
func guestOf(t *testing.T, greeting string, answers ...string) *Workload {
	t.Helper()
	guest, host := net.Pipe()
	ch := newChannel(host, func() string { return "look at CONSOLE" })
	t.Cleanup(func() { _ = ch.Close() })
	go func() {
		defer guest.Close()
		send(t, guest, greeting)
		buf := make([]byte, 100)
		for _, a := range answers {
			if _, err := guest.Read(buf); err != nil {
				return
			}
			send(t, guest, a)
		}
	}()
	return NewWorkload(ch)
}

func TestWorkload(t *testing.T) {
	w := guestOf(t, "ready btrfs ext3\n", "synced btrfs 1\nsynced ext3 1\nreadonly ext3 1\ndone\n",
		"synced btrfs 2\nfailed btrfs 3 rename\nsynced xfs 9\nsynced btrfs x\ndone\n",
		"error go x: not a number\n")
	var lines []string
	w.OnLine = func(s string) { lines = append(lines, s) }
	if err := w.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, fs := range []string{"", "btrfs"} {
		if err := w.Go(t.Context(), 2, fs); err != nil {
			t.Fatal(err)
		}
	}
	if p := w.Progress("btrfs"); p != (Progress{Synced: 2, Failed: "3 rename"}) {
		t.Errorf("btrfs: %+v", p)
	}
	if p := w.Progress("ext3"); p != (Progress{Synced: 1, ReadOnly: true}) {
		t.Errorf("ext3: %+v", p)
	}
	if p := w.Progress("xfs"); p != (Progress{}) {
		t.Errorf("xfs: %+v", p)
	}
	if len(lines) != 10 {
		t.Errorf("lines: %q", lines)
	}
	if err := w.Go(t.Context(), 1, ""); err == nil ||
		err.Error() != "the guest reports: go x: not a number" {
		t.Errorf("an error of the guest: %v", err)
	}
	if err := w.Ready(t.Context()); !errors.Is(err, ErrChannelEnded) ||
		!strings.Contains(err.Error(), "look at CONSOLE") {
		t.Errorf("a guest that has gone: %v", err)
	}
}

func TestWaitingEndsWithAHint(t *testing.T) {
	w := guestOf(t, "", "never read")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := w.Ready(ctx)
	want := `waiting for "ready": no answer from the guest: context deadline exceeded; look at CONSOLE`
	if !errors.Is(err, context.DeadlineExceeded) || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}

	h := &Host{dir: "/r", private: &daemon{guestLogs: "/r/log"}}
	d := &Domain{
		host:    h,
		cfg:     Config{Name: "g", Console: "/r/g.txt"},
		life:    lifetime{gone: make(chan struct{})},
		console: &console{done: make(chan struct{}), last: `say "hi"`},
	}
	_, err = d.Wait(ctx)
	want = `the guest g has not ended: context deadline exceeded; look at the guest's console in ` +
		`/r/g.txt and at QEMU's log in /r/log/g.log (the console's last line: "say \"hi\"")`
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

func TestLockDir(t *testing.T) {
	dir := t.TempDir()
	f, err := lockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockDir(dir); err == nil || !strings.Contains(err.Error(),
		"in use by another fsward: choose another one") {
		t.Errorf("a second lock: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if f, err = lockDir(dir); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
}

// The process in the pid file of an earlier run is ended only if it is a libvirtd of this run
// directory.
func TestEndLeftoverLeavesOthersAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "libvirt"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "x", "0", "-1", "1", "999999999", strconv.Itoa(os.Getpid())} {
		if err := os.WriteFile(pidFile(dir), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := endLeftover(t.Context(), dir); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestMissingProgramNamesThePackage(t *testing.T) {
	t.Setenv("PATH", "")
	_, err := findProgram("no-such-libvirtd", "libvirt-daemon-system")
	want := "no-such-libvirtd is not installed: " +
		"apt-get install libvirt-daemon-system (make setup does)"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestEnd(t *testing.T) {
	for _, c := range []struct {
		end   End
		text  string
		clean bool
	}{
		{End{Cause: CauseShutdown}, "shutdown", true},
		{End{Cause: CauseShutdown, Panic: true}, "kernel panic", false},
		{End{Cause: CauseDestroyed}, "destroyed", false},
		{End{}, "stopped", false},
	} {
		if c.end.String() != c.text || c.end.Clean() != c.clean {
			t.Errorf("%+v is %q, clean %v", c.end, c.end, c.end.Clean())
		}
	}
}
