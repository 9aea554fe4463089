package agent

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/ramdisk"
)

// Code is the kind of an operation. The zero value is invalid.
type Code uint8

// The operations. Their constructors describe their parameters and results.
const (
	opInvalid Code = iota
	opMkdir
	opRmdir
	opUnlink
	opRename
	opLink
	opSymlink
	opReadlink
	opMknod
	opChmod
	opChown
	opUtimes
	opTruncate
	opStat
	opSetxattr
	opGetxattr
	opRemovexattr
	opListxattr
	opOpen
	opClose
	opRead
	opWrite
	opFill
	opFtruncate
	opFallocate
	opDwrite
	opDwrites
	opMmapwrite
	opMmaptail
	opMsync
	opSyncFileRange
	opClone
	opDedupe
	opLinkat
	opFsync
	opFdatasync
	opSyncfs
	opSync
	opReaddir
	opTree
	opMount
	opUnmount
	opDropCaches
	opWriteback
	opFillDisk
	opFreeDisk
	opFillInodes
	opFreeInodes
	opSubvolume
	opSnapshot
	opDeleteSubvolume
	opSetflags
	opClock
	opTogether
	opDiskMake
	opDiskRemove
	opDiskLog
	opDiskMark
	opDiskSnapshot
	opDiskRestore
	opDiskDrop
	opDiskChanged
	opDiskPages
	opDiskSet
	opDiskForget
	opDiskInject
	opDiskClear
	opDiskGuard
	opDiskAnswer
	opFailAt
	opFailEnd
	opFailOff
	opLoadChoices
	opTakenChoices
	opWatchWrites
	opMarkWrites
	opEndWrites
	opCheckKernel
	opKernelFindings
	opHoldThread
	opRunThread
	opReleaseThread
	opUnscheduledThreads
	opSettleThreads
	opSetReadOnly
	opFiemap
	opEnd
)

// MaxSlots is the number of files that a Batch can have open, in the slots 0 to MaxSlots-1. The
// agent closes the files below FirstHeld when the batch ends. The others stay open until Close, or
// until Unmount of any file system.
const (
	MaxSlots  = 64
	FirstHeld = 56
)

// An Op is one operation of a Batch. The meaning of its fields depends on its Code: see the
// constructors.
type Op struct {
	Code    Code
	n       uint32 // slot, or number of a RAM disk
	a, b, c uint64
	d       uint64
	s, t, u string
	data    []byte
}

// Fields returns the arguments of the operation's constructor, by type, in the order of the Op's
// fields. A System that is not a guest, such as one of a test, uses it to perform operations.
func (o Op) Fields() (slot uint32, numbers [4]uint64, texts [3]string, data []byte) {
	return o.n, [4]uint64{o.a, o.b, o.c, o.d}, [3]string{o.s, o.t, o.u}, o.data
}

func (o *Op) append(b []byte) []byte {
	b = append(b, byte(o.Code))
	for _, v := range [...]uint64{uint64(o.n), o.a, o.b, o.c, o.d} {
		b = appendNumber(b, v)
	}
	for _, v := range [...]string{o.s, o.t, o.u} {
		b = appendBytes(b, v)
	}
	return appendBytes(b, o.data)
}

func (d *decoder) op() Op {
	o := Op{Code: Code(d.upTo(uint64(opEnd - 1)))}
	if o.Code == opInvalid && d.err == nil {
		d.fail(fmt.Errorf("an operation has no code"))
	}
	o.n = uint32(d.upTo(MaxSlots - 1))
	o.a, o.b, o.c, o.d = d.number(), d.number(), d.number(), d.number()
	o.s, o.t, o.u = d.text(MaxPath), d.text(MaxPath), d.text(MaxPath)
	o.data = d.bytes(MaxData)
	return o
}

// Mkdir is mkdir(2).
func Mkdir(path string, mode uint32) Op { return Op{Code: opMkdir, s: path, a: uint64(mode)} }

// Rmdir is rmdir(2).
func Rmdir(path string) Op { return Op{Code: opRmdir, s: path} }

// Unlink is unlink(2).
func Unlink(path string) Op { return Op{Code: opUnlink, s: path} }

// Rename is renameat2(2) with its flags.
func Rename(from, to string, flags uint) Op {
	return Op{Code: opRename, s: from, t: to, a: uint64(flags)}
}

// Link is link(2).
func Link(from, to string) Op { return Op{Code: opLink, s: from, t: to} }

// Symlink is symlink(2): path becomes a link to target.
func Symlink(target, path string) Op { return Op{Code: opSymlink, s: target, t: path} }

// Readlink is readlink(2). Data is the target.
func Readlink(path string) Op { return Op{Code: opReadlink, s: path} }

// Mknod is mknod(2).
func Mknod(path string, mode uint32, dev uint64) Op {
	return Op{Code: opMknod, s: path, a: uint64(mode), b: dev}
}

