package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"fsward/dev/guestcheck"
	"fsward/explore/ekm"
	"fsward/explore/ramdisk"
)

// An operation uses a newly mounted file system with the file parent/file.
type operation struct {
	name string
	run  func(dir string) error
}

func readDir(dir string) error {
	_, err := os.ReadDir(filepath.Join(dir, "parent"))
	return err
}

// mountBtrfs mounts the second disk. The mount reads the superblock through the page cache.
func mountBtrfs(string) error {
	return guestcheck.Mounted("btrfs", "/dev/fswrd1", "", func(string) error { return nil })
}

func mkdir(dir string) error { return unix.Mkdir(filepath.Join(dir, "parent", "child"), 0o755) }

func readFile(dir string) error {
	b, err := os.ReadFile(filepath.Join(dir, "parent", "file"))
	if err == nil && string(b) != "text" {
		err = fmt.Errorf("the file holds %q, want \"text\"", b)
	}
	return err
}

func write(dir string) error {
	return os.WriteFile(filepath.Join(dir, "parent", "new"), []byte("some text"), 0o600)
}

func writeSync(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, "parent", "file"), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteString("changed"); err != nil {
		return err
	}
	return f.Sync()
}

// A pointTrial makes a choice point fail at one call site during an operation.
type pointTrial struct {
	point  ekm.Point
	symbol string // on the stack of the failing call
	op     operation
	want   error  // result of the operation
	fail   uint64 // number of failing hits, from the first on
}

var pointTrials = []pointTrial{
	{ekm.Slab, "ext4_alloc_inode", operation{"mkdir", mkdir}, unix.ENOMEM, 1},
	{ekm.Page, "generic_perform_write", operation{"write", write}, unix.ENOMEM, 1},
	{ekm.BufferRead, "ext4_readdir", operation{"readdir", readDir}, unix.EIO, 1},
	{ekm.PageRead, "btrfs_scan_one_device", operation{"mount of Btrfs", mountBtrfs}, unix.EIO, 1},
	// If the readahead fails, the kernel reads the page when it needs it, which is a second hit.
	{ekm.PageRead, "filemap_read", operation{"read", readFile}, nil, 1},
	{ekm.PageRead, "filemap_read", operation{"read", readFile}, unix.EIO, 2},
	{ekm.UserMemory, "generic_perform_write", operation{"write", write}, unix.EFAULT, 1},
	{ekm.UserMemory, "__x64_sys_mkdirat", operation{"mkdir", mkdir}, unix.EFAULT, 1},
	{ekm.Submit, "ext4_sync_file", operation{"write and fsync", writeSync}, unix.EIO, 1},
	{ekm.End, "ext4_sync_file", operation{"write and fsync", writeSync}, unix.EIO, 1},
}

// checkPoints counts the hits of each choice point, makes it fail, and checks that it fails only in
// threads of the checked system.
func checkPoints(c *ekm.Control) error {
	d, err := makeDisk("ext3")
	if err != nil {
		return err
	}
	if err := guestcheck.Mounted("ext3", d.Path(), "", func(dir string) error {
		if err := os.Mkdir(filepath.Join(dir, "parent"), 0o755); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, "parent", "file"), []byte("text"), 0o600)
	}); err != nil {
		return err
	}
	if err := d.Snapshot("base"); err != nil {
		return err
	}
	rd, err := ramdisk.Open()
	if err != nil {
		return err
	}
	defer rd.Close()
	second, err := rd.Make(1, 128<<20)
	if err != nil {
		return err
	}
	if err := guestcheck.Mkfs("btrfs", second.Path()); err != nil {
		return err
	}
	for _, t := range pointTrials {
		if err := t.run(c, d); err != nil {
			return fmt.Errorf("%v: %w", t.point, err)
		}
	}
	if err := c.Set(ekm.Call, ekm.On, ekm.Limit{}); !errors.Is(err, unix.EINVAL) {
		return errors.Join(errors.New("to set a point that cannot be set does not fail with EINVAL"), err)
	}
	return d.Drop("base")
}

// run does the operation three times: with the point counted, with the point failing, and with the
// point on in a thread that is not a member.
func (t *pointTrial) run(c *ekm.Control, d *ramdisk.Disk) error {
	var counted, failed, foreign ekm.PointStat
	counting, err := t.once(c, d, ekm.Count, true, &counted)
	if err != nil {
		return err
	}
	if counting != nil || counted.Functions == 0 || counted.Hits == 0 || counted.Failed != 0 {
		return fmt.Errorf("counted: %s ends with %s; %+v",
			t.op.name, guestcheck.Outcome(counting), counted)
	}
	failing, err := t.once(c, d, ekm.On, true, &failed)
	if err != nil {
		return err
	}
	taken, err := c.Taken()
	if err != nil {
		return err
	}
	if !errors.Is(failing, t.want) || failed.Failed != t.fail || len(taken) == 0 ||
		taken[0].Value != 1 || taken[0].Point != t.point {
		return fmt.Errorf("%s ends with %s, want %s; %+v, %+v", t.op.name,
			guestcheck.Outcome(failing), guestcheck.Outcome(t.want), failed, taken)
	}
	other, err := t.once(c, d, ekm.On, false, &foreign)
	if err != nil {
		return err
	}
	if other != nil || foreign.Hits != 0 || foreign.Foreign == 0 {
		return fmt.Errorf("in a thread that is not a member: %s ends with %s; %+v",
			t.op.name, guestcheck.Outcome(other), foreign)
	}
	guestcheck.Fact("points", "%v, %d functions, %d hits under %q in %s, %d elsewhere, %d exempt,"+
		" %d foreign, %d in interrupts; %d fail, the first at %s: %v",
		t.point, counted.Functions, counted.Hits, t.symbol, t.op.name, counted.Elsewhere,
		counted.Exempt, counted.Foreign, counted.Interrupts, t.fail, taken[0].Site, failing)
	return nil
}

// once restores the disk and does the operation with the point in a mode and the first choices
// failing. member says whether the thread is a member of the checked system. result is the error of
// the operation.
func (t *pointTrial) once(c *ekm.Control, d *ramdisk.Disk, mode ekm.Mode, member bool,
	stat *ekm.PointStat) (result, err error) {
	if _, err := d.Restore("base"); err != nil {
		return nil, err
	}
	err = guestcheck.Mounted("ext3", d.Path(), "", func(dir string) error {
		run := func() error {
			if err := errors.Join(c.Load(slices.Repeat([]uint32{1}, int(t.fail))), c.Start(),
				c.Set(t.point, mode, ekm.Limit{Symbol: t.symbol})); err != nil {
				return err
			}
			result = t.op.run(dir)
			var err error
			*stat, err = c.Stat(t.point)
			return errors.Join(err, c.Set(t.point, ekm.Off, ekm.Limit{}))
		}
		if member {
			return asMember(c, run)
		}
		return run()
	})
	return result, err
}
