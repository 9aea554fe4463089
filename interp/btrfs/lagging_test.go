package btrfs

import (
	"testing"

	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// TestFlushedDisks checks which disks count as flushed in the running transaction. In a step, b and
// s are a metadata block and a superblock on a disk, f its flush, and c a commit that is refused.
func TestFlushedDisks(t *testing.T) {
	for _, tc := range []struct {
		name, steps string
		want        [2]bool
	}{
		{"nothing was written", "f0 f1", [2]bool{}},
		{"the kernel flushes all disks", "b0 b1 f0 f1", [2]bool{true, true}},
		{"although one has no block", "b0 f1 f0", [2]bool{true, true}},
		{"btrfs-progs flush one disk", "b1 f1", [2]bool{false, true}},
		{"a flush of the former superblock", "b0 f0 s0 f0 b1 f1", [2]bool{false, true}},
		{"blocks of the former transaction", "b1 f1 s1 f1 b0 f0 s0 f0 b1 f1", [2]bool{false, true}},
		{"a refused commit", "b1 f1 c1 b0 f0", [2]bool{true, false}},
		{"a flush before the first block", "f0 b1 f1", [2]bool{false, true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var f flushedDisks
			for i := 0; i < len(tc.steps); i += 3 {
				start := interp.Address(int(tc.steps[i+1]-'0'), 0)
				p := pendingWrite{metadata: true,
					write: &interp.Write{Off: start + 1<<24, Len: 16384}}
				switch tc.steps[i] {
				case 'f':
					f.flushed(start)
					continue
				case 's', 'c':
					p.write = &interp.Write{Off: start + ondisk.SuperOffset, Len: ondisk.SuperSize}
				}
				if tc.steps[i] == 'c' {
					p.next.commit = &judgment{}
				}
				f.settled(&p, tc.steps[i] != 'c')
				trial := pendingWrite{metadata: true, write: &interp.Write{Off: start, Len: 1, Trial: true}}
				f.settled(&trial, false)
			}
			if got := [2]bool{f.has(0), f.has(interp.Address(1, 0))}; got != tc.want {
				t.Errorf("after %s: %v, want %v", tc.steps, got, tc.want)
			}
		})
	}
}
