package guard_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"go.uber.org/zap"

	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/interp/detect"
)

// TestVolumesOf guards a disk with many file systems. Each has its own volume alone.
func TestVolumesOf(t *testing.T) {
	const n = 24
	disks := manyVolumes(t, n)
	if got := len(disks.Status()); got != n {
		t.Fatalf("%d volumes, want %d", got, n)
	}
	for i := range n {
		if own := disks.VolumesOf(1 + i); own != 1 {
			t.Errorf("the file system on volume %d has %d volumes", 1+i, own)
		}
	}
}

// BenchmarkVolumesOf measures what the guard asks for a volume when it begins a check of its
// baseline. It must not grow with the number of the others.
func BenchmarkVolumesOf(b *testing.B) {
	for _, n := range []int{25, 400} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			disks := manyVolumes(b, n)
			for i := 0; b.Loop(); i++ {
				disks.VolumesOf(1 + i%n)
			}
		})
	}
}

// manyVolumes guards a disk with so many partitions, each with an ext3.
func manyVolumes(t testing.TB, n int) *guard.Disks {
	image := filepath.Join(t.TempDir(), "disk.img")
	guardtest.Run(t, "sh", "-ec", `cd $(dirname $0)
truncate -s $(($1*2+4))M $0
{ printf 'label: gpt\ntable-length: 512\n'; for i in $(seq $1); do echo size=2M; done; } |
	sfdisk -q $0
truncate -s 2M part; mkfs.ext3 -q -F part
for i in $(seq $1); do
	dd if=part of=$0 bs=64K seek=$((32*i-16)) conv=notrunc,sparse status=none
done`, image, fmt.Sprint(n))
	disks, err := guard.Open(guard.Config{FS: detect.Auto, Verify: true,
		Policies: guard.Policies{OnViolation: guard.OnRefuse},
		Disks:    []guard.DiskSpec{{Name: "disk", Path: image}}}, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disks.Close() })
	return disks
}
