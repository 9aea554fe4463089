package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"fsward/blocktap"
	"fsward/blocktap/fuse/loopmount"
	"fsward/blocktap/nbd"
	"fsward/hostd/guardtest"
)

// restarts returns how often the guard of each file system starts again: $FSWARD_RESTARTS, or a few
// times.
func restarts(t *testing.T) int {
	n := 2
	if s := os.Getenv("FSWARD_RESTARTS"); s != "" {
		if _, err := fmt.Sscan(s, &n); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// restartLoad changes a file system in rounds until the file stop is there. It notes the number of
// rounds, and at the end the checksums of all files.
const restartLoad = `i=0; mkdir keep
while ! [ -e %[1]s/stop ]; do
	mkdir -p d$((i %% 7)); head -c $(((i * 7919) %% 90000 + 100)) /dev/urandom > d$((i %% 7))/new
	mv d$((i %% 7))/new d$((i %% 7))/r$((i %% 40)); ln -f d$((i %% 7))/r$((i %% 40)) keep/r$((i %% 40))
	head -c 300000 /dev/urandom > bulk$((i %% 3)); truncate -s 5000 bulk$(((i + 1) %% 3))
	rm -rf gone; mkdir gone; touch gone/a gone/b
	if [ $((i %% 3)) = 0 ]; then sync -f .; else sync keep/r$((i %% 40)); fi
	i=$((i + 1)); echo $i > %[1]s/rounds
done
find . -type f -exec md5sum {} + > %[1]s/sums
`

// TestRestartUnderRunningGuest ends the guard at random moments under a load, and starts it again,
// while a proxy keeps the connection of the guest, which is the host's kernel. The guest sees no
// error, the guard raises no alarm, and everything is there afterwards.
func TestRestartUnderRunningGuest(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("loop mounts need root: run the tests as root")
	}
	for _, c := range []struct{ fs, format string }{{"btrfs", "raw"}, {"ext3", "qcow2"}} {
		t.Run(c.fs+" on "+c.format, func(t *testing.T) {
			fs, dir := c.fs, t.TempDir()
			raw, guard := filepath.Join(dir, "raw"), filepath.Join(dir, "guard.sock")
			run(t, "truncate", "-s", "512M", raw)
			run(t, "mkfs."+fs, map[string]string{"btrfs": "-qf", "ext3": "-qF"}[fs], raw)
			image := filepath.Join(dir, "image."+c.format)
			run(t, "qemu-img", "convert", "-f", "raw", "-O", c.format, raw, image)
			r := guardtest.StartRestarted(t, "fsward", guardtest.Seed(t), "--disk", "vda="+image,
				"--disk-format", c.format, "--listen", "unix:"+guard)
			proxy, socket := startProxy(t, dir, guard)
			m := mountProxied(t, fs, socket)
			loaded := make(chan error, 1)
			go func() {
				_, err := m.Run(t.Context(), fmt.Sprintf(restartLoad, dir))
				loaded <- err
			}()
			for range restarts(t) {
				r.Restart()
			}
			run(t, "touch", filepath.Join(dir, "stop"))
			if err := <-loaded; err != nil {
				t.Fatalf("the guest: %v", err)
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			// The proxy first: it flushes at its end, and would wait for a guard that is gone.
			_ = proxy.Process.Signal(syscall.SIGTERM)
			if err := proxy.Wait(); err != nil {
				t.Errorf("the proxy ended: %v", err)
			}
			r.Stop()
			rounds, _ := os.ReadFile(filepath.Join(dir, "rounds"))
			t.Logf("%d kills, %d stops, %s rounds, commits %v", r.Kills, r.Stops,
				bytes.TrimSpace(rounds), r.Commits())
			run(t, "qemu-img", "convert", "-f", c.format, "-O", "raw", image, raw)
			guardtest.MustBeClean(t, fs, raw)
			verifySums(t, fs, raw, filepath.Join(dir, "sums"))
		})
	}
}

// startProxy starts fsward proxy, and returns it and its socket.
func startProxy(t *testing.T, dir, guard string) (cmd *exec.Cmd, socket string) {
	t.Helper()
	socket = filepath.Join(dir, "proxy.sock")
	cmd = exec.Command("fsward", "proxy", "--disk", "vda", "--guard", "unix:"+guard, "--listen",
		"unix:"+socket)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for range 500 {
		if _, err := os.Stat(socket); err == nil {
			return cmd, socket
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the proxy does not listen")
	return nil, ""
}

// proxied is the disk of a proxy that the host's kernel has mounted.
type proxied struct {
	*loopmount.Loop
	disk *nbd.Remote
}

// Close unmounts the disk and disconnects from the proxy. The second call does nothing.
func (p *proxied) Close() error {
	if p.disk == nil {
		return nil
	}
	disk := p.disk
	p.disk = nil
	return errors.Join(p.Loop.Close(), disk.Close())
}

// mountProxied mounts the disk vda of a proxy in the host's kernel.
func mountProxied(t *testing.T, fs, socket string) *proxied {
	t.Helper()
	dial := func() (*nbd.Remote, error) {
		return nbd.Dial(t.Context(), "unix", socket, nbd.RemoteOptions{Export: "vda"})
	}
	disk, err := dial()
	for range 500 { // a socket has its name before anybody listens
		if !errors.Is(err, syscall.ECONNREFUSED) {
			break
		}
		time.Sleep(10 * time.Millisecond)
		disk, err = dial()
	}
	if err != nil {
		t.Fatal(err)
	}
	loop, err := loopmount.Attach(context.Background(), blocktap.NewDevice(disk, nil),
		zaptest.NewLogger(t, zaptest.Level(zap.WarnLevel)))
	if err != nil {
		t.Fatal(errors.Join(err, disk.Close()))
	}
	loop.Timeout = 20 * time.Minute
	p := &proxied{loop, disk}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := p.Mount(fs); err != nil {
		t.Fatal(err)
	}
	return p
}

// verifySums mounts an image without a guard, and compares its files with their checksums.
func verifySums(t *testing.T, fs, image, sums string) {
	t.Helper()
	at := t.TempDir()
	run(t, "mount", "-t", fs, "-o", "loop,ro", image, at)
	defer run(t, "umount", at)
	run(t, "sh", "-ec", "cd "+at+"; md5sum -c --quiet "+sums)
}
