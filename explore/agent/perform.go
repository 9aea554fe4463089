package agent

import (
	"bytes"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// errnoOf is the error number of an error, 0 of none. Errors of the agent itself have numbers, too.
func errnoOf(err error) unix.Errno {
	var e unix.Errno
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e
	}
	return unix.EPROTO
}

// performer performs operations, and has the files that they open.
type performer struct {
	slots [MaxSlots]int // file descriptors, -1 for none
	stop  func() bool   // no more is to be done
	disks diskOps
	fail  failing
	turns threadOps
	took  int // bytes of data in results
}

func newPerformer(stop func() bool) *performer {
	p := &performer{stop: stop}
	for i := range p.slots {
		p.slots[i] = -1
	}
	return p
}

func (p *performer) close() {
	for _, fd := range p.slots {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	p.disks.close()
	p.turns.close()
	if p.fail.ctl != nil {
		_, _ = p.fail.end()
	}
}

// perform performs one operation.
func (p *performer) perform(o *Op) (r Result) {
	value, data, err := p.do(o)
	if p.took += len(data); p.took > maxAnswer {
		p.took -= len(data)
		data, err = nil, unix.EOVERFLOW
	}
	return Result{Errno: errnoOf(err), Value: value, Data: data}
}

func (p *performer) do(o *Op) (value uint64, data []byte, err error) {
	switch {
	case o.Code == opFailAt:
		return 0, nil, p.fail.begin(o)
	case o.Code == opFailEnd:
		hits, err := p.fail.end()
		return uint64(len(hits)), EncodeHits(hits), err
	case o.Code == opWatchWrites || o.Code == opMarkWrites || o.Code == opEndWrites:
		value, err := writeSet(o)
		return value, nil, err
	case o.Code >= opHoldThread:
		return p.turns.do(o)
	case o.Code >= opDiskMake:
		return p.disks.do(o)
	case o.Code >= opOpen && o.Code <= opSyncfs:
		return p.file(o)
	}
	switch o.Code {
	case opMkdir:
		err = unix.Mkdir(o.s, uint32(o.a))
	case opRmdir:
		err = unix.Rmdir(o.s)
	case opUnlink:
		err = unix.Unlink(o.s)
	case opRename:
		err = unix.Renameat2(unix.AT_FDCWD, o.s, unix.AT_FDCWD, o.t, uint(o.a))
	case opLink:
		err = unix.Link(o.s, o.t)
	case opSymlink:
		err = unix.Symlink(o.s, o.t)
	case opReadlink:
		data = make([]byte, MaxPath)
		n, e := unix.Readlink(o.s, data)
		data, err = data[:max(n, 0)], e
	case opMknod:
		err = unix.Mknod(o.s, uint32(o.a), int(o.b))
	case opChmod:
		err = unix.Chmod(o.s, uint32(o.a))
	case opChown:
		err = unix.Lchown(o.s, int(uint32(o.a)), int(uint32(o.b)))
	case opUtimes:
		err = unix.UtimesNanoAt(unix.AT_FDCWD, o.s, []unix.Timespec{unix.NsecToTimespec(int64(o.a)), unix.NsecToTimespec(int64(o.b))},
			unix.AT_SYMLINK_NOFOLLOW)
	case opTruncate:
		err = unix.Truncate(o.s, int64(o.a))
	case opStat:
		data, err = statEntry(o.s)
	case opSetxattr:
		err = unix.Lsetxattr(o.s, o.t, o.data, int(o.a))
	case opGetxattr:
		data, err = grown(func(b []byte) (int, error) { return unix.Lgetxattr(o.s, o.t, b) })
	case opRemovexattr:
		err = unix.Lremovexattr(o.s, o.t)
	case opListxattr:
		data, err = grown(func(b []byte) (int, error) { return unix.Llistxattr(o.s, b) })
	case opSync:
		unix.Sync()
	case opReaddir:
		names, e := readNames(o.s)
		var b bytes.Buffer
		for _, name := range names {
			b.WriteString(name)
			b.WriteByte(0)
		}
		value, data, err = uint64(len(names)), b.Bytes(), e
	case opTree:
		tree, n, e := readTree(o.s, p.stop)
		value, data, err = uint64(n), tree, e
	case opMount:
		err = unix.Mount(o.s, o.t, o.u, uintptr(o.a), string(o.data))
	case opUnmount:
		err = unix.Unmount(o.s, int(o.a))
	case opDropCaches:
		err = os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0)
	default:
		err = unix.ENOSYS
	}
	return value, data, err
}

// grown reads a value of up to 64 KiB, the most that the kernel has of an extended attribute or of a list of their names.
func grown(read func([]byte) (int, error)) ([]byte, error) {
	b := make([]byte, 64<<10)
	n, err := read(b)
	return b[:max(n, 0)], err
}

// file performs an operation on an open file.
func (p *performer) file(o *Op) (value uint64, data []byte, err error) {
	fd := &p.slots[o.n%MaxSlots]
	if o.Code == opOpen {
		if *fd >= 0 {
			_ = unix.Close(*fd)
		}
		*fd, err = unix.Open(o.s, int(o.a)|unix.O_CLOEXEC, uint32(o.b))
		if err != nil {
			*fd = -1
		}
		return 0, nil, err
	}
	if *fd < 0 {
		return 0, nil, unix.EBADF
	}
	switch o.Code {
	case opClose:
		err = unix.Close(*fd)
		*fd = -1
	case opRead:
		if o.b > MaxData {
			return 0, nil, unix.EINVAL
		}
		data = make([]byte, o.b)
		n, e := unix.Pread(*fd, data, int64(o.a))
		data, err = data[:max(n, 0)], e
	case opWrite:
		n, e := unix.Pwrite(*fd, o.data, int64(o.a))
		value, err = uint64(max(n, 0)), e
	case opFill:
		if o.b > MaxData {
			return 0, nil, unix.EINVAL
		}
		b := make([]byte, o.b)
		Pattern(b, o.a, o.c)
		n, e := unix.Pwrite(*fd, b, int64(o.a))
		value, err = uint64(max(n, 0)), e
	case opFtruncate:
		err = unix.Ftruncate(*fd, int64(o.a))
	case opFallocate:
		err = unix.Fallocate(*fd, uint32(o.a), int64(o.b), int64(o.c))
	case opFsync:
		err = unix.Fsync(*fd)
	case opFdatasync:
		err = unix.Fdatasync(*fd)
	case opSyncfs:
		err = unix.Syncfs(*fd)
	}
	return value, data, err
}
