package btrfs_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fsward/blocktap"
	"fsward/interp"
	"fsward/interp/btrfs"
	"fsward/interp/btrfs/ondisk"
)

// deviceSize is about the smallest size that mkfs.btrfs accepts for every profile.
const deviceSize = 128 << 20

// madeImages makes a file system on several disks and returns the paths of the images. A file
// system on one disk gets some files.
func madeImages(t testing.TB, disks int, options ...string) []string {
	t.Helper()
	dir := t.TempDir()
	root := filepath.Join(dir, "root")
	must(t, os.Mkdir(root, 0o755))
	for i := range 40 {
		must(t, writeFile(filepath.Join(root, fmt.Sprintf("file%d", i)), 100+i*3000))
	}
	args := append([]string{"-q"}, options...)
	if disks == 1 {
		args = append(args, "-r", root)
	}
	var paths []string
	for i := range disks {
		path := filepath.Join(dir, fmt.Sprintf("disk%d", i))
		must(t, os.WriteFile(path, nil, 0o600))
		must(t, os.Truncate(path, deviceSize))
		paths = append(paths, path)
	}
	run(t, peer(t, "mkfs.btrfs", "btrfs-progs"), append(args, paths...)...)
	return paths
}

// madeSet is madeImages in memory.
func madeSet(t testing.TB, disks int, options ...string) []interp.Disk {
	t.Helper()
	var made []interp.Disk
	for _, path := range madeImages(t, disks, options...) {
		made = append(made, openDisk(t, path))
	}
	return made
}

func setOf(t testing.TB, disks ...interp.Disk) *interp.Set {
	t.Helper()
	s, err := interp.NewSet(disks...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestProfilesAndChecksums checks that Image reads file systems of mkfs with every supported
// checksum and profile, in all copies. They are sound, in whatever order the disks are given.
func TestProfilesAndChecksums(t *testing.T) {
	for _, tc := range []struct {
		disks   int
		options string
	}{
		{1, "--csum xxhash"}, {1, "--csum sha256 -n 4096"}, {1, "--csum blake2 -n 65536"},
		{1, "-M"}, {1, "-d single -m single -n 32768"},
		{2, "-d raid0 -m raid0"}, {2, "-d raid1 -m raid1 --csum xxhash"}, {2, "-d single -m single"},
		{3, "-d raid0 -m raid1c3 -n 4096"}, {4, "-d raid10 -m raid10"},
		{4, "-d raid10 -m raid1c4 --csum blake2"},
		{3, "-d raid0 -m raid0 -n 65536"}, {5, "-d raid10 -m raid10"},
		{3, "-d raid5 -m raid5"}, {2, "-d raid5 -m raid5 -n 4096"}, {4, "-d raid6 -m raid6 -n 65536"},
		{3, "-d raid6 -m raid5 --csum xxhash"},
	} {
		t.Run(fmt.Sprintf("%d %s", tc.disks, tc.options), func(t *testing.T) {
			var disks []interp.Disk
			for _, path := range madeImages(t, tc.disks, strings.Fields(tc.options)...) {
				d, err := blocktap.OpenFile(path, blocktap.FileOptions{ReadOnly: true})
				if err != nil {
					t.Fatal(err)
				}
				defer d.Close()
				disks = append(disks, d)
			}
			for turn := range disks {
				order := slices.Concat(disks[turn:], disks[:turn])
				set := setOf(t, order...)
				if _, err := btrfs.New(set); err != nil {
					t.Fatal(err)
				}
				obs, err := btrfs.Image(set)
				if err != nil || obs.Txn == nil {
					t.Fatalf("%v %+v", err, obs)
				}
				if vs := check(t, builtin(t), obs.Txn, obs.View); len(vs) > 0 {
					t.Errorf("false alarm: %v", vs)
				}
			}
		})
	}
}

// TestMissingDevice checks that the error for a missing disk is an interp.MissingDiskError that
// mentions --disk.
func TestMissingDevice(t *testing.T) {
	disks := madeSet(t, 2, "-d", "raid1", "-m", "raid1")
	for i := range disks {
		var missing *interp.MissingDiskError
		_, err := btrfs.New(disks[i])
		if !errors.As(err, &missing) || !strings.Contains(err.Error(), "--disk") {
			t.Errorf("New: %v", err)
		}
		if _, err := btrfs.Image(disks[i]); !errors.As(err, &missing) {
			t.Errorf("Image: %v", err)
		}
	}
	// The same device on two disks is an error too.
	var unsupported *interp.UnsupportedError
	twice := setOf(t, disks[0], disks[1], disks[1].(*sparseDisk).clone())
	if _, err := btrfs.New(twice); !errors.As(err, &unsupported) {
		t.Errorf("a device on two disks: %v", err)
	}
}

// TestCopiesOnDevicesDiffer checks that a difference between copies on different devices is
// reported.
func TestCopiesOnDevicesDiffer(t *testing.T) {
	disks := madeSet(t, 2, "-d", "raid1", "-m", "raid1", "-n", "16384")
	damaged := 0
	second := disks[1].(*sparseDisk)
	for _, at := range blocks(second) {
		b := make([]byte, nodeSize)
		_, _ = second.ReadAt(b, at)
		if b[ondisk.HeaderLevelAt] != 0 || get64(b, ondisk.HeaderOwnerAt) != ondisk.FSTreeID {
			continue
		}
		b[headAt(itemCount(b))+7] ^= 0xff // the space between the headers and the data is unused
		reseal(b)
		_, _ = second.WriteAt(b, at)
		damaged++
	}
	if damaged == 0 {
		t.Fatal("no leaf of the file tree on the second disk")
	}
	obs, err := btrfs.Image(setOf(t, disks...))
	if err != nil || len(obs.Violations) == 0 || obs.Violations[0].Rule != "btrfs/copies" {
		t.Errorf("%v %+v", err, obs.Violations)
	}
}

// FuzzDevices alters the superblock and a metadata block of the second of two disks, of which the
// first is lost in the end.
func FuzzDevices(f *testing.F) {
	seed := madeSet(f, 2, "-d", "raid1", "-m", "raid1")
	places := blocks(seed[1].(*sparseDisk))
	f.Add([]byte{}, uint8(0), []byte{})
	f.Add([]byte{0, 40, 3}, uint8(1), []byte{0, 21, 4})
	f.Fuzz(func(t *testing.T, sb []byte, block uint8, node []byte) {
		second := seed[1].(*sparseDisk).clone()
		set := setOf(t, seed[0], second)
		fs := followSet(t, set)
		change := func(at int64, size int, edits []byte) {
			b := make([]byte, size)
			_, _ = second.ReadAt(b, at)
			edit(edits)(b)
			reseal(b)
			w := interp.Write{Off: interp.Address(1, uint64(at)), Len: uint64(size), Data: b}
			fs.Observe(w)
			_, _ = second.WriteAt(b, at)
			fs.Settle(true)
		}
		change(places[int(block)%len(places)], nodeSize, node)
		change(primary, 4096, sb)
		if obs, err := btrfs.Image(set); err == nil && obs.Txn != nil {
			lookAround(t, obs.Txn, obs.View)
		}
		if fs, err := btrfs.NewDegraded(second, 0, interp.Limits{}); err == nil && fs.Lost() == "" {
			t.Error("a file system of two devices on one disk lacks nothing")
		}
	})
}

func followSet(t testing.TB, s *interp.Set) *btrfs.FS {
	t.Helper()
	fs, err := btrfs.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return fs
}