// Chmod is chmod(2).
func Chmod(path string, mode uint32) Op { return Op{Code: opChmod, s: path, a: uint64(mode)} }

// Chown is lchown(2).
func Chown(path string, uid, gid uint32) Op {
	return Op{Code: opChown, s: path, a: uint64(uid), b: uint64(gid)}
}

// Utimes is utimensat(2). It does not follow a symbolic link at path. The times are after 1970.
func Utimes(path string, access, modification time.Time) Op {
	atime, mtime := uint64(access.UnixNano()), uint64(modification.UnixNano())
	return Op{Code: opUtimes, s: path, a: atime, b: mtime}
}

// Truncate is truncate(2).
func Truncate(path string, size uint64) Op { return Op{Code: opTruncate, s: path, a: size} }

// Stat is lstat(2). DecodeTree reads Data: one entry, without a hash.
func Stat(path string) Op { return Op{Code: opStat, s: path} }

// Setxattr is lsetxattr(2) with its flags.
func Setxattr(path, name string, value []byte, flags uint) Op {
	return Op{Code: opSetxattr, s: path, t: name, data: value, a: uint64(flags)}
}

// Getxattr is lgetxattr(2). Data is the value.
func Getxattr(path, name string) Op { return Op{Code: opGetxattr, s: path, t: name} }

// Removexattr is lremovexattr(2).
func Removexattr(path, name string) Op { return Op{Code: opRemovexattr, s: path, t: name} }

// Listxattr is llistxattr(2). Data holds the names in the kernel's order, each followed by a zero
// byte.
func Listxattr(path string) Op { return Op{Code: opListxattr, s: path} }

// Open is open(2) into a slot. It first closes a file that is open there.
func Open(slot uint32, path string, flags int, mode uint32) Op {
	return Op{Code: opOpen, n: slot, s: path, a: uint64(flags), b: uint64(mode)}
}

// Close is close(2) of a slot.
func Close(slot uint32) Op { return Op{Code: opClose, n: slot} }

// Read is pread(2) of up to MaxData bytes. Data holds the bytes that were read.
func Read(slot uint32, off uint64, n uint32) Op {
	return Op{Code: opRead, n: slot, a: off, b: uint64(n)}
}

// Write is pwrite(2) of up to MaxData bytes. Value is the number of bytes written.
func Write(slot uint32, off uint64, data []byte) Op {
	return Op{Code: opWrite, n: slot, a: off, data: data}
}

// Fill writes n bytes, at most MaxData, of the pattern that Pattern returns. The agent makes the
// pattern, so that the request does not carry it. Value is the number of bytes written.
func Fill(slot uint32, off uint64, n uint32, seed uint64) Op {
	return Op{Code: opFill, n: slot, a: off, b: uint64(n), c: seed}
}

// Ftruncate is ftruncate(2).
func Ftruncate(slot uint32, size uint64) Op { return Op{Code: opFtruncate, n: slot, a: size} }

// Fallocate is fallocate(2) with its mode.
func Fallocate(slot, mode uint32, off, n uint64) Op {
	return Op{Code: opFallocate, n: slot, a: uint64(mode), b: off, c: n}
}

// Fsync is fsync(2).
func Fsync(slot uint32) Op { return Op{Code: opFsync, n: slot} }

// Fdatasync is fdatasync(2).
func Fdatasync(slot uint32) Op { return Op{Code: opFdatasync, n: slot} }

// Syncfs is syncfs(2).
func Syncfs(slot uint32) Op { return Op{Code: opSyncfs, n: slot} }

// Sync is sync(2).
func Sync() Op { return Op{Code: opSync} }

// Readdir lists a directory. Data holds the names in sorted order, each followed by a zero byte;
// Value is the number of names.
func Readdir(path string) Op { return Op{Code: opReaddir, s: path} }

// Tree reads the tree of files at a path, with hashes of their contents. It enters mount points.
// DecodeTree reads Data; Value is the number of entries. More than MaxEntries entries are
// EOVERFLOW.
func Tree(path string) Op { return Op{Code: opTree, s: path} }

// ReadsTree reports whether the operation is a Tree.
func (o Op) ReadsTree() bool { return o.Code == opTree }

// LeavesTree reports whether the operation is known to change nothing that a Tree shows.
func (o Op) LeavesTree() bool {
	return o.Code == opTree || o.Code == opListxattr || o.Code == opClock || o.Code == opFiemap
}

// Mount is mount(2), with its flags and the options of the file system.
func Mount(source, target, fstype string, flags uintptr, options string) Op {
	return Op{Code: opMount, s: source, t: target, u: fstype, a: uint64(flags), data: []byte(options)}
}

// Unmount is umount2(2) with its flags.
func Unmount(target string, flags int) Op {
	return Op{Code: opUnmount, s: target, a: uint64(flags)}
}

// DropCaches makes the kernel drop its clean caches: it writes 3 to /proc/sys/vm/drop_caches.
func DropCaches() Op { return Op{Code: opDropCaches} }

