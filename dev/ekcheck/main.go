// Command ekcheck checks the kernel module fsw_ekm in a guest, with disks of fsw_ramdisk. Each
// check drives the module through explore/ekm. Package guestcheck runs the checks and reports their
// results. Start reading at main.
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
	small = guestcheck.Module{Name: "fsw_ekm", Params: "log_mib=1"}
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
		{Name: "overflow", Modules: []guestcheck.Module{small}, Run: with(checkOverflow)},
	})
}

// with returns a function that opens the module's control device and runs a check with it.
func with(run func(c *ekm.Control) error) func() error {
	return func() error {
		c, err := ekm.Open()
		if err != nil {
			return err
		}
		return errors.Join(run(c), c.Close())
	}
}

// asMember calls do in a thread that is a member of the checked system. The other threads of this
// process are not members.
func asMember(c *ekm.Control, do func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pid := uint32(unix.Gettid())
	if err := c.AddThread(pid); err != nil {
		return err
	}
	return errors.Join(do(), c.RemoveMember(pid))
}

// makeDisk makes the RAM disk 0 of 128 MiB with a file system.
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

// watch makes the module log the events of a disk, and returns the number of its device.
func watch(c *ekm.Control, d *ramdisk.Disk) (dev uint32, err error) {
	var stat unix.Stat_t
	if err := unix.Stat(d.Path(), &stat); err != nil {
		return 0, fmt.Errorf("%s: %w", d.Path(), err)
	}
	dev = ekm.Device(stat.Rdev)
	return dev, c.Watch(dev, true)
}
