package checkers

import (
	"slices"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/model"
	"fsward/explore/ramdisk"
)

// Linux reports a failed write-back once to each descriptor that was open at that time: "Since
// Linux 4.13, errors from write-back will be reported to all file descriptors that might have
// written the data which triggered the error" (fsync(2), EIO); "all file descriptions that were
// open at the time that the error occurred" (Documentation/filesystems/vfs.rst, "Handling errors
// during writeback"). Since Linux 5.8 it also reports it to syncfs(2).

// The descriptors of the step: two of one file, and one of the root directory.
const firstSlot, secondSlot, rootSlot = 0, 1, 2

// tellers are the calls that tell the first descriptor of a failed write-back.
var tellers = []model.Op{
	{Code: model.Fsync, Slot: firstSlot},
	{Code: model.Fdatasync, Slot: firstSlot},
	{Code: model.Msync, Slot: firstSlot, Len: large},
	{Code: model.SyncFileRange, Slot: firstSlot, Len: large, Flags: waitForRange},
}

// tellEach writes a file of which nothing else is left to write, and makes the disk fail the first
// write of teller. If teller reports the error, the second descriptor and the one of the root must
// report it as well.
func (c *Silent) tellEach(e *explore.Env, teller model.Op) error {
	name := c.anyFile()
	before := []model.Op{
		{Code: model.Open, Slot: firstSlot, Path: name, Flags: unix.O_CREAT | unix.O_RDWR, Mode: 0o644},
		{Code: model.Open, Slot: secondSlot, Path: name, Flags: unix.O_RDWR},
		{Code: model.Open, Slot: rootSlot, Path: "/", Flags: unix.O_RDONLY},
		{Code: model.Fsync, Slot: firstSlot},
		{Code: model.Write, Slot: firstSlot, Len: large, Seed: 2},
	}
	told := []model.Op{{Code: model.Fsync, Slot: secondSlot}, {Code: model.Syncfs, Slot: rootSlot}}
	rule := failing([]ramdisk.Op{ramdisk.Write}, 1)
	results, err := e.Try(slices.Concat(c.calls(before),
		[]agent.Op{agent.DiskInject(c.Disk, rule)}, c.calls([]model.Op{teller}),
		[]agent.Op{agent.DiskClear(c.Disk)}, c.calls(told))...)
	if err != nil {
		return err
	}
	c.torn = true
	n := len(before)
	if err := c.checkResults(e, before, results[:n]); err != nil {
		return err
	}
	if results[n+1].Errno == 0 { // it wrote nothing, or did not wait
		return nil
	}
	for i, r := range results[n+3:] {
		if r.Errno == 0 {
			return explore.Failuref("error reported once", "a write to the disk failed, and %v returned "+
				"%s; %v, whose descriptor was open too, returned success", teller,
				unix.ErrnoName(results[n+1].Errno), told[i])
		}
	}
	return nil
}

// anyFile returns the path of a file, or of one that can be made.
func (c *Core) anyFile() string {
	t := c.topology()
	if len(t.files) > 0 {
		return t.files[0]
	}
	return t.free("/")
}
