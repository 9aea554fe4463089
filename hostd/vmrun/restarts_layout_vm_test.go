//go:build vmtest && restarts

package vmrun

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fsward/hostd/guardtest"
	"fsward/hostd/vm"
)

// TestGuestRestartsLayout kills the guard of a disk with partitions and logical volumes every few
// seconds, from the boot loader to the power-off. No volume has an error.
func TestGuestRestartsLayout(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	defer cancel()
	g := &restartedGuest{T: t, dir: t.TempDir()}
	image := filepath.Join(g.dir, "debian.img")
	guardtest.Run(t, "sh", "../../guest/debian12.sh", guardtest.BuildGuest(t), image)
	g.start("vda", image)
	guest := g.boot(ctx, vm.Config{Name: "fsward-restarts", EFI: true,
		Disks: []vm.Disk{{NBDSocket: g.socket, Export: "vda", Serial: "vda"}}})
	for running := true; running; {
		select {
		case <-guest.Gone():
			running = false
		case <-time.After(2500 * time.Millisecond):
			g.guard.Kill()
		}
	}
	if end, err := guest.Wait(ctx); err != nil || !end.Clean() {
		t.Errorf("the guest ended: %s, %v", end, err)
	}
	g.end()
	text, err := os.ReadFile(guest.Console())
	if err != nil || strings.Contains(string(text), "I/O error") ||
		!strings.Contains(string(text), "FSWARD: round 8 root home boot efi swap") {
		t.Errorf("the guest has seen an error: %v\n%s", err, text)
	}
	t.Logf("%d kills, commits %v", g.guard.Kills, g.guard.Commits())
	guardtest.Run(t, "sh", "../../guest/debian12-check.sh", image)
}
