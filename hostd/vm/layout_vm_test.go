//go:build vmtest && layout

package vm

import (
	"context"
	"path/filepath"
	"testing"
	"time"
)

// TestGuestDebianLayout boots a disk that is laid out as Debian's installer does, by EFI and GRUB,
// and checks every volume on it afterwards.
func TestGuestDebianLayout(t *testing.T) {
	kernel, _ := guestFiles(t)
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	dir := shortDir(t)
	image, disk := filepath.Join(dir, "debian.img"), Disk{NBDSocket: filepath.Join(dir, "nbd")}
	clean(t, "sh", "../../guest/debian12.sh", filepath.Dir(kernel), image)
	start(t, disk.NBDSocket, "qemu-utils", "qemu-nbd", "-t", "-f", "raw", "-k", disk.NBDSocket,
		"--discard=unmap", image)
	lines := &transcript{}
	d, err := connect(ctx, t, dir).Start(ctx, Config{Name: "debian", Disks: []Disk{disk}, EFI: true,
		Console: filepath.Join(dir, "console"), OnLine: lines.add})
	if err != nil {
		t.Fatal(err)
	}
	if end, err := d.Wait(ctx); err != nil || !end.Clean() {
		t.Errorf("it ended: %s, %v", end, err)
	}
	lines.healthy(t)
	for _, want := range []string{"FSWARD: round 5 root home boot efi", "FSWARD: end 0"} {
		if _, ok := lines.when(want); !ok {
			t.Errorf("the console has no line %q", want)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	clean(t, "sh", "../../guest/debian12-check.sh", image)
}
