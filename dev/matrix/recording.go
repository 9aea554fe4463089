// Package matrix draws the corruption matrix. Each cell is one corruption of one field in a commit
// that a kernel made. The matrix compares three answers for each cell: fsward's verdict about the
// commit, the report of the file system's own checker about the resulting image, and whether Linux
// mounts that image. Start reading at Run.
package matrix

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/blocktap/fuse/loopmount"
	"fsward/blocktap/trace"
	"fsward/dev/load"
	"fsward/hostd/offline"
)

// A Variant is a file system to record: its options, its disks and its workload.
type Variant struct {
	Name   string
	Mkfs   []string // options of mkfs
	Mount  []string // options of mount
	Script string   // workload; $DISK0, $DISK1, … are its block devices
	Log    bool     // alter log commits, which Linux replays after a crash
	Disks  int      // number of disks of the new file system; 0 selects 1
	Spare  int      // number of further blank disks
	Stages []int    // nil selects those of the format
}

// several reports whether the variant has several disks. Such a variant gets cells of all objects,
// also if other variants have them.
func (v *Variant) several() bool { return v.Disks > 1 }

// A recording is a recorded variant: its disks before the workload, and a log of the writes to each
// disk.
type recording struct {
	format  *format
	variant Variant
	disks   []offline.ReplayDisk
}

// name returns the path of a file of disk i of a recording.
func (v *Variant) name(dir string, i int, suffix string) string {
	if v.several() {
		suffix = fmt.Sprintf("%d.%s", i, suffix)
	}
	return filepath.Join(dir, v.Name+"."+suffix)
}

// record returns the recording of a variant in a directory, and makes it if it does not exist.
func (f *format) record(ctx context.Context, dir string, v Variant) (rec recording, err error) {
	v.Disks = max(v.Disks, 1)
	rec.format, rec.variant = f, v
	for i := range v.Disks + v.Spare {
		rec.disks = append(rec.disks, offline.ReplayDisk{Name: fmt.Sprintf("disk%d", i),
			Base: v.name(dir, i, "base.img"), Log: v.name(dir, i, "log")})
	}
	done := filepath.Join(dir, v.Name+".done")
	if _, err := os.Stat(done); err == nil {
		return rec, nil
	}
	var bases, work []string
	for i, d := range rec.disks {
		if err := errors.Join(load.Blank(d.Base, f.size), os.RemoveAll(d.Log)); err != nil {
			return rec, err
		}
		bases, work = append(bases, d.Base), append(work, v.name(dir, i, "img"))
	}
	mkfs := slices.Concat(f.mkfs, v.Mkfs, bases[:v.Disks])
	if err := run(ctx, mkfs[0], mkfs[1:]...); err != nil {
		return rec, err
	}
	for i := range work {
		defer os.Remove(work[i])
		if err := run(ctx, "cp", "--sparse=always", bases[i], work[i]); err != nil {
			return rec, err
		}
	}
	if err := recordWorkload(ctx, work, rec); err != nil {
		return rec, fmt.Errorf("recording %s: %w", v.Name, err)
	}
	sound, err := newScratch(ctx, dir, work)
	if err != nil {
		return rec, err
	}
	check, err := f.ask(ctx, sound.disks)
	if err = errors.Join(err, sound.close()); err != nil {
		return rec, err
	}
	if check.Reports() {
		return rec, fmt.Errorf("the recorded file system is not clean: %s %s: %s", f.checker,
			check.Verdict, check.Message)
	}
	return rec, os.WriteFile(done, nil, 0o600)
}

// recordWorkload runs the workload on images with the host's kernel and records its writes.
func recordWorkload(ctx context.Context, images []string, rec recording) (err error) {
	var logs []*trace.Writer
	var devices []*blocktap.Device
	var loops []*loopmount.Loop
	// The interval is longer than the script runs, so that only the script commits.
	options, names := append(slices.Clone(rec.variant.Mount), "commit=300"), ""
	for i, image := range images {
		disk, err := blocktap.OpenFile(image, blocktap.FileOptions{})
		if err != nil {
			return err
		}
		defer disk.Close()
		log, err := trace.Create(rec.disks[i].Log)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, log.Close()) }()
		device := blocktap.NewDevice(disk, nil)
		device.Record(log)
		logs, devices = append(logs, log), append(devices, device)
	}
	blocktap.TakeTurns(devices...)
	trace.Together(logs...)
	for i, device := range devices {
		loop, err := loopmount.Attach(ctx, device, zap.NewNop())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, loop.Close()) }()
		if i > 0 {
			// the unmount comes before this loop device closes
			defer func() { err = errors.Join(err, loops[0].Unmount()) }()
		}
		if i > 0 && i < rec.variant.Disks {
			options = append(options, "device="+loop.LoopDev)
		}
		loops, names = append(loops, loop), fmt.Sprintf("%sDISK%d=%s\n", names, i, loop.LoopDev)
	}
	if err := loops[0].Mount(rec.format.name, options...); err != nil {
		return err
	}
	if _, err := loops[0].Run(ctx, names+rec.variant.Script); err != nil {
		return err
	}
	return loops[0].Unmount()
}

// A stage is one recorded commit: the images of the disks before its transaction, the requests of
// the transaction, and the images after it.
type stage struct {
	format  *format
	variant string
	number  int // of the commit, from the end of the log
	before  []string
	after   []string
	txn     *offline.Transaction
	log     bool // it ends with a log commit
}

// saveStages writes the disks of each stage of a recording as images to a directory, and returns
// the stages.
func saveStages(ctx context.Context, dir string, rec recording) ([]*stage, error) {
	each := offline.EachTransaction
	if rec.variant.Log {
		each = offline.EachLogTransaction
	}
	numbers := rec.format.stages
	if rec.variant.Stages != nil {
		numbers = rec.variant.Stages
	}
	last := 0
	err := each(ctx, rec.disks, rec.format.name, func(t *offline.Transaction) error {
		last = max(last, t.Commit)
		return nil
	})
	if err != nil {
		return nil, err
	}
	images := func(commit int) (paths []string) {
		for i := range rec.disks {
			paths = append(paths, rec.variant.name(dir, i, fmt.Sprintf("%d.img", commit)))
		}
		return paths
	}
	var out []*stage
	err = each(ctx, rec.disks, rec.format.name, func(t *offline.Transaction) error {
		for _, n := range numbers {
			if t.Commit != 0 && t.Commit+n-1 == last || t.Commit+n == last {
				for i, path := range images(t.Commit) {
					if err := saveImage(path, t.Disks.Disks[i]); err != nil {
						return err
					}
				}
				if t.Commit+n-1 == last && t.Log == rec.variant.Log {
					out = append(out, &stage{format: rec.format, variant: rec.variant.Name, number: n,
						after: images(t.Commit), txn: t, log: t.Log, before: images(t.Commit - 1)})
				}
			}
		}
		return nil
	})
	return out, err
}

// saveImage writes the contents of a disk to a sparse file.
func saveImage(path string, disk blocktap.Disk) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	f, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	defer f.Close()
	piece, zero := make([]byte, 64<<10), make([]byte, 64<<10)
	for off := uint64(0); off < disk.Size(); off += uint64(len(piece)) {
		if _, err := disk.ReadAt(piece, int64(off)); err != nil {
			return err
		}
		if bytes.Equal(piece, zero) {
			continue
		}
		if _, err := f.WriteAt(piece, int64(off)); err != nil {
			return err
		}
	}
	if err := f.Truncate(int64(disk.Size())); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// run runs a program in bounded time.
func run(ctx context.Context, name string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}
