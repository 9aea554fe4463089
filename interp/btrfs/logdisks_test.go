package btrfs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fsward/interp"
	"fsward/interp/btrfs"
)

// A pair is a file system on two disks that the host's kernel uses through loop devices.
type pair struct {
	t     *testing.T
	disks [2]*kernel
	loops []string
	mnt   string
}

func (p *pair) mount() {
	p.t.Helper()
	for _, k := range p.disks {
		out, err := exec.Command("losetup", "--find", "--show", k.image).Output()
		if err != nil {
			p.t.Fatal(err)
		}
		p.loops = append(p.loops, strings.TrimSpace(string(out)))
	}
	run(p.t, "mount", "-o", "commit=300,noatime,device="+p.loops[1], p.loops[0], p.mnt)
}

func (p *pair) unmount() {
	_ = exec.Command("umount", p.mnt).Run()
	for _, loop := range p.loops {
		// The kernel refuses an older state of a device that it remembers by another name.
		_ = exec.Command("btrfs", "device", "scan", "--forget", loop).Run()
		_ = exec.Command("losetup", "--detach", loop).Run()
	}
	p.loops = nil
}

// changed returns the writes since its last call: the blocks, and the superblocks.
func (p *pair) changed() (blocks, supers []interp.Write) {
	for i, k := range p.disks {
		k.show(func(w interp.Write) {
			k.disk.apply(w)
			super := isSuper(w)
			w.Off = interp.Address(i, w.Off)
			if super {
				supers = append(supers, w)
			} else {
				blocks = append(blocks, w)
			}
		})
	}
	return blocks, supers
}

// TestLogOnSomeDisks cuts the power when the superblock of a log commit is on only one of two
// disks. A mount uses the disk with the lowest devid. If the log commit is not on that disk, it
// counts as never written, and its blocks may be overwritten.
func TestLogOnSomeDisks(t *testing.T) {
	for _, tc := range []struct {
		name  string
		on    int  // the disk that has the second log commit
		first bool // an earlier log commit exists
	}{
		{"on device 1", 0, true}, {"on device 2", 1, true}, {"on device 2, no log before", 1, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := startPair(t)
			must(t, writeFile(filepath.Join(p.mnt, "committed"), 5000))
			run(t, "btrfs", "filesystem", "sync", p.mnt)
			p.changed()
			attached := []*sparseDisk{p.disks[0].disk.clone(), p.disks[1].disk.clone()}
			f := followSet(t, setOf(t, attached[0], attached[1]))
			seen := func(writes ...interp.Write) (points []interp.Point) {
				t.Helper()
				return observeAll(t, f, attached, writes)
			}
			oneLogCommit := []interp.Point{interp.LogPoint}
			if tc.first {
				blocks, supers := p.fsync("first")
				points := append(seen(blocks...), seen(supers...)...)
				if !slices.Equal(points, oneLogCommit) {
					t.Fatalf("the first log commit: %v", points)
				}
			}
			blocks, supers := p.fsync("second")
			points := append(seen(blocks...), seen(supers[tc.on])...)
			if !slices.Equal(points, oneLogCommit) {
				t.Fatalf("the second log commit: %v", points)
			}
			p.failPower(attached)
			_, first := os.Stat(filepath.Join(p.mnt, "first"))
			_, second := os.Stat(filepath.Join(p.mnt, "second"))
			if (first == nil) != tc.first || (second == nil) != (tc.on == 0) {
				t.Fatalf("after the mount: %v, %v", first, second)
			}
			if !tc.first { // so many files that the kernel reuses the blocks of the log
				for i := range 400 {
					must(t, writeFile(filepath.Join(p.mnt, fmt.Sprint(i)), 1500))
				}
				run(t, "btrfs", "filesystem", "sync", p.mnt)
			}
			blocks, supers = p.changed()
			// The tracked state is that of the first device, so that its superblock may be repeated.
			again := interp.Write{Off: primary, Len: pageSize, Data: make([]byte, pageSize)}
			_, _ = attached[0].ReadAt(again.Data, primary)
			if points := seen(blocks[0], again); len(points) > 0 {
				t.Errorf("the same superblock again: %v", points)
			}
			points = append(seen(blocks[1:]...), seen(supers...)...)
			if !slices.Equal(points, []interp.Point{interp.CommitPoint}) {
				t.Errorf("after the mount: %v, want one commit", points)
			}
		})
	}
}

// startPair makes and mounts a file system on two disks.
func startPair(t *testing.T) *pair {
	t.Helper()
	made := madeImages(t, 2, "-d", "raid1", "-m", "raid1")
	p := &pair{t: t, mnt: filepath.Join(t.TempDir(), "mnt")}
	must(t, os.Mkdir(p.mnt, 0o755))
	for i := range p.disks {
		p.disks[i] = &kernel{t: t, image: made[i], disk: newSparseDisk(deviceSize)}
	}
	p.mount()
	t.Cleanup(p.unmount)
	return p
}

// failPower replaces the contents of the disks, as a power failure leaves them, and mounts again.
func (p *pair) failPower(disks []*sparseDisk) {
	p.t.Helper()
	p.unmount()
	for i, k := range p.disks {
		k.disk = disks[i].clone()
		writePages(p.t, k)
	}
	p.mount()
}

// fsync writes a file and its log, and returns the writes.
func (p *pair) fsync(name string) (blocks, supers []interp.Write) {
	p.t.Helper()
	must(p.t, writeFile(filepath.Join(p.mnt, name), 3000))
	run(p.t, "sync", filepath.Join(p.mnt, name))
	return p.changed()
}

// observeAll observes writes and applies them to disks. It returns the points of commits and log
// commits.
func observeAll(
	t *testing.T, f *btrfs.FS, disks []*sparseDisk, writes []interp.Write,
) (points []interp.Point) {
	t.Helper()
	for _, w := range writes {
		obs := f.Observe(w)
		if len(obs.Violations) > 0 || obs.Unknown != nil {
			t.Errorf("write at %d: %+v", w.Off, obs)
		}
		if obs.Point != interp.NoPoint {
			points = append(points, obs.Point)
		}
		disk, off := interp.Locate(w.Off)
		w.Off = off
		disks[disk].apply(w)
		f.Settle(true)
	}
	return points
}

// writePages writes the disk in memory to the image of a kernel's disk.
func writePages(t *testing.T, k *kernel) {
	t.Helper()
	out, err := os.OpenFile(k.image, os.O_WRONLY|os.O_TRUNC, 0)
	must(t, err)
	defer out.Close()
	must(t, out.Truncate(deviceSize))
	b := make([]byte, pageSize)
	for page := range k.disk.pages {
		_, _ = k.disk.ReadAt(b, int64(page*pageSize))
		_, err := out.WriteAt(b, int64(page*pageSize))
		must(t, err)
	}
}
