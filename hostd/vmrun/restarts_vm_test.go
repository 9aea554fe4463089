//go:build vmtest && restarts

package vmrun

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"fsward/hostd/guardtest"
	"fsward/hostd/vm"
)

// restartedGuest is a guest behind a proxy whose guard is ended and started again.
type restartedGuest struct {
	*testing.T
	dir    string
	guard  *guardtest.Restarted
	proxy  *exec.Cmd
	socket string // of the proxy
}

// TestGuestRestarts ends the guard of a guest's two disks at random moments under load, and starts
// it again: $FSWARD_RESTARTS times (100). The disks are attached as fsward attach does with libvirt
// 9.0, and the socket is one of systemd, which stays open. The guest sees no error, the guard
// raises no alarm, and everything that was synced is there afterwards.
func TestGuestRestarts(t *testing.T) {
	restarts := wantedRestarts(t)
	ctx, cancel := context.WithTimeout(t.Context(),
		3*time.Minute+time.Duration(restarts)*10*time.Second)
	defer cancel()
	g := &restartedGuest{T: t, dir: t.TempDir()}
	disks := []string{"btrfs", "ext3"}
	images := []string{filepath.Join(g.dir, "btrfs"), filepath.Join(g.dir, "ext3")}
	guardtest.Run(t, "truncate", append([]string{"-s", "1G"}, images...)...)
	g.start(disks[0], images[0], disks[1], images[1])
	guestDir := guardtest.BuildGuest(t)
	cfg := vm.Config{Name: "fsward-restarts", Kernel: filepath.Join(guestDir, "vmlinuz"),
		Initramfs: filepath.Join(guestDir, "initramfs.cpio.zst"),
		Cmdline:   "fsward.btrfs=btrfs fsward.ext3=ext3", Channel: true}
	for _, disk := range disks {
		cfg.Disks = append(cfg.Disks, vm.Disk{NBDSocket: g.socket, Export: disk, Serial: disk})
	}
	guest := g.boot(ctx, cfg)
	work := vm.NewWorkload(guest.Channel())
	if err := work.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	rounds, stop := make(chan error, 1), make(chan struct{})
	go func() { rounds <- roundsUntil(ctx, work, stop) }()
	begin := time.Now()
	for range restarts {
		g.guard.Restart()
	}
	took := time.Since(begin)
	close(stop)
	if err := <-rounds; err != nil {
		t.Fatal(err)
	}
	if err := work.Stop(); err != nil {
		t.Fatal(err)
	}
	if end, err := guest.Wait(ctx); err != nil || !end.Clean() {
		t.Errorf("the guest ended: %s, %v", end, err)
	}
	g.end()
	text, err := os.ReadFile(guest.Console())
	if err != nil || strings.Contains(string(text), "I/O error") {
		t.Errorf("the guest has seen an error: %v\n%s", err, text)
	}
	t.Logf("%d kills and %d stops in %v, commits %v", g.guard.Kills, g.guard.Stops,
		took.Round(time.Second), g.guard.Commits())
	for _, fs := range disks {
		p := work.Progress(fs)
		if p.ReadOnly || p.Failed != "" || p.Synced == 0 {
			t.Errorf("%s: %+v", fs, p)
		}
		t.Logf("%s: %d rounds", fs, p.Synced)
		guardtest.MustBeClean(t, fs, filepath.Join(g.dir, fs))
		g.verify(fs)
	}
}

// wantedRestarts returns the number in $FSWARD_RESTARTS, by default 100.
func wantedRestarts(t *testing.T) int {
	t.Helper()
	restarts := 100
	if s := os.Getenv("FSWARD_RESTARTS"); s != "" {
		if _, err := fmt.Sscan(s, &restarts); err != nil {
			t.Fatal(err)
		}
	}
	return restarts
}

// roundsUntil lets the guest work round after round until stop is closed.
func roundsUntil(ctx context.Context, work *vm.Workload, stop <-chan struct{}) error {
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		if err := work.Go(ctx, 1, ""); err != nil {
			return err
		}
	}
}

// start starts the guard and the proxy of disks: their names, each with its raw image.
func (g *restartedGuest) start(disks ...string) {
	g.Helper()
	fsward := buildFsward(g.T)
	guard := filepath.Join(g.dir, "guard.sock")
	g.socket = filepath.Join(g.dir, "proxy.sock")
	args := []string{"--disk-format", "raw"}
	proxy := []string{"proxy", "--guard", "unix:" + guard, "--listen", "unix:" + g.socket}
	for i := 0; i < len(disks); i += 2 {
		args = append(args, "--disk", disks[i]+"="+disks[i+1])
		proxy = append(proxy, "--disk", disks[i])
	}
	g.guard = guardtest.StartActivated(g.T, fsward, guardtest.Seed(g.T), guard, args...)
	g.proxy = exec.Command(fsward, proxy...)
	g.proxy.Stderr = os.Stderr
	if err := g.proxy.Start(); err != nil {
		g.Fatal(err)
	}
	g.Cleanup(func() {
		_ = g.proxy.Process.Kill()
		_ = g.proxy.Wait()
	})
}

// boot starts the guest.
func (g *restartedGuest) boot(ctx context.Context, cfg vm.Config) *vm.Domain {
	g.Helper()
	host, err := vm.Connect(ctx, filepath.Join(g.dir, "run"),
		zaptest.NewLogger(g, zaptest.Level(zap.WarnLevel)))
	if err != nil {
		g.Fatal(err)
	}
	g.Cleanup(func() {
		if err := host.Close(); err != nil {
			g.Error(err)
		}
	})
	cfg.Console = filepath.Join(g.dir, "console")
	guest, err := host.Start(ctx, cfg)
	if err != nil {
		g.Fatal(err)
	}
	return guest
}

// end ends the proxy and the guard, in this order.
func (g *restartedGuest) end() {
	g.Helper()
	_ = g.proxy.Process.Signal(syscall.SIGTERM)
	if err := g.proxy.Wait(); err != nil {
		g.Errorf("the proxy ended: %v", err)
	}
	g.guard.Stop()
}

// verify mounts an image without a guard, and compares the files of each round with their
// checksums.
func (g *restartedGuest) verify(fs string) {
	g.Helper()
	at := g.TempDir()
	guardtest.Run(g.T, "mount", "-t", fs, "-o", "loop,ro", filepath.Join(g.dir, fs), at)
	defer guardtest.Run(g.T, "umount", at)
	guardtest.Run(g.T, "sh", "-ec",
		`cd "$1"; for sums in round-*/SUMS; do md5sum -c --quiet "$sums"; done`, "sh", at)
}
