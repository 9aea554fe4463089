package btrfs_test

import (
	"errors"
	"strings"
	"testing"

	"fsward/interp"
	"fsward/interp/btrfs"
	"fsward/interp/btrfs/ondisk"
)

// TestLostDevices leaves out disks of file systems of mkfs. With as many as every chunk tolerates,
// the file system is sound, and Lost names the devices; with more it is an
// *interp.MissingDiskError.
func TestLostDevices(t *testing.T) {
	for _, tc := range []struct {
		disks, lost int
		options     string
		fails       string // a part of the error; "" if the file system can do without the disks
	}{
		{2, 1, "-d raid1 -m raid1", ""},
		{3, 1, "-d raid1 -m raid1", ""}, // the third may have no chunk
		{4, 3, "-d raid1c4 -m raid1c4", ""},
		{4, 1, "-d raid10 -m raid10", ""},
		{3, 1, "-d raid5 -m raid5 -n 4096", ""},
		{5, 1, "-d raid6 -m raid6 -n 65536", ""},
		{5, 2, "-d raid6 -m raid6", "can do without 1"},
		{2, 1, "-d raid0 -m raid1", "can do without 0"},
		{4, 2, "-d raid10 -m raid10", "can do without 1"},
	} {
		disks := madeSet(t, tc.disks, strings.Fields(tc.options)...)
		for _, first := range []int{0, tc.disks - 1} { // of those that are lost
			var left []interp.Disk
			for i, d := range disks {
				if (i-first+tc.disks)%tc.disks >= tc.lost {
					left = append(left, d)
				}
			}
			set := setOf(t, left...)
			fs, err := btrfs.NewDegraded(set, 0, interp.Limits{})
			obs, imageErr := btrfs.ImageWith(set, interp.ImageOptions{Degraded: true})
			if tc.fails != "" {
				var missing *interp.MissingDiskError
				if !errors.As(err, &missing) || !strings.Contains(err.Error(), tc.fails) ||
					!errors.As(imageErr, &missing) {
					t.Errorf("%s without %d from %d on: %v, %v", tc.options, tc.lost, first, err, imageErr)
				}
				continue
			}
			if err != nil || imageErr != nil || obs.Txn == nil {
				t.Fatalf("%s without %d from %d on: %v, %v, %+v", tc.options, tc.lost, first, err, imageErr,
					obs)
			}
			lost := fs.Lost()
			if strings.Count(lost, "uuid") != tc.lost || !strings.Contains(obs.Note, lost) {
				t.Errorf("%s without %d from %d on: lost are %s", tc.options, tc.lost, first, lost)
			}
			if first > 0 {
				continue // the records are the same
			}
			if vs := check(t, builtin(t), obs.Txn, obs.View); len(vs) > 0 {
				t.Errorf("%s without %d: false alarm: %v", tc.options, tc.lost, vs)
			}
		}
	}
}

// TestLostDeviceHidesNothing damages the one copy that is left of a leaf.
func TestLostDeviceHidesNothing(t *testing.T) {
	left := madeSet(t, 2, "-d", "raid1", "-m", "raid1")[1].(*sparseDisk)
	damaged := 0
	for _, at := range blocks(left) {
		b := make([]byte, nodeSize)
		_, _ = left.ReadAt(b, at)
		if get64(b, ondisk.HeaderOwnerAt) == ondisk.FSTreeID {
			b[nodeSize-1] ^= 1
			_, _ = left.WriteAt(b, at)
			damaged++
		}
	}
	if damaged == 0 {
		t.Fatal("no leaf of the file tree on the second disk")
	}
	obs, err := btrfs.ImageWith(left, interp.ImageOptions{Degraded: true})
	if err != nil || len(obs.Violations) == 0 || obs.Violations[0].Rule != "btrfs/csum" {
		t.Errorf("%v %+v", err, obs.Violations)
	}
}
