package guard_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/zap"

	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/interp/detect"
)

// TestCostOfManyVolumes guards a disk with hundreds of file systems. What the guard asks for each
// of them, when it begins a check of its baseline, must not grow with the number of the others.
func TestCostOfManyVolumes(t *testing.T) {
	const n, times = 400, 1000
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
	defer disks.Close()
	if got := len(disks.Status()); got != n {
		t.Fatalf("%d volumes, want %d", got, n)
	}
	begin := time.Now()
	for range times {
		for i := range n {
			if own := disks.VolumesOf(1 + i); own != 1 {
				t.Fatalf("the file system on volume %d has %d volumes", 1+i, own)
			}
		}
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("%d times the volumes of %d file systems took %v", times, n, took)
	}
}
