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

// An operation is one on a file system that was just mounted, and holds parent/file.
type operation struct {
	name string
	run  func(dir string) error
}

func readDir(dir string) error {
	_, err := os.ReadDir(filepath.Join(dir, "parent"))
	return err
}

// mountBtrfs reads the superblock through the page cache of the second disk.
func mountBtrfs(string) error {
	return guestcheck.Mounted("btrfs", "/dev/fswrd1", "", func(string) error { return nil })
}

func mkdir(dir string) error { return unix.Mkdir(filepath.Join(dir, "parent", "child"), 0o755) }

func readFile(dir string) error {
	b, err := os.ReadFile(filepath.Join(dir, "parent", "file"))
	if err == nil && string(b) != "text" {
		err = fmt.Errorf("the file holds %q", b)
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

// pointTrials say where a point is to fail, and what the program is told then.
var pointTrials = []struct {
	point  ekm.Point
	symbol string // on the stack of what fails
	op     operation
	want   error
	fail   uint64 // how many hits, from the first on
}{
	{ekm.Slab, "ext4_alloc_inode", operation{"mkdir", mkdir}, unix.ENOMEM, 1},
	{ekm.Page, "generic_perform_write", operation{"write", write}, unix.ENOMEM, 1},
	{ekm.BufferRead, "ext4_readdir", operation{"readdir", readDir}, unix.EIO, 1},
	{ekm.PageRead, "btrfs_scan_one_device", operation{"mount of Btrfs", mountBtrfs}, unix.EIO, 1},
	// What is not read ahead is read when it is needed, and that may fail too.
	{ekm.PageRead, "filemap_read", operation{"read", readFile}, nil, 1},
	{ekm.PageRead, "filemap_read", operation{"read", readFile}, unix.EIO, 2},
	{ekm.UserMemory, "generic_perform_write", operation{"write", write}, unix.EFAULT, 1},
	{ekm.UserMemory, "__x64_sys_mkdirat", operation{"mkdir", mkdir}, unix.EFAULT, 1},
	{ekm.Submit, "ext4_sync_file", operation{"write and fsync", writeSync}, unix.EIO, 1},
	{ekm.End, "ext4_sync_file", operation{"write and fsync", writeSync}, unix.EIO, 1},
}

// checkPoints has each point of the kernel counted, and made to fail: by a thread of the checked system alone.
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
		limit := ekm.Limit{Symbol: t.symbol}
		var counted, failed, foreign ekm.PointStat
		var taken []ekm.Choice
		counting, err := pointOnce(c, d, t.point, ekm.Count, limit, t.op, true, t.fail, &counted)
		if err != nil {
			return fmt.Errorf("%v: %w", t.point, err)
		}
		if counting != nil || counted.Functions == 0 || counted.Hits == 0 || counted.Failed != 0 {
			return fmt.Errorf("%v, counted: %s ends with %s; %+v", t.point, t.op.name, guestcheck.Said(counting), counted)
		}
		failing, err := pointOnce(c, d, t.point, ekm.On, limit, t.op, true, t.fail, &failed)
		if err != nil {
			return fmt.Errorf("%v: %w", t.point, err)
		}
		if taken, err = c.Taken(); err != nil {
			return err
		}
		if !errors.Is(failing, t.want) || failed.Failed != t.fail || len(taken) == 0 || taken[0].Value != 1 || taken[0].Point != t.point {
			return fmt.Errorf("%v: %s ends with %s, want %s; %+v, %+v", t.point, t.op.name, guestcheck.Said(failing), guestcheck.Said(t.want),
				failed, taken)
		}
		other, err := pointOnce(c, d, t.point, ekm.On, limit, t.op, false, t.fail, &foreign)
		if err != nil {
			return fmt.Errorf("%v: %w", t.point, err)
		}
		if other != nil || foreign.Hits != 0 || foreign.Foreign == 0 {
			return fmt.Errorf("%v, of a thread that is no member: %s ends with %s; %+v", t.point, t.op.name, guestcheck.Said(other), foreign)
		}
		guestcheck.Fact("points", "%v, %d functions, %d hits under %q in %s, %d elsewhere, %d exempt, %d foreign, %d in interrupts; "+
			"%d fail, the first at %s: %v", t.point, counted.Functions, counted.Hits, t.symbol, t.op.name, counted.Elsewhere, counted.Exempt, counted.Foreign, counted.Interrupts,
			t.fail, taken[0].Site, failing)
	}
	if err := c.Set(ekm.Call, ekm.On, ekm.Limit{}); !errors.Is(err, unix.EINVAL) {
		return errors.Join(errors.New("a point that cannot be set is not refused as it should be"), err)
	}
	return d.Drop("base")
}

// pointOnce runs an operation on the disk as it was, with a point switched on, and the first choices failing.
func pointOnce(c *ekm.Control, d *ramdisk.Disk, p ekm.Point, mode ekm.Mode, limit ekm.Limit, op operation, member bool, fail uint64,
	stat *ekm.PointStat) (result, err error) {
	if _, err := d.Restore("base"); err != nil {
		return nil, err
	}
	err = guestcheck.Mounted("ext3", d.Path(), "", func(dir string) error {
		run := func() error {
			if err := errors.Join(c.Load(slices.Repeat([]uint32{1}, int(fail))), c.Start(), c.Set(p, mode, limit)); err != nil {
				return err
			}
			result = op.run(dir)
			var err error
			*stat, err = c.Stat(p)
			return errors.Join(err, c.Set(p, ekm.Off, ekm.Limit{}))
		}
		if member {
			return asMember(c, run)
		}
		return run()
	})
	return result, err
}
