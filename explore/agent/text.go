package agent

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore/ramdisk"
)

// opText holds the text of each operation. The verbs stand for its fields: %s, %t and %u for its
// texts, %n for its slot or disk, %a, %b, %c and %e for its numbers, %o for its first number as a
// mode in octal, %x for it as flags of open(2), %f as flags of fallocate(2), %r as flags of
// renameat2(2), and %d for the length of its data.
var opText = [opEnd]string{
	opMkdir:              "mkdir %s %o",
	opRmdir:              "rmdir %s",
	opUnlink:             "unlink %s",
	opRename:             "rename %s %t%r",
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
	opOpen:               "open %n: %s %x",
	opClose:              "close %n:",
	opRead:               "read %n: from %a, %b bytes",
	opWrite:              "write %n: at %a, %d",
	opFill:               "fill %n: at %a, %b bytes, seed %c",
	opFtruncate:          "ftruncate %n: %a",
	opFallocate:          "fallocate %n:%f at %b, %c bytes",
	opDwrite:             "dwrite %n: at %a, %b bytes, seed %c",
	opDwrites:            "dwrites %n: at %a, %b bytes in two calls, seed %c",
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
	opFillDisk:           "fill the disk at %s",
	opFreeDisk:           "free the space at %s",
	opFillInodes:         "use all inodes at %s",
	opFreeInodes:         "free the inodes at %s",
	opSubvolume:          "make subvolume %s",
	opSnapshot:           "snapshot %s as %t, read-only %a",
	opDeleteSubvolume:    "delete subvolume %s",
	opSetflags:           "setflags %s %a",
	opFiemap:             "fiemap %s",
	opSetReadOnly:        "set subvolume %s read-only %a",
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

// ruleText says what a rule of DiskInject does, and to which bios.
func ruleText(o *Op) string {
	r, err := o.rule()
	if err != nil {
		return "no rule"
	}
	var ops []string
	for _, op := range r.Ops {
		ops = append(ops, op.String())
	}
	kind := strings.Join(ops, " or ")
	if len(ops) == int(ramdisk.Zeroes) { // all that there are
		kind = "bio"
	}
	which := fmt.Sprintf("%s %d", kind, r.Nth)
	switch {
	case r.Times > 1<<32: // more than any run has
		which += " and all after it"
	case r.Times > 1:
		which += fmt.Sprintf(" to %d", r.Nth+r.Times-1)
	}
	name := "error " + strconv.FormatUint(uint64(r.Error), 10)
	if known := unix.ErrnoName(unix.Errno(r.Error)); known != "" {
		name = known
	}
	switch {
	case r.Action == ramdisk.DropFlush:
		return fmt.Sprintf("drop flush %d", r.Nth)
	case r.Action == ramdisk.Delay:
		return fmt.Sprintf("delay %s by %d ms", which, r.Arg)
	case r.Action == ramdisk.Tear && r.Error == 0:
		return fmt.Sprintf("tear %s at sector %d", which, r.Arg)
	case r.Action == ramdisk.Tear:
		return fmt.Sprintf("tear %s at sector %d, with %s", which, r.Arg, name)
	}
	return fmt.Sprintf("fail %s with %s", which, name)
}

// String returns the text of an operation for people.
func (o Op) String() string {
	if first, second, ok := o.Both(); ok {
		return fmt.Sprintf("at once: %v, and %v", first, second)
	}
	if o.Code == opDiskInject {
		return fmt.Sprintf("inject disk %d: %s", o.n, ruleText(&o))
	}
	if o.Code >= opEnd || opText[o.Code] == "" {
		return fmt.Sprintf("operation %d", o.Code)
	}
	var b strings.Builder
	text := opText[o.Code]
	for {
		i := strings.IndexByte(text, '%')
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:i])
		b.WriteString(o.argument(text[i+1]))
		text = text[i+2:]
	}
}

// argument returns the argument that a letter stands for after "%" in opText.
func (o *Op) argument(letter byte) string {
	switch letter {
	case 's':
		return o.s
	case 't':
		return o.t
	case 'u':
		return o.u
	case 'n':
		return strconv.FormatUint(uint64(o.n), 10)
	case 'a':
		return strconv.FormatUint(o.a, 10)
	case 'b':
		return strconv.FormatUint(o.b, 10)
	case 'c':
		return strconv.FormatUint(o.c, 10)
	case 'e':
		return strconv.FormatUint(o.d, 10)
	case 'o':
		return fmt.Sprintf("%#o", o.a)
	case 'x':
		return OpenFlags(int(o.a))
	case 'f':
		return flagNames(fallocateFlags, o.a)
	case 'r':
		return flagNames(renameFlags, o.a)
	case 'd':
		return fmt.Sprintf("%d bytes", len(o.data))
	}
	return "%" + string(letter)
}

// A namedFlag is a flag of a system call, which may have several bits.
type namedFlag struct {
	bits uint64
	name string
}

// Flags with their names. One that includes the bits of another one comes before it.
var (
	openFlags = []namedFlag{{unix.O_TMPFILE, "O_TMPFILE"}, {unix.O_CREAT, "O_CREAT"},
		{unix.O_EXCL, "O_EXCL"}, {unix.O_TRUNC, "O_TRUNC"}, {unix.O_APPEND, "O_APPEND"},
		{unix.O_DIRECT, "O_DIRECT"}, {unix.O_DIRECTORY, "O_DIRECTORY"},
		{unix.O_NOFOLLOW, "O_NOFOLLOW"}, {unix.O_SYNC, "O_SYNC"}, {unix.O_DSYNC, "O_DSYNC"}}
	fallocateFlags = []namedFlag{{unix.FALLOC_FL_PUNCH_HOLE, "PUNCH_HOLE"},
		{unix.FALLOC_FL_COLLAPSE_RANGE, "COLLAPSE_RANGE"}, {unix.FALLOC_FL_ZERO_RANGE, "ZERO_RANGE"},
		{unix.FALLOC_FL_INSERT_RANGE, "INSERT_RANGE"}, {unix.FALLOC_FL_KEEP_SIZE, "KEEP_SIZE"}}
	renameFlags = []namedFlag{{unix.RENAME_NOREPLACE, "RENAME_NOREPLACE"},
		{unix.RENAME_EXCHANGE, "RENAME_EXCHANGE"}, {unix.RENAME_WHITEOUT, "RENAME_WHITEOUT"}}
)

// take returns the names of the flags in set, separated by bars, and the bits that have no name.
func take(known []namedFlag, set uint64) (names string, rest uint64) {
	var list []string
	for _, f := range known {
		if set&f.bits == f.bits {
			list, set = append(list, f.name), set&^f.bits
		}
	}
	return strings.Join(list, "|"), set
}

// OpenFlags returns the names of flags of open(2). It leaves out O_NONBLOCK, which the model adds.
func OpenFlags(flags int) string {
	text := []string{"O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE"}[flags&unix.O_ACCMODE]
	if names, _ := take(openFlags, uint64(flags)); names != "" {
		text += "|" + names
	}
	return text
}

// flagNames returns a blank and the names of flags, and those without a name as a number; "" for 0.
func flagNames(known []namedFlag, set uint64) string {
	names, rest := take(known, set)
	switch {
	case set == 0:
		return ""
	case rest == 0:
		return " " + names
	}
	return fmt.Sprintf(" %s|%#x", names, rest)
}
