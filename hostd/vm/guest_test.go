//go:build vmtest

package vm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"
	"libvirt.org/go/libvirt"
)

func TestGuestWorkload(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	kernel, initramfs := guestFiles(t)
	dir := shortDir(t)
	bImage, bDisk := serve(t, dir, "btrfs", 512)
	eImage, eDisk := serve(t, dir, "ext3", 256)
	h := connect(ctx, t, filepath.Join(dir, "run"))

	var log transcript
	begin := time.Now()
	d, err := h.Start(ctx, Config{Name: "fsward-test", Kernel: kernel, Initramfs: initramfs,
		// found by serial, not by order
		Cmdline: "quiet fsward.btrfs=btrfs fsward.ext3=ext3", Disks: []Disk{eDisk, bDisk},
		Console: filepath.Join(dir, "console"), OnLine: log.add, Channel: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Start(ctx, d.cfg); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("a second guest of the same name: %v", err)
	}
	const rounds = 8
	ready, ran := workRounds(ctx, t, d, rounds)
	if _, ok := log.when("FSWARD: end 0"); !ok {
		t.Errorf("the guest did not say that all went well; %s", d.where())
	}
	log.healthy(t)
	boot, _ := log.when("FSWARD: boot")
	t.Logf("boot %.1f s, file systems made %.1f s later, %.1f rounds/s of both, initramfs %d KiB",
		boot.Sub(begin).Seconds(), ready.Sub(boot).Seconds(), (rounds-1)/ran.Seconds(), size(t,
			initramfs)>>10)

	clean(t, "btrfs", "check", bImage)
	clean(t, "e2fsck", "-fn", eImage)

	// A second boot finds the synced files; asked for more rounds than there were, it names the
	// missing files.
	verify := Config{Name: "fsward-test", Kernel: kernel, Initramfs: initramfs,
		Disks: []Disk{bDisk, eDisk}, Console: filepath.Join(dir, "verify")}
	verifyRounds(ctx, t, h, verify, rounds,
		"FSWARD: intact btrfs 8", "FSWARD: intact ext3 8", "FSWARD: end 0")
	verifyRounds(ctx, t, h, verify, rounds+1,
		"FSWARD: lost btrfs 9", "FSWARD: lost ext3 9", "FSWARD: end 1")
}

// workRounds runs rounds of the workload on both file systems, the last one after a suspension, and
// powers the guest off. It returns when the workload was ready, and how long all rounds but the
// last took.
func workRounds(ctx context.Context, t *testing.T, d *Domain, rounds int) (
	ready time.Time, ran time.Duration) {
	t.Helper()
	w := NewWorkload(d.Channel())
	if err := w.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	ready = time.Now()
	if err := w.Go(ctx, rounds-1, ""); err != nil {
		t.Fatal(err)
	}
	ran = time.Since(ready)
	if err := d.Suspend(); err != nil {
		t.Error(err)
	}
	if err := d.Resume(); err != nil {
		t.Error(err)
	}
	for _, fs := range []string{"btrfs", "ext3"} {
		if err := w.Go(ctx, 1, fs); err != nil {
			t.Fatal(err)
		}
		if p := w.Progress(fs); p != (Progress{Synced: rounds}) {
			t.Errorf("%s after %d rounds: %+v", fs, rounds, p)
		}
	}
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
	end, err := d.Wait(ctx)
	if err != nil || !end.Clean() {
		t.Fatalf("the guest ended with %v, %v; %s", end, err, d.where())
	}
	return ready, ran
}

// verifyRounds boots a guest that looks for the files of so many rounds on both file systems, and
// checks that it prints each wanted line.
func verifyRounds(ctx context.Context, t *testing.T, h *Host, cfg Config, rounds int,
	want ...string) {
	t.Helper()
	var log transcript
	cfg.OnLine = log.add
	cfg.Cmdline = fmt.Sprintf(
		"quiet fsward.script=verify fsward.btrfs_synced=%d fsward.ext3_synced=%d", rounds, rounds)
	d, err := h.Start(ctx, cfg)
	if err == nil {
		_, err = d.Wait(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range want {
		if _, ok := log.when(line); !ok {
			t.Errorf("verify up to round %d: no line %q; %s", rounds, line, d.where())
		}
	}
}

// A server that holds a write must not delay Suspend and Resume.
func TestGuestSuspendWhileWriteIsHeld(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	kernel, initramfs := guestFiles(t)
	dir := shortDir(t)
	disk := Disk{NBDSocket: filepath.Join(dir, "slow.nbd"), Export: "slow", Serial: "ext3"}
	image := filepath.Join(dir, "slow.img")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, 64<<20); err != nil {
		t.Fatal(err)
	}
	start(t, disk.NBDSocket, "nbdkit", "nbdkit", "-f", "-U", disk.NBDSocket, "--filter=delay", "file",
		image, "wdelay=6")
	h := connect(ctx, t, filepath.Join(dir, "run"))
	booted := make(chan struct{}, 8)
	d, err := h.Start(ctx, Config{Name: "fsward-held", Kernel: kernel, Initramfs: initramfs,
		Cmdline: "quiet fsward.ext3=ext3 fsward.btrfs=none",
		Disks:   []Disk{disk}, Console: filepath.Join(dir, "console"), OnLine: func(s string) {
			if strings.Contains(s, "FSWARD: boot") {
				booted <- struct{}{}
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-booted:
	case <-ctx.Done():
		t.Fatal(d.where())
	}
	time.Sleep(2 * time.Second) // mkfs writes by now, and each write takes six seconds
	found, err := Find(ctx, h.URI(), d.Name(), zaptest.NewLogger(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, guest := range map[string]*pauser{"by its own host": &d.pauser,
		"found by name": &found.pauser} {
		t.Run(name, func(t *testing.T) { suspendHeld(ctx, t, d, guest) })
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// suspendHeld suspends and resumes a guest that has a write in flight for some seconds. Between two
// writes libvirt answers at once, and the guest is suspended again.
func suspendHeld(ctx context.Context, t *testing.T, d *Domain, guest *pauser) {
	var begin time.Time
	var answered chan struct{}
	for try, held := 1, false; !held; try++ {
		begin = time.Now()
		if err := guest.suspend(); err != nil {
			t.Fatal(err)
		}
		answered = guest.answered
		select {
		case <-answered:
			if try == 5 {
				t.Fatal("libvirt has answered each time: no write was held")
			}
			if err := guest.resume(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Second)
		default:
			held = true
		}
	}
	took := time.Since(begin)
	if err := guest.resume(); err != nil {
		t.Fatal(err)
	}
	if time.Since(begin) > 2*time.Second {
		t.Errorf("Suspend and Resume took %v with a write held", time.Since(begin))
	}
	t.Logf("Suspend took %v", took)
	// When the write is done the guest runs again: it does not stay suspended.
	select {
	case <-answered:
	case <-ctx.Done():
		t.Fatal("the suspension never ended; " + d.where())
	}
	for begin := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		info, err := d.dom.GetInfo()
		if err != nil {
			t.Fatal(err)
		}
		if info.State == libvirt.DOMAIN_RUNNING {
			break
		}
		if time.Since(begin) > 20*time.Second {
			t.Fatalf("the guest stays in state %d", info.State)
		}
	}
}

// A guest whose writes fail goes read-only, keeps what it had synced, and powers off in order.
func TestGuestGoesReadOnly(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	kernel, initramfs := guestFiles(t)
	dir := shortDir(t)
	trigger := filepath.Join(dir, "fail")
	image, disks := serveFailing(t, dir, trigger)
	h := connect(ctx, t, filepath.Join(dir, "run"))
	boot := func(cmdline string, channel bool) (*Domain, *transcript) {
		log := new(transcript)
		d, err := h.Start(ctx, Config{Name: "fsward-eio", Kernel: kernel, Initramfs: initramfs,
			Cmdline: "quiet " + cmdline,
			Disks:   disks, Console: filepath.Join(dir, fmt.Sprintf("console-%t",
				channel)), OnLine: log.add, Channel: channel})
		if err != nil {
			t.Fatal(err)
		}
		return d, log
	}
	d, log := boot("", true)
	w := NewWorkload(d.Channel())
	if err := w.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	if err := w.Go(ctx, 3, ""); err != nil {
		t.Fatal(err)
	}
	flushesArrived(t, dir)
	if err := os.WriteFile(trigger, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.Go(ctx, 1, "btrfs"); err != nil {
		t.Fatal(err)
	}
	if err := w.Go(ctx, 2, ""); err != nil {
		t.Fatal(err)
	}
	stopReadOnly(ctx, t, d, w)
	if _, ok := log.when("FSWARD: end 0"); !ok {
		t.Errorf("the guest did not end in order; %s", d.where())
	}
	if err := os.Remove(trigger); err != nil {
		t.Fatal(err)
	}
	d, log = boot("fsward.script=verify fsward.btrfs_synced=3 fsward.ext3_synced=3", false)
	if _, err := d.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"FSWARD: intact btrfs 3", "FSWARD: intact ext3 3"} {
		if _, ok := log.when(line); !ok {
			t.Errorf("no line %q; %s", line, d.where())
		}
	}
	log.healthy(t)
	clean(t, "btrfs", "check", image["btrfs"])
	clean(t, "e2fsck", "-fn", image["ext3"]) // its journal is replayed by now
}

// stopReadOnly checks that both file systems are read-only after three rounds, and powers the guest
// off.
func stopReadOnly(ctx context.Context, t *testing.T, d *Domain, w *Workload) {
	t.Helper()
	for _, fs := range []string{"btrfs", "ext3"} {
		if p := w.Progress(fs); p != (Progress{Synced: 3, ReadOnly: true}) {
			t.Errorf("%s after its writes failed: %+v", fs, p)
		}
	}
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
	if end, err := d.Wait(ctx); err != nil || !end.Clean() {
		t.Fatalf("the guest ended with %v, %v", end, err)
	}
}

// serveFailing serves a disk for each file system. All writes to the disks fail while the file
// trigger exists. It returns the path of each file system's image.
func serveFailing(t *testing.T, dir, trigger string) (image map[string]string, disks []Disk) {
	t.Helper()
	image = map[string]string{}
	for _, fs := range []string{"btrfs", "ext3"} {
		image[fs] = filepath.Join(dir, fs+".img")
		if err := os.WriteFile(image[fs], nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(image[fs], 256<<20); err != nil {
			t.Fatal(err)
		}
		disk := Disk{NBDSocket: filepath.Join(dir, fs+".nbd"), Export: fs, Serial: fs}
		start(t, disk.NBDSocket, "nbdkit", "nbdkit", "-f", "-U", disk.NBDSocket, "--filter=log",
			"--filter=error", "file", image[fs],
			"logfile="+filepath.Join(dir, fs+".log"),
			"error-pwrite=EIO", "error-pwrite-rate=100%", "error-pwrite-file="+trigger)
		disks = append(disks, disk)
	}
	return image, disks
}

// flushesArrived checks that the guest's flushes and discards pass through QEMU, after three
// rounds.
func flushesArrived(t *testing.T, dir string) {
	t.Helper()
	for _, fs := range []string{"btrfs", "ext3"} {
		b, err := os.ReadFile(filepath.Join(dir, fs+".log"))
		if err != nil {
			t.Fatal(err)
		}
		f, d := strings.Count(string(b), " Flush id="), strings.Count(string(b), " Trim id=")
		if f < 9 || d < 1 {
			t.Errorf("%s: %d flushes and %d trims for 3 rounds of 3 syncs and a mkfs", fs, f, d)
		}
	}
}

// A kernel that panics ends the guest at once, and is distinguished from one that powers off.
func TestGuestPanics(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	kernel, initramfs := guestFiles(t)
	dir := shortDir(t)
	h := connect(ctx, t, filepath.Join(dir, "run"))
	d, err := h.Start(ctx, Config{Name: "fsward-panic", Kernel: kernel, Initramfs: initramfs,
		Cmdline: "quiet rdinit=/nothing",
		Console: filepath.Join(dir, "console")})
	if err != nil {
		t.Fatal(err)
	}
	if end, err := d.Wait(ctx); err != nil || end.Clean() || !end.Panic ||
		end.String() != "kernel panic" {
		t.Errorf("the guest ended with %+v, %v", end, err)
	}
}
