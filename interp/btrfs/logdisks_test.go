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
)

// pair is a file system on two disks that the host's kernel uses through loop devices, and what was
// shown of them.
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
		_ = exec.Command("losetup", "--detach", loop).Run()
	}
	p.loops = nil
}

// changed returns what was written since it was last asked, superblocks apart.
func (p *pair) changed() (blocks, supers []interp.Write) {
	for i, k := range p.disks {
		k.show(func(w interp.Write) {
			k.disk.apply(w)
			super := w.Off == primary || w.Off == mirror
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

// Power is cut when the superblock of a log commit is on one of two disks. A mount goes by the disk
// with the lowest devid: if the log commit is not there it is as if it had not been, and its blocks
// may be written over.
func TestLogOnSomeDisks(t *testing.T) {
	for _, tc := range []struct {
		name  string
		on    int  // the disk that the second log commit has reached
		first bool // there is one before
	}{
		{"on device 1", 0, true}, {"on device 2", 1, true}, {"on device 2, no log before", 1, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			made := madeImages(t, 2, "-d", "raid1", "-m", "raid1")
			p := &pair{t: t, mnt: filepath.Join(t.TempDir(), "mnt")}
			must(t, os.Mkdir(p.mnt, 0o755))
			for i := range p.disks {
				p.disks[i] = &kernel{t: t, image: made[i], disk: newSparseDisk(deviceSize)}
			}
			p.mount()
			t.Cleanup(p.unmount)
			must(t, writeFile(filepath.Join(p.mnt, "committed"), 5000))
			run(t, "btrfs", "filesystem", "sync", p.mnt)
			p.changed()
			attached := []*sparseDisk{p.disks[0].disk.clone(), p.disks[1].disk.clone()}
			f := followSet(t, setOf(t, attached[0], attached[1]))
			seen := func(writes []interp.Write) (points []interp.Point) {
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
					attached[disk].apply(w)
					f.Settle(true)
				}
				return points
			}
			fsync := func(name string) (blocks, supers []interp.Write) {
				must(t, writeFile(filepath.Join(p.mnt, name), 3000))
				run(t, "sync", filepath.Join(p.mnt, name))
				return p.changed()
			}

			if tc.first {
				blocks, supers := fsync("first")
				if points := append(seen(blocks), seen(supers)...); !slices.Equal(points, []interp.Point{interp.LogPoint}) {
					t.Fatalf("the first log commit: %v", points)
				}
			}
			blocks, supers := fsync("second")
			if points := append(seen(blocks), seen(supers[tc.on:][:1])...); !slices.Equal(points, []interp.Point{interp.LogPoint}) {
				t.Fatalf("the second log commit: %v", points)
			}
			p.unmount()
			for i, k := range p.disks {
				k.disk = attached[i].clone() // what there was when the power went
				writePages(t, k)
			}

			p.mount()
			_, first := os.Stat(filepath.Join(p.mnt, "first"))
			_, second := os.Stat(filepath.Join(p.mnt, "second"))
			if (first == nil) != tc.first || (second == nil) != (tc.on == 0) {
				t.Fatalf("after the mount: %v, %v", first, second)
			}
			if !tc.first { // so much that it needs the blocks of the log again
				for i := range 400 {
					must(t, writeFile(filepath.Join(p.mnt, fmt.Sprint(i)), 1500))
				}
				run(t, "btrfs", "filesystem", "sync", p.mnt)
			}
			blocks, supers = p.changed()
			// What stands on the first device is what is followed, so that it may be written again.
			again := interp.Write{Off: primary, Len: 4096, Data: make([]byte, 4096)}
			_, _ = attached[0].ReadAt(again.Data, primary)
			if points := seen(slices.Insert(blocks[:1:1], 1, again)); len(points) > 0 {
				t.Errorf("a superblock that is written again: %v", points)
			}
			if points := append(seen(blocks[1:]), seen(supers)...); !slices.Equal(points, []interp.Point{interp.CommitPoint}) {
				t.Errorf("after the mount: %v, want one commit", points)
			}
		})
	}
}

// writePages makes the image of a kernel's disk what the disk in memory is.
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
