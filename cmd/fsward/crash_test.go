package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// crashPoints returns how often the daemon is killed, half of them under each file system.
func crashPoints() int {
	if testing.Short() {
		return 10
	}
	return 20
}

// TestKilledDaemonLosesNothing kills the daemon with SIGKILL at random points under load. The image
// then recovers by its file system's own means, under a new daemon and without an alarm, and holds
// everything that had been synced.
func TestKilledDaemonLosesNothing(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("loop mounts need root: run the tests as root")
	}
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("FSWARD_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("FSWARD_SEED=%d repeats this run of %d crashes", seed, crashPoints())
	random := rand.New(rand.NewPCG(seed, 0))
	for _, fs := range []string{"btrfs", "ext3"} {
		image := filepath.Join(t.TempDir(), fs+".img")
		run(t, "truncate", "-s", "512M", image)
		run(t, "mkfs."+fs, map[string]string{"btrfs": "-qf", "ext3": "-qF"}[fs], image)
		first := 0
		for point := range crashPoints() / 2 {
			delay := time.Duration(50+random.IntN(900)) * time.Millisecond
			t.Run(fmt.Sprintf("%s/%d after %v", fs, point, delay), func(t *testing.T) {
				synced := crashGuest(t, fs, image, first, delay)
				t.Logf("rounds %d to %d were synced", first, synced-1)
				recoverAndVerify(t, fs, image, synced)
				first = synced
			})
			if t.Failed() {
				return
			}
		}
	}
}

// roundText is what the workload leaves in the file of a round.
const roundText = `round $i of the load that runs while the daemon is killed`

// crashGuest runs the workload from round first on, kills the daemon after a while, and returns the
// number of the first round that was not synced for certain.
func crashGuest(t *testing.T, fs, image string, first int, delay time.Duration) int {
	d := startDaemon(t, image)
	m := d.mount(t, fs)
	progress := filepath.Join(t.TempDir(), "synced")
	load := exec.Command("sh", "-ec", fmt.Sprintf(`cd %s; i=%d
		while :; do
			mkdir -p d$((i %% 7)); echo "%s" > d$((i %% 7))/r$i
			head -c 200000 /dev/urandom > bulk$((i %% 3)); mv bulk$((i %% 3)) moved$((i %% 3))
			sync -f .; echo $i >> %s; i=$((i + 1))
		done`, m.dir, first, roundText, progress))
	load.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := load.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(delay)
	d.stop(t, syscall.SIGKILL)
	// Every request of the kernel fails from here on, so the load ends by itself, or is stopped.
	timer := time.AfterFunc(20*time.Second, func() {
		_ = syscall.Kill(-load.Process.Pid,
			syscall.SIGKILL)
	})
	_ = load.Wait() // it fails: that is what it is for
	timer.Stop()
	m.unmount(t, "--lazy")

	lines, err := os.ReadFile(progress)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return first + bytes.Count(lines, []byte("\n"))
}

// recoverAndVerify mounts the image under a new daemon, looks at every synced round, unmounts, and
// lets the file system's own checker judge.
func recoverAndVerify(t *testing.T, fs, image string, synced int) {
	d := startDaemon(t, image)
	m := d.mount(t, fs)
	var files, want []string
	for i := range synced {
		files = append(files, filepath.Join(m.dir, fmt.Sprintf("d%d/r%d", i%7, i)))
		want = append(want, strings.ReplaceAll(roundText, "$i", strconv.Itoa(i))+"\n")
	}
	if synced > 0 {
		// cat, not ReadFile: the process that may have to be killed is another one.
		got := slices.Collect(strings.Lines(run(t, "cat", files...)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rounds were synced, and now hold (+):\n%s", diff)
		}
	}
	m.unmount(t)
	d.stop(t, syscall.SIGTERM)
	for _, line := range strings.Split(strings.TrimSpace(d.out.String()), "\n") {
		var ev struct{ Event, Verdict string }
		if err := json.Unmarshal([]byte(line), &ev); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if ev.Verdict != "holds" {
			t.Errorf("alarm in recovery: %s", line)
		}
	}
	if fs == "btrfs" {
		run(t, "btrfs", "check", image)
	} else {
		run(t, "e2fsck", "-fn", image)
	}
}

// daemonProcess is a `fsward guard` of its own process, with the disk shown as a file by FUSE.
type daemonProcess struct {
	cmd *exec.Cmd
	dir string
	// files for what it prints; nil: out and log
	stdout, stderr *os.File

	out bytes.Buffer // read after stop
	log bytes.Buffer
}

func startDaemon(t *testing.T, image string, options ...string) *daemonProcess {
	t.Helper()
	return startDaemonTo(t, nil, nil, image, options...)
}

// startDaemonTo starts a daemon whose stdout and stderr are files; nil keeps what it prints.
func startDaemonTo(t *testing.T, stdout, stderr *os.File, image string,
	options ...string) *daemonProcess {
	t.Helper()
	d := &daemonProcess{dir: t.TempDir()}
	d.stdout, d.stderr = stdout, stderr
	d.start(t, append([]string{"--disk", image, "--transport", "fuse", "--listen", d.dir},
		options...)...)
	return d
}

// start starts the guard, and waits for its mount.
func (d *daemonProcess) start(t *testing.T, args ...string) {
	t.Helper()
	d.cmd = exec.Command("fsward", append([]string{"guard", "--json"}, args...)...)
	d.cmd.Stdout, d.cmd.Stderr = &d.out, &d.log
	if d.stdout != nil {
		d.cmd.Stdout = d.stdout
	}
	if d.stderr != nil {
		d.cmd.Stderr = d.stderr
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.stop(t, syscall.SIGKILL)
		if t.Failed() {
			t.Logf("the daemon's log:\n%s", &d.log)
		}
	})
	served := fmt.Sprintf("fsward:%d:", d.cmd.Process.Pid)
	for range 500 {
		if mounts, err := os.ReadFile("/proc/mounts"); err == nil &&
			bytes.Contains(mounts, []byte(served)) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the daemon did not come up")
}

// stop ends the daemon by a signal and takes its mount away if it could not do so itself.
func (d *daemonProcess) stop(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if d.cmd.ProcessState != nil {
		return
	}
	_ = d.cmd.Process.Signal(signal)
	if err := d.cmd.Wait(); err != nil && signal != syscall.SIGKILL {
		t.Errorf("the daemon ended with %v", err)
	}
	if signal == syscall.SIGKILL {
		run(t, "umount", "--lazy", d.dir)
	}
}

// mounted is a file system that the host's kernel has mounted from a daemon's disk.
type mounted struct{ dir, loop string }

func (d *daemonProcess) mount(t *testing.T, fs string) *mounted {
	t.Helper()
	m := &mounted{dir: t.TempDir()}
	m.loop = strings.TrimSpace(run(t, "losetup", "--find", "--show", "--direct-io=on",
		filepath.Join(d.dir, "disk")))
	run(t, "mount", "-t", fs, m.loop, m.dir)
	return m
}

func (m *mounted) unmount(t *testing.T, opts ...string) {
	t.Helper()
	run(t, "umount", append(opts, m.dir)...)
	run(t, "losetup", "--detach", m.loop)
}

// run runs a program that has to succeed within two minutes.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
