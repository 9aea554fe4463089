package btrfs_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"fsward/interp"
	"fsward/interp/btrfs"
	"fsward/interp/btrfs/ondisk"
)

// parityChunk returns a chunk item of metadata with parity. Its stripes lie alternately on the two
// devices of fuzzed file systems.
func parityChunk(profile uint64, stripes int) []byte {
	const half = 1 << 20 // of the length
	b := make([]byte, ondisk.ChunkSize+(stripes-1)*ondisk.StripeSize)
	put := binary.LittleEndian
	put.PutUint64(b[ondisk.ChunkLengthAt:], 2*half)
	put.PutUint64(b[ondisk.ChunkStripeLenAt:], ondisk.StripeLen)
	put.PutUint64(b[ondisk.ChunkTypeAt:], ondisk.GroupSystem|profile)
	put.PutUint32(b[ondisk.ChunkSectorSizeAt:], 4096)
	put.PutUint16(b[ondisk.ChunkNumStripesAt:], uint16(stripes))
	put.PutUint16(b[ondisk.ChunkSubStripesAt:], 1)
	for i := range stripes {
		at := ondisk.ChunkSize - ondisk.StripeSize + i*ondisk.StripeSize
		put.PutUint64(b[at:], uint64(1+i%2))
		put.PutUint64(b[at+8:], uint64(2+2*i)*half)
	}
	return b
}

// TestParityChunks checks the limits of num_stripes under RAID5 and RAID6
// (btrfs_check_chunk_valid), and that each address leads back to its offset.
func TestParityChunks(t *testing.T) {
	for profile, least := range map[uint64]int{ondisk.GroupRAID5: 2, ondisk.GroupRAID6: 3} {
		for n := 1; n <= 4; n++ {
			err := btrfs.FuzzedChunk(1<<20, parityChunk(profile, n))
			data := n - least + 1
			valid := n >= least && 2<<20%(data*int(ondisk.StripeLen)) == 0
			if (err == nil) != valid {
				t.Errorf("profile %#x with %d stripes: %v", profile, n, err)
			}
		}
	}
}

// TestRebuiltFromParity damages each metadata block of file systems with parity, one at a time. A
// mount reads the block from the other stripes of its row, and so does fsward; a whole image names
// the damage.
func TestRebuiltFromParity(t *testing.T) {
	for _, tc := range []struct {
		disks   int
		options string
	}{
		{2, "-d raid5 -m raid5"}, {4, "-d raid5 -m raid5 -n 4096"}, {5, "-d raid6 -m raid6 -n 65536"},
	} {
		t.Run(fmt.Sprintf("%d %s", tc.disks, tc.options), func(t *testing.T) {
			disks := madeSet(t, tc.disks, strings.Fields(tc.options)...)
			set := setOf(t, disks...)
			sound, err := btrfs.OpenMetadata(set)
			if err != nil {
				t.Fatal(err)
			}
			blocks, err := sound.Blocks(0)
			if err != nil || len(blocks) < 8 {
				t.Fatalf("%d blocks: %v", len(blocks), err)
			}
			for i, n := range blocks {
				addrs, err := sound.Copies(n.Logical())
				if err != nil || len(addrs) != 1 {
					t.Fatalf("block %d is at %d: %v", n.Logical(), addrs, err)
				}
				d, off := interp.Locate(addrs[0])
				disk, ok := disks[d].(*sparseDisk)
				if !ok {
					t.Fatal("the disk is not in memory")
				}
				damage := bytes.Repeat([]byte{0xa5}, 512)
				_, _ = disk.WriteAt(damage, int64(off)+1024)
				mustRebuild(t, set, blocks[i].Bytes(), i)
				_, _ = disk.WriteAt(n.Bytes()[1024:1024+512], int64(off)+1024)
			}
		})
	}
}

// mustRebuild checks that block i of a damaged file system is read, and that a whole image is a
// violation.
func mustRebuild(t *testing.T, d interp.Disk, want []byte, i int) {
	t.Helper()
	m, err := btrfs.OpenMetadata(d)
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := m.Blocks(0)
	if err != nil || !bytes.Equal(blocks[i].Bytes(), want) {
		t.Errorf("block %d is not rebuilt: %v", i, err)
	}
	obs, err := btrfs.Image(d)
	if err != nil || len(obs.Violations) != 1 || obs.Violations[0].Rule != "btrfs/csum" {
		t.Errorf("the image with a damaged block: %v, %v", err, obs.Violations)
	}
}
