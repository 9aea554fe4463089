//go:build vmtest

package host

import (
	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/ramdisk"
	"fsward/explore/spec"
)

// plants are the bugs, and at the end the controls without a bug: one for each way of exploration.
// docs/results/planted.md has the results.
var plants = []plant{
	// Below: the disk.
	{bug: "flushes are dropped", checker: "sync", rules: always(ramdisk.DropFlush, 0),
		byDefault: true},
	{bug: "every second flush is dropped", checker: "sync", run: spec.Run{Depth: 2},
		rules: secondFlushes()},
	{bug: "a write goes past the flush after it", checker: "sync", records: pastFlush},
	{bug: "FUA is ignored", checker: "sync", records: noFUA},
	{bug: "only the first sector of a write is written", checker: "sync",
		rules: always(ramdisk.Tear, 1, ramdisk.Write)},
	{bug: "one write is lost and reported as done", checker: "sync", rules: lostWrite(8)},
	{bug: "flushes are dropped", checker: "sync", account: true, rules: always(ramdisk.DropFlush, 0)},
	{bug: "FUA is ignored", checker: "sync", account: true, records: noFUA},
	{bug: "one write is lost and reported as done", checker: "sync", account: true,
		rules: lostWrite(8), byDefault: true},
	{bug: "a failed write is reported as done", checker: "silent", ops: unreported,
		by: "flush accounting"},
	{bug: "nobarrier on a disk with a cache", checker: "sync", mount: "nobarrier"},

	// Mounts, unmounts and recovery.
	{bug: "nothing is journaled", checker: "sync", ops: mounted(0, "noload")},
	{bug: "metadata is written before its data", checker: "reasonable", run: spec.Run{Depth: 2},
		ops: mounted(0, "data=writeback")},
	{bug: "-o sync is ignored", checker: "sync", mount: "sync", ops: mounted(unix.MS_SYNCHRONOUS, "")},
	{bug: "-o dirsync is ignored", checker: "sync", mount: "dirsync",
		ops: mounted(unix.MS_DIRSYNC, "")},
	{bug: "the journal is discarded, not replayed", checker: "sync", recover: forgetJournal},
	{bug: "recovery does not flush", checker: "sync", run: spec.Run{Recovery: true},
		recovery: always(ramdisk.DropFlush, 0)},
	{bug: "recovery loses a write", checker: "sync", run: spec.Run{Verify: true},
		recovery: lostWrite(3)},
	{bug: "recovery leaves a wrong bitmap", checker: "sync", run: spec.Run{Verify: true},
		spoil: wrongBitmap, by: "fsck", byDefault: true},
	{bug: "recovery removes files that were never synced", checker: "reasonable",
		run: spec.Run{Verify: true, NoCommits: true}, recover: emptied, by: "fsck", byDefault: true},
	{bug: "an unmount does not flush", checker: "unmount", ops: unflushedUnmount},
	{bug: "a mount leaves another mount behind", checker: "sync", ops: leaving("/tmp", 1),
		by: "kernel"},
	{bug: "a mount leaves objects in the kernel", checker: "leaks", ops: leaving("/tmp", 1)},

	// Memory of the kernel.
	{bug: "every tenth mount leaves objects in the kernel", checker: "leaks",
		ops: leaving("/tmp", 10)},
	{bug: "255 bytes are lost at each link", checker: "leaks", run: spec.Run{Depth: 2},
		module: "symbol=vfs_link"},
	{bug: "255 bytes are lost at every tenth link", checker: "leaks", run: spec.Run{Depth: 2},
		module: "symbol=vfs_link every=10"},
	{bug: "a page is lost at each chmod", checker: "leaks", run: spec.Run{Depth: 2},
		module: "symbol=chmod_common kind=page"},
	{bug: "an area of vmalloc is lost at each chmod", checker: "leaks", run: spec.Run{Depth: 2},
		module: "symbol=chmod_common kind=vmalloc"},
	{bug: "255 bytes are lost when a creation fails", checker: "leaks-failures",
		module: "symbol=ext4_orphan_add"},

	// Calls that promise durability.
	{bug: "sync does nothing", checker: "sync", ops: not(agent.Sync())},
	{bug: "syncfs does nothing", checker: "sync", ops: not(agent.Syncfs(0))},
	{bug: "fsync does nothing", checker: "sync", ops: not(agent.Fsync(0))},
	{bug: "fsync returns early", checker: "sync", ops: earlyFsync, byDefault: true},
	{bug: "fsync of directories does nothing", checker: "sync", ops: noDirFsync},
	{bug: "fdatasync does nothing", checker: "sync", run: spec.Run{Depth: 2},
		ops: not(agent.Fdatasync(0))},
	{bug: "O_SYNC is ignored", checker: "sync", run: spec.Run{Depth: 2}, ops: without(unix.O_SYNC)},
	{bug: "O_DSYNC is ignored", checker: "sync", run: spec.Run{Depth: 2}, ops: without(unix.O_DSYNC)},
	{bug: "fsync of a file that was renamed does nothing", checker: "sync", run: spec.Run{Depth: 3},
		ops: noRenamedFsync},
	{bug: "the end of a write comes after its fsync", checker: "sync", run: spec.Run{Depth: 2},
		ops: lateTail, result: wholeWrite},

	// The contents of a transaction, and atomicity.
	{bug: "a rename is not journaled with the operations after it", checker: "sync",
		run: spec.Run{Depth: 2}, ops: delay(agent.Rename("", "", 0))},
	{bug: "an unlink is not journaled with the operations after it", checker: "sync",
		run: spec.Run{Depth: 2}, ops: delay(agent.Unlink(""))},
	{bug: "a chmod is not journaled with the operations after it", checker: "sync",
		run: spec.Run{Depth: 2}, ops: delay(agent.Chmod("", 0))},
	{bug: "a rename in two steps", checker: "reasonable", run: spec.Run{Depth: 2}, ops: inSteps},

	// Single calls.
	{bug: "a rename takes effect and reports an error", checker: "failed-syscalls",
		run: spec.Run{Depth: 2}, result: says(agent.Rename("", "", 0), unix.ENOSPC), byDefault: true},
	{bug: "an unlink does nothing and reports success", checker: "failed-syscalls",
		run: spec.Run{Depth: 2}, ops: not(agent.Unlink(""))},
	{bug: "a truncation does nothing and reports success", checker: "failed-syscalls",
		run: spec.Run{Depth: 2}, ops: not(agent.Ftruncate(0, 0))},
	{bug: "a rename makes the kernel panic", checker: "failed-syscalls", run: spec.Run{Depth: 2},
		ops: panics(agent.Rename("", "", 0)), by: "kernel"},
	{bug: "a chmod sets another bit", checker: "failed-syscalls", run: spec.Run{Depth: 2},
		ops: otherMode},

	// Bugs of times, and bugs that need longer sequences of operations.
	{bug: "the twentieth flush is dropped", checker: "sync", rules: twentiethFlush, missed: true},
	{bug: "a write sets the times of its file back", checker: "unmount", run: spec.Run{Depth: 2},
		ops: oldTimes, result: wholeWrite},

	// The checker silent has no control. It finds that syncfs of stock ext3 does not report a failure.
	{checker: "sync", byDefault: true},
	{checker: "sync", account: true},
	{checker: "sync", run: spec.Run{Depth: 3}, runs: 240},
	{checker: "sync", mount: "sync"},
	{checker: "sync", mount: "dirsync"},
	{checker: "sync", run: spec.Run{Recovery: true, Verify: true}},
	{checker: "reasonable", run: spec.Run{Depth: 2}, runs: 40},
	{checker: "unmount", run: spec.Run{Depth: 2}},
	{checker: "leaks", runs: 2},
	{checker: "leaks-failures", runs: 8},
	{checker: "failed-syscalls", run: spec.Run{Depth: 2}},
}
