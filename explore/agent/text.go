package agent

import (
	"fmt"
	"strconv"
	"strings"
)

// opText is how an operation is written: its name, and which of its fields follow. %s, %t, %u are its texts, %n its slot or disk, %a,
// %b, %c its numbers, %o a mode, %d how much data there is.
var opText = [opEnd]string{
	opMkdir: "mkdir %s %o", opRmdir: "rmdir %s", opUnlink: "unlink %s", opRename: "rename %s %t %a", opLink: "link %s %t",
	opSymlink: "symlink %s %t", opReadlink: "readlink %s", opMknod: "mknod %s %o %b", opChmod: "chmod %s %o", opChown: "chown %s %a %b",
	opUtimes: "utimes %s", opTruncate: "truncate %s %a", opStat: "stat %s", opSetxattr: "setxattr %s %t %d", opGetxattr: "getxattr %s %t",
	opRemovexattr: "removexattr %s %t", opListxattr: "listxattr %s", opOpen: "open %n: %s flags %x", opClose: "close %n:",
	opRead: "read %n: from %a, %b bytes", opWrite: "write %n: at %a, %d", opFill: "fill %n: at %a, %b bytes, seed %c",
	opFtruncate: "ftruncate %n: %a", opFallocate: "fallocate %n: mode %a, at %b, %c bytes", opFsync: "fsync %n:", opFdatasync: "fdatasync %n:",
	opSyncfs: "syncfs %n:", opSync: "sync", opReaddir: "readdir %s", opTree: "read the tree %s", opMount: "mount %s %t %u options %d",
	opUnmount: "umount %s", opDropCaches: "drop caches", opDiskMake: "make disk %n of %a bytes", opDiskRemove: "remove disk %n",
	opDiskLog: "log disk %n %a", opDiskMark: "mark %s", opDiskSnapshot: "snapshot disk %n %s", opDiskRestore: "restore disk %n %s",
	opDiskDrop: "drop disk %n %s", opDiskChanged: "changed disk %n %s", opDiskPages: "pages of disk %n from %a to %b",
	opDiskSet: "set disk %n page %a, %d", opDiskForget: "forget the cache of disk %n", opDiskInject: "inject disk %n", opDiskClear: "clear rules of disk %n",
	opDiskGuard: "guard disk %n %a", opDiskAnswer: "answer bio %a of disk %n: %b",
	opFailAt: "fail in the kernel", opFailEnd: "fail no more", opHoldThread: "hold thread %a", opRunThread: "run thread %a within %b ms",
	opReleaseThread: "release thread %a", opStrayThreads: "threads that ran though held", opSettleThreads: "wait for held threads",
	opWatchWrites: "watch what could be written to disk %n %a",
	opMarkWrites:  "mark the write set %s", opEndWrites: "watch no more",
}

// String writes an operation for people.
func (o Op) String() string {
	if o.Code >= opEnd || opText[o.Code] == "" {
		return fmt.Sprintf("operation %d", o.Code)
	}
	number := func(v uint64) string { return strconv.FormatUint(v, 10) }
	return strings.NewReplacer("%s", o.s, "%t", o.t, "%u", o.u, "%n", number(uint64(o.n)), "%a", number(o.a), "%b", number(o.b),
		"%c", number(o.c), "%o", fmt.Sprintf("%#o", o.a), "%x", fmt.Sprintf("%#o", o.a), "%d", fmt.Sprintf("%d bytes", len(o.data))).
		Replace(opText[o.Code])
}
