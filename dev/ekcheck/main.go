// Command ekcheck tries fsw_ekm in a guest, with the disks of fsw_ramdisk: see dev/guestcheck.
package main

import (
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"fsward/dev/guestcheck"
	"fsward/explore/ekm"
	"fsward/explore/ramdisk"
)

var (
	disks = guestcheck.Module{Name: "fsw_ramdisk"}
	ours  = guestcheck.Module{Name: "fsw_ekm", Params: "log_mib=64"}
	both  = []guestcheck.Module{disks, ours}
)

func main() {
	guestcheck.Main([]guestcheck.Check{
		{Name: "choose", Modules: []guestcheck.Module{ours}, Run: with(checkChoose)},
		{Name: "module", Modules: []guestcheck.Module{ours}, Run: with(checkModule)},
		{Name: "slab", Modules: both, Run: with(checkSlab)},
		{Name: "points", Modules: both, Run: with(checkPoints)},
		{Name: "writes-ext2", Modules: both, Run: with(writesOf("ext2"))},
		{Name: "writes-ext3", Modules: both, Run: with(writesOf("ext3"))},
		{Name: "writes-ext4", Modules: both, Run: with(writesOf("ext4"))},
		{Name: "writes-btrfs", Modules: both, Run: with(writesOf("btrfs"))},
		{Name: "calls", Modules: both, Run: with(checkCalls)},
		{Name: "threads", Modules: both, Run: with(checkThreads)},
		{Name: "rates", Modules: both, Run: with(checkRates)},
		{Name: "cycles", Run: checkCycles},
		{Name: "overflow", Modules: []guestcheck.Module{{Name: "fsw_ekm", Params: "log_mib=1"}}, Run: with(checkOverflow)},
	})
}

// with opens the module for a check.
func with(run func(c *ekm.Control) error) func() error {
	return func() error {
		c, err := ekm.Open()
		if err != nil {
			return err
		}
		return errors.Join(run(c), c.Close())
	}
}

// asMember does something in a thread that belongs to the checked system, and no other of this process.
func asMember(c *ekm.Control, do func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pid := uint32(unix.Gettid())
	if err := c.AddThread(pid); err != nil {
		return err
	}
	return errors.Join(do(), c.RemoveMember(pid))
}

// makeDisk makes a disk with a file system.
func makeDisk(fs string) (*ramdisk.Disk, error) {
	rd, err := ramdisk.Open()
	if err != nil {
		return nil, err
	}
	d, err := rd.Make(0, 128<<20)
	if err != nil {
		return nil, err
	}
	return d, guestcheck.Mkfs(fs, d.Path())
}

// watch has the module log what happens to a disk.
func watch(c *ekm.Control, d *ramdisk.Disk) (dev uint32, err error) {
	var stat unix.Stat_t
	if err := unix.Stat(d.Path(), &stat); err != nil {
		return 0, fmt.Errorf("%s: %w", d.Path(), err)
	}
	dev = ekm.Device(stat.Rdev)
	return dev, c.Watch(dev, true)
}
