package ext3

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWhatE2fsckDoesNotRead checks that docs/user/invariants-ext3.md lists what e2fsck does not
// check: copies of the superblock and of the group descriptors, and quota files of a file system
// without ext4's feature quota.
func TestWhatE2fsckDoesNotRead(t *testing.T) {
	image := Mkfs(t, "24M", "-b", "1024")
	quota := filepath.Join(t.TempDir(), "quota")
	if err := os.WriteFile(quota, []byte("no quota file"), 0o600); err != nil {
		t.Fatal(err)
	}
	peer(t, "debugfs", "-w", "-R", "write "+quota+" aquota.user", image)
	b := ReadFile(t, image)
	geo := newFS(t, OpenImage(t, image)).geo
	for g := uint32(1); g < geo.Groups; g++ {
		if geo.HasSuper(g) {
			clear(b[geo.Addr(geo.GroupStart(g)):geo.Addr(geo.GroupStart(g)+1+geo.DescBlocks)])
		}
	}
	if err := os.WriteFile(image, b, 0o600); err != nil {
		t.Fatal(err)
	}
	peer(t, "e2fsck", "-fn", image)
}
