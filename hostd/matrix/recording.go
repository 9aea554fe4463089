// Package matrix draws the corruption matrix: for each object, field and kind of corruption, what fsward
// says of a commit that carries it, what `btrfs check` says of the image had the commit gone through,
// and whether Linux can mount that.
package matrix

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/blocktap/fuse/loopmount"
	"fsward/blocktap/trace"
	"fsward/hostd"
)

// imageSize is that of every file system of the matrix: small, so that a cell is judged quickly.
const imageSize = 320 << 20

// A Variant is a file system whose commits are altered.
type Variant struct {
	Name   string
	Mkfs   []string // options of mkfs.btrfs
	Mount  []string // options of mount
	Script string   // what happens to it
	Log    bool     // log commits are altered, as Linux finds them after a crash
}

// Variants have between them every kind of object that the host's kernel makes on one device.
var Variants = []Variant{
	{Name: "default", Script: "quota=1\n" + workload},
	{Name: "old", Mkfs: []string{"-n", "4096", "-m", "single", "-O", "^no-holes,^skinny-metadata", "-R", "^free-space-tree"},
		Mount: []string{"space_cache=v1"}, Script: "quota=0\n" + workload},
	{Name: "mixed", Mkfs: []string{"--mixed", "-n", "4096"}, Script: "quota=1\n" + workload},
	{Name: "log", Script: logWorkload, Log: true},
}

// logWorkload leaves a log with all that logs have: names that came and went, links, attributes, files of several
// extents, compressed, preallocated, without checksums, in two subvolumes.
const logWorkload = `
	btrfs -q subvolume create volume
	mkdir dir; for i in 1 2 3 4; do echo $i > dir/old$i; head -c 30000 /dev/urandom > dir/data$i; done
	echo many > dir/links; for i in $(seq 90); do ln dir/links dir/$(head -c 200 /dev/zero | tr '\0' n)$i; done
	sync -f .
	head -c 20000 /dev/urandom > dir/new; dd if=/dev/urandom of=dir/new bs=4k seek=9 count=4 conv=notrunc status=none; sync dir/new
	dd if=/dev/urandom of=dir/data1 bs=4k seek=2 count=2 conv=notrunc status=none; sync dir/data1
	ln dir/new dir/link; setfattr -n user.a -v value dir/new; ln -s new dir/soft; sync dir/new dir
	fallocate -l 1M dir/prealloc; dd if=/dev/urandom of=dir/prealloc bs=4k seek=9 count=2 conv=notrunc status=none; sync dir/prealloc
	touch dir/nocow; chattr +C dir/nocow; head -c 9000 /dev/urandom > dir/nocow; sync dir/nocow
	touch dir/compressed; btrfs property set dir/compressed compression zstd; head -c 200000 /dev/zero | tr '\0' c > dir/compressed; sync dir/compressed
	ln dir/links dir/$(head -c 200 /dev/zero | tr '\0' m); sync dir/links
	head -c 9000 /dev/urandom > volume/file; sync volume/file
	rm dir/old1 dir/old2; mv dir/old3 dir/moved; echo small > dir/small; sync dir/small dir
	truncate -s 10000 dir/data2; sync dir/data2`

// workload brings up a file system of some depth, and then makes four commits in which as much as
// possible changes: one of a snapshot, one after it, one of deletions, one of small things.
const workload = `
	long=$(head -c 200 /dev/zero | tr '\0' n)
	files() { # DIR NUMBER: files of every kind
		mkdir -p $1/sub
		echo $2 > $1/inline
		head -c 30000 /dev/urandom > $1/regular
		touch $1/compressed; btrfs property set $1/compressed compression zstd
		head -c 200000 /dev/zero | tr '\0' c > $1/compressed
		fallocate -l 1M $1/prealloc; head -c 20000 /dev/urandom | dd of=$1/prealloc bs=4k seek=9 conv=notrunc status=none
		truncate -s 3M $1/sparse; head -c 9000 /dev/urandom | dd of=$1/sparse bs=4k seek=200 conv=notrunc status=none
		cp --reflink=always $1/regular $1/reflinked
		touch $1/nocow; chattr +C $1/nocow; head -c 50000 /dev/urandom > $1/nocow
		ln $1/inline $1/sub/link; ln -s ../inline $1/sub/soft; mkfifo $1/pipe; mknod $1/null c 1 3
		setfattr -n user.fsward -v "value $2" $1/inline
		setfattr -n user.large -v "$(head -c 900 /dev/zero | tr '\0' x)" $1/regular
	}
	[ $quota = 0 ] || btrfs -q quota enable .
	btrfs -q subvolume create volume
	btrfs -q subvolume create volume/inner
	for i in 1 2 3 4 5 6 7 8; do files tree/d$i $i; files volume/d$i $i; done
	for i in $(seq 400); do echo $i > volume/d1/small$i; done
	mkdir links; echo many > links/many; for i in $(seq 90); do ln links/many links/$long$i; done
	btrfs -q subvolume snapshot volume first
	sync -f .
	# 1: a snapshot is a commit by itself, with all that came before it. The file of 90 MiB makes new chunks.
	files tree/e1 9; files volume/e1 9; for i in 1 2 3; do echo $i >> volume/d$i/inline; rm volume/d$i/regular; done
	fallocate -l 90M big
	for i in $(seq 20); do ln links/many links/more$long$i; done
	btrfs -q subvolume create fresh; files fresh/d 1
	[ $quota = 0 ] || btrfs qgroup limit 200M fresh
	btrfs -q subvolume snapshot -r volume second
	# 2: what two trees share is written by one of them.
	for i in 4 5 6 7 8; do echo $i >> volume/d$i/inline; head -c 9000 /dev/urandom | dd of=volume/d$i/regular bs=4k conv=notrunc status=none; done
	files volume/f1 1; files tree/f1 1; mv tree/d1/sub tree/d2/moved
	btrfs -q filesystem resize -8M .
	sync -f .
	# 3: deletions, and a file that is open without a name.
	rm -r tree/d3 volume/d3 big; for i in $(seq 30); do rm links/more$long$((i % 20 + 1)) || true; done 2> /dev/null
	btrfs -q subvolume delete first
	exec 9> volume/open; echo held >&9; rm volume/open
	sync -f .
	# 4: little.
	echo x >> tree/d5/inline; touch volume/d5/regular; files tree/g1 1; mkdir volume/new
	sync -f .
	exec 9>&-`

