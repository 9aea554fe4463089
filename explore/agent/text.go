package agent

import (
	"fmt"
	"strconv"
	"strings"
)

// opText holds the text of each operation. The verbs stand for its fields: %s, %t and %u for its
// texts, %n for its slot or disk, %a, %b, %c and %e for its numbers, %o for its first number as a
// mode, %x for it as flags, both in octal, and %d for the length of its data.
var opText = [opEnd]string{
	opMkdir:              "mkdir %s %o",
	opRmdir:              "rmdir %s",
	opUnlink:             "unlink %s",
	opRename:             "rename %s %t %a",
	opLink:               "link %s %t",
	opSymlink:            "symlink %s %t",
	opReadlink:           "readlink %s",
	opMknod:              "mknod %s %o %b",
	opChmod:              "chmod %s %o",
	opChown:              "chown %s %a %b",
	opUtimes:             "utimes %s",
	opTruncate:           "truncate %s %a",
	opStat:               "stat %s",
	opSetxattr:           "setxattr %s %t %d",
	opGetxattr:           "getxattr %s %t",
	opRemovexattr:        "removexattr %s %t",
	opListxattr:          "listxattr %s",
	opOpen:               "open %n: %s flags %x",
	opClose:              "close %n:",
	opRead:               "read %n: from %a, %b bytes",
	opWrite:              "write %n: at %a, %d",
	opFill:               "fill %n: at %a, %b bytes, seed %c",
	opFtruncate:          "ftruncate %n: %a",
	opFallocate:          "fallocate %n: mode %a, at %b, %c bytes",
	opDwrite:             "dwrite %n: at %a, %b bytes, seed %c",
	opMmapwrite:          "mmapwrite %n: at %a, %b bytes, seed %c",
	opMmaptail:           "mmap the last page %n: %b bytes behind the end, seed %c",
	opMsync:              "msync %n: from %a, %b bytes",
	opSyncFileRange:      "sync_file_range %n: from %a, %b bytes, flags %c",
	opClone:              "clone %n: at %c, %e bytes of %a: from %b",
	opDedupe:             "dedupe %n: at %c, %e bytes of %a: from %b",
	opLinkat:             "linkat %n: %s",
	opFsync:              "fsync %n:",
	opFdatasync:          "fdatasync %n:",
	opSyncfs:             "syncfs %n:",
	opSync:               "sync",
	opReaddir:            "readdir %s",
	opTree:               "read the tree %s",
	opMount:              "mount %s %t %u options %d",
	opUnmount:            "umount %s",
	opDropCaches:         "drop caches",
	opWriteback:          "wait until the kernel has written back",
	opFillDisk:           "allocate all space to %s",
	opFreeDisk:           "free the space of %s",
	opClock:              "read the clock",
	opTogether:           "perform two operations at once",
	opDiskMake:           "make disk %n of %a bytes",
	opDiskRemove:         "remove disk %n",
	opDiskLog:            "log disk %n %a",
	opDiskMark:           "mark %s",
	opDiskSnapshot:       "snapshot disk %n %s",
	opDiskRestore:        "restore disk %n %s",
	opDiskDrop:           "drop disk %n %s",
	opDiskChanged:        "list the changed pages of disk %n %s",
	opDiskPages:          "read disk %n from page %a to %b",
	opDiskSet:            "set disk %n page %a, %d",
	opDiskForget:         "forget the cache of disk %n",
	opDiskInject:         "inject disk %n",
	opDiskClear:          "clear rules of disk %n",
	opDiskGuard:          "guard disk %n %a",
	opDiskAnswer:         "answer bio %a of disk %n: %b",
	opFailAt:             "fail calls in the kernel",
	opFailEnd:            "stop failing calls in the kernel",
	opFailOff:            "switch failing calls off",
	opLoadChoices:        "load %d of choices for the kernel",
	opTakenChoices:       "list the choices of the kernel",
	opHoldThread:         "hold thread %a",
	opRunThread:          "run thread %a within %b ms",
	opReleaseThread:      "release thread %a",
	opUnscheduledThreads: "list unscheduled threads",
	opSettleThreads:      "wait until held threads sleep",
	opWatchWrites:        "log the write set of disk %n %a",
	opMarkWrites:         "mark the write set %s",
	opEndWrites:          "stop logging the write set",
	opCheckKernel:        "check the kernel %a",
	opKernelFindings:     "list what checks of the kernel found",
}

// String returns the text of an operation for people.
func (o Op) String() string {
	if first, second, ok := o.Both(); ok {
		return fmt.Sprintf("at once: %v, and %v", first, second)
	}
	if o.Code >= opEnd || opText[o.Code] == "" {
		return fmt.Sprintf("operation %d", o.Code)
	}
	number := func(v uint64) string { return strconv.FormatUint(v, 10) }
	octal := fmt.Sprintf("%#o", o.a)
	size := fmt.Sprintf("%d bytes", len(o.data))
	return strings.NewReplacer("%s", o.s, "%t", o.t, "%u", o.u,
		"%n", number(uint64(o.n)), "%a", number(o.a), "%b", number(o.b),
		"%c", number(o.c), "%e", number(o.d),
		"%o", octal, "%x", octal, "%d", size).Replace(opText[o.Code])
}
