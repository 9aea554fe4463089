package detect_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"fsward/blocktap"
	"fsward/interp"
	"fsward/interp/detect"
)

// TestReasonStays checks that a volume with a feature that is not supported has the feature as its
// reason after any write near the end of the volume, and that no write gives it another one.
func TestReasonStays(t *testing.T) {
	image := filepath.Join(t.TempDir(), "ext3.img")
	out, err := exec.Command("/sbin/mke2fs", "-q", "-t", "ext3", "-b", "1024", "-O",
		"stable_inodes,^resize_inode", image, "8M").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	disk, err := blocktap.OpenFile(image, blocktap.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = disk.Close() }()
	v, err := detect.FollowVolumes(disk, detect.VolumeOptions{FS: detect.Auto})
	if err != nil {
		t.Fatal(err)
	}
	const want = "ext3: stable_inodes (compat flag 0x800) is not supported"
	if got := v.State(0).Reason; got != want {
		t.Fatalf("the reason at first: %q, want %q", got, want)
	}
	size := disk.Size()
	for _, w := range []interp.Write{
		{Off: size - 4096, Len: 4096, Data: make([]byte, 4096)},
		{Off: size - 4096, Len: 4096}, // a discard
		{Off: 20 << 10, Len: 1024, Data: make([]byte, 1024)},
	} {
		obs := v.Observe(w)
		if obs.Note != "" {
			t.Errorf("a write to %d: %s", w.Off, obs.Note)
		}
		v.Settle(true)
		if got := v.State(0).Reason; got != want {
			t.Errorf("the reason after a write to %d: %q, want %q", w.Off, got, want)
		}
	}
}