// DiskMake makes a RAM disk of zeros: ramdisk.Control.Make. This operation and the ones below fail
// with ENXIO or ENOENT if the module fsw_ramdisk is not loaded.
func DiskMake(disk uint32, bytes uint64) Op { return Op{Code: opDiskMake, n: disk, a: bytes} }

// DiskRemove is ramdisk.Disk.Remove.
func DiskRemove(disk uint32) Op { return Op{Code: opDiskRemove, n: disk} }

// DiskLog switches the log of a disk's bios on or off.
func DiskLog(disk uint32, on bool) Op { return switched(opDiskLog, disk, on) }

// DiskGuard switches the guarding of a disk on or off. On a guarded disk, bios that change the
// disk, and flushes, wait for DiskAnswer. The disk must be logged.
func DiskGuard(disk uint32, on bool) Op { return switched(opDiskGuard, disk, on) }

// DiskAnswer lets a waiting bio proceed if errno is 0, and otherwise fails it with errno.
func DiskAnswer(disk uint32, id uint64, errno unix.Errno) Op {
	return Op{Code: opDiskAnswer, n: disk, a: id, b: uint64(errno)}
}

// switched returns an operation that switches something on or off.
func switched(code Code, disk uint32, on bool) Op {
	return Op{Code: code, n: disk, a: boolNumber(on)}
}

// boolNumber returns 1 for true and 0 for false.
func boolNumber(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

// DiskMark puts a text of 1 to ramdisk.MaxText bytes into the log.
func DiskMark(text string) Op { return Op{Code: opDiskMark, s: text} }

// DiskSnapshot makes a snapshot of the disk, with a name of 1 to ramdisk.MaxName bytes.
func DiskSnapshot(disk uint32, name string) Op { return Op{Code: opDiskSnapshot, n: disk, s: name} }

// DiskRestore restores the contents of the disk from a snapshot. The disk must not be mounted, and
// DiskForget must follow. Value is the number of pages that were restored.
func DiskRestore(disk uint32, name string) Op { return Op{Code: opDiskRestore, n: disk, s: name} }

// DiskDrop removes a snapshot.
func DiskDrop(disk uint32, name string) Op { return Op{Code: opDiskDrop, n: disk, s: name} }

// DiskChanged lists the pages in which the disk may differ from a snapshot. DecodeNumbers reads
// Data; Value is the number of pages.
func DiskChanged(disk uint32, name string) Op { return Op{Code: opDiskChanged, n: disk, s: name} }

// MaxPages bounds the pages in the Data of one DiskPages.
const MaxPages = MaxData / (ramdisk.PageSize + 8)

// DiskPages reads the pages with the numbers from ≤ number < to. DecodePages reads Data: the pages
// that are not all zeros, at most MaxPages. Value is the number of the first page that was not
// read.
func DiskPages(disk uint32, from, to uint64) Op {
	return Op{Code: opDiskPages, n: disk, a: from, b: to}
}

// DiskSet writes data to the pages from number page on. The length of data is a multiple of
// ramdisk.PageSize, and at most MaxData. As after DiskRestore, DiskForget must follow.
func DiskSet(disk uint32, page uint64, data []byte) Op {
	return Op{Code: opDiskSet, n: disk, a: page, data: data}
}

// DiskForget makes the kernel drop its cache of the device. One DiskForget after several changes is
// enough, and faster: it takes longer than many changes.
func DiskForget(disk uint32) Op { return Op{Code: opDiskForget, n: disk} }

// DiskInject adds a rule to a disk, which makes bios of the disk go wrong.
func DiskInject(disk uint32, r ramdisk.Rule) Op {
	b := appendNumber(nil, uint64(r.Action))
	b = appendNumber(b, uint64(len(r.Ops)))
	for _, op := range r.Ops {
		b = appendNumber(b, uint64(op))
	}
	b = appendNumber(b, uint64(r.Error))
	return Op{Code: opDiskInject, n: disk, a: r.Nth, b: r.Times, c: r.Arg, data: b}
}

// DiskClear removes all rules of a disk.
func DiskClear(disk uint32) Op { return Op{Code: opDiskClear, n: disk} }

// rule returns the rule of an operation that DiskInject made.
func (o *Op) rule() (ramdisk.Rule, error) {
	d := decoder{b: o.data}
	action := ramdisk.Action(d.upTo(uint64(ramdisk.DropFlush)))
	r := ramdisk.Rule{Action: action, Nth: o.a, Times: o.b, Arg: o.c}
	for n := d.count(int(ramdisk.Zeroes)); n > 0 && d.err == nil; n-- {
		r.Ops = append(r.Ops, ramdisk.Op(d.upTo(uint64(ramdisk.Zeroes))))
	}
	r.Error = uint32(d.upTo(maxErrno))
	return r, d.finish("rule")
}