// stages are the commits of the workload that are altered, from its end: the last one before unmount
// is 1.
var stages = []int{5, 4, 3, 2}

// A recording is a variant as it was recorded: its image before, and the log of what was written to it.
type recording struct {
	variant   Variant
	base, log string
}

// record returns the recording of a variant in a directory, which is made if it is not there.
func record(ctx context.Context, dir string, v Variant) (rec recording, err error) {
	rec = recording{v, filepath.Join(dir, v.Name+".base.img"), filepath.Join(dir, v.Name+".log")}
	done := filepath.Join(dir, v.Name+".done")
	if _, err := os.Stat(done); err == nil {
		return rec, nil
	}
	for _, f := range []string{rec.base, rec.log} {
		if err := os.RemoveAll(f); err != nil {
			return rec, err
		}
	}
	if err := os.WriteFile(rec.base, nil, 0o600); err != nil {
		return rec, err
	}
	if err := os.Truncate(rec.base, imageSize); err != nil {
		return rec, err
	}
	if _, err := run(ctx, "mkfs.btrfs", append(append([]string{"-q", "-f"}, v.Mkfs...), rec.base)...); err != nil {
		return rec, err
	}
	work := filepath.Join(dir, v.Name+".img")
	defer os.Remove(work)
	if _, err := run(ctx, "cp", "--sparse=always", rec.base, work); err != nil {
		return rec, err
	}
	if err := recordWorkload(ctx, work, rec.log, v); err != nil {
		return rec, fmt.Errorf("recording %s: %w", v.Name, err)
	}
	if out, err := run(ctx, "btrfs", "check", work); err != nil {
		return rec, fmt.Errorf("the recorded file system is not clean: %w\n%s", err, out)
	}
	return rec, os.WriteFile(done, nil, 0o600)
}

// recordWorkload lets the host's kernel work on an image and records its writes.
func recordWorkload(ctx context.Context, image, log string, v Variant) (err error) {
	disk, err := blocktap.OpenFile(image, blocktap.FileOptions{})
	if err != nil {
		return err
	}
	defer disk.Close()
	tape, err := trace.Create(log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tape.Close()) }()
	device := blocktap.NewDevice(disk, nil)
	device.Record(tape)
	loop, err := loopmount.Attach(ctx, device, zap.NewNop())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, loop.Close()) }()
	if err := loop.Mount("btrfs", v.Mount...); err != nil {
		return err
	}
	if _, err := loop.Run(ctx, v.Script); err != nil {
		return err
	}
	return loop.Unmount()
}

// A stage is one recorded commit: the image before its transaction, the requests, and the image after.
type stage struct {
	variant string
	number  int // of the commit, from the end of the log
	before  string
	after   string
	txn     *hostd.Transaction
	log     bool // it ends with a log commit
}

// cut makes the stages of a recording as images in a directory.
func cut(ctx context.Context, dir string, rec recording) ([]*stage, error) {
	each := hostd.EachTransaction
	if rec.variant.Log {
		each = hostd.EachLogTransaction
	}
	last := 0
	err := each(ctx, rec.base, rec.log, "btrfs", func(t *hostd.Transaction) error {
		last = max(last, t.Commit)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []*stage
	err = each(ctx, rec.base, rec.log, "btrfs", func(t *hostd.Transaction) error {
		for _, n := range stages {
			if t.Commit != 0 && t.Commit+n-1 == last || t.Commit+n == last {
				name := filepath.Join(dir, fmt.Sprintf("%s.%d.img", rec.variant.Name, t.Commit))
				if err := saveImage(name, t.Disk); err != nil {
					return err
				}
				if t.Commit+n-1 == last && t.Log == rec.variant.Log {
					out = append(out, &stage{variant: rec.variant.Name, number: n, after: name, txn: t, log: t.Log,
						before: filepath.Join(dir, fmt.Sprintf("%s.%d.img", rec.variant.Name, t.Commit-1))})
				}
			}
		}
		return nil
	})
	return out, err
}

// saveImage writes what a disk holds to a sparse file.
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
func run(ctx context.Context, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return out, fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return out, nil
}
