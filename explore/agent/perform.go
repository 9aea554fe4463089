package agent

import (
	"bytes"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// errnoOf returns the error number of an error: 0 for nil, and EPROTO for an error that has none.
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

// A performer performs the operations of a batch.
type performer struct {
	slots   [FirstHeld]int // file descriptors, -1 for none
	held    *heldFiles     // the slots from FirstHeld on
	stop    func() bool    // reports whether the time of the batch is up
	disks   diskOps
	fail    failing
	threads threadOps
	covered *coverageRecorder // nil: coverage is not recorded
	took    int               // bytes of data in all results
}

// newPerformer returns a performer whose own slots are free. stop reports whether the time of the
// batch is up.
func newPerformer(held *heldFiles, stop func() bool) *performer {
	p := &performer{held: held, stop: stop}
	for i := range p.slots {
		p.slots[i] = -1
	}
	return p
}

// close closes the files and control devices that the operations opened, and ends fault injection.
func (p *performer) close() {
	for _, fd := range p.slots {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	p.disks.close()
	p.threads.close()
	if p.fail.ctl != nil {
		_, _ = p.fail.end()
	}
}

// cover begins to record the coverage of operations. The function that it returns ends that, and
// sends what was recorded.
func (p *performer) cover(to chan<- Coverage) (end func()) {
	var err error
	if p.covered, err = recordCoverage(); err != nil {
		to <- Coverage{None: err.Error()}
		return func() {}
	}
	return func() { to <- p.covered.end() }
}

// perform performs one operation. It fails with EOVERFLOW if the data of all results would exceed
// maxAnswer bytes.
func (p *performer) perform(o *Op) (r Result) {
	value, data, err := p.do(o)
	if p.covered != nil {
		p.covered.harvest()
	}
	if p.took += len(data); p.took > maxAnswer {
		p.took -= len(data)
		data, err = nil, unix.EOVERFLOW
	}
	return Result{Errno: errnoOf(err), Value: value, Data: data}
}

// do performs an operation of any group.
func (p *performer) do(o *Op) (value uint64, data []byte, err error) {
	switch {
	case o.Code == opFailAt:
		return 0, nil, p.fail.begin(o)
	case o.Code == opFailEnd:
		hits, err := p.fail.end()
		return uint64(len(hits)), EncodeHits(hits), err
	case o.Code == opFailOff:
		return 0, nil, p.fail.off()
	case o.Code == opLoadChoices:
		return 0, nil, loadChoices(o)
	case o.Code == opTakenChoices:
		data, err = takenChoices()
		return 0, data, err
	case o.Code == opWatchWrites || o.Code == opMarkWrites || o.Code == opEndWrites:
		value, err := writeSet(o)
		return value, nil, err
	case o.Code == opCheckKernel || o.Code == opKernelFindings:
		data, err = checkKernel(o)
		return 0, data, err
	case o.Code == opClock:
		value, err := clock()
		return value, nil, err
	case o.Code == opTogether:
		data, err = p.together(o)
		return 0, data, err
	case o.Code >= opHoldThread && o.Code <= opSettleThreads:
		return p.threads.do(o)
	case o.Code >= opDiskMake && o.Code < opHoldThread:
		return p.disks.do(o)
	case o.Code >= opOpen && o.Code <= opSyncfs:
		return p.file(o)
	}
	switch o.Code {
	case opReadlink, opStat, opGetxattr, opListxattr, opReaddir, opTree:
		return p.read(o)
	}
	switch o.Code {
	case opSetflags:
		value, err = setFlags(o)
		return value, nil, err
	case opFiemap:
		value, err = unmapped(o.s, p.stop)
		return value, nil, err
	}
	if o.Code == opUnmount {
		p.held.closeAll() // they would keep the file system busy
	}
	return 0, nil, change(o)
}

// change performs an operation on paths that returns no data.
func change(o *Op) error {
	switch o.Code {
	case opMkdir:
		return unix.Mkdir(o.s, uint32(o.a))
	case opRmdir:
		return unix.Rmdir(o.s)
	case opUnlink:
		return unix.Unlink(o.s)
	case opRename:
		return unix.Renameat2(unix.AT_FDCWD, o.s, unix.AT_FDCWD, o.t, uint(o.a))
	case opLink:
		return unix.Link(o.s, o.t)
	case opSymlink:
		return unix.Symlink(o.s, o.t)
	case opMknod:
		return unix.Mknod(o.s, uint32(o.a), int(o.b))
	case opChmod:
		return unix.Chmod(o.s, uint32(o.a))
	case opChown:
		return unix.Lchown(o.s, int(uint32(o.a)), int(uint32(o.b)))
	case opUtimes:
		times := []unix.Timespec{unix.NsecToTimespec(int64(o.a)), unix.NsecToTimespec(int64(o.b))}
		return unix.UtimesNanoAt(unix.AT_FDCWD, o.s, times, unix.AT_SYMLINK_NOFOLLOW)
	case opTruncate:
		return unix.Truncate(o.s, int64(o.a))
	case opSetxattr:
		return unix.Lsetxattr(o.s, o.t, o.data, int(o.a))
	case opRemovexattr:
		return unix.Lremovexattr(o.s, o.t)
	case opSync:
		unix.Sync()
		return nil
	case opMount:
		return unix.Mount(o.s, o.t, o.u, uintptr(o.a), string(o.data))
	case opUnmount:
		return unix.Unmount(o.s, int(o.a))
	case opDropCaches:
		return os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0)
	case opWriteback:
		return awaitOwnWriteback()
	case opSubvolume, opSnapshot, opDeleteSubvolume:
		return subvolumeOp(o)
	case opSetReadOnly:
		return setReadOnly(o)
	case opFillDisk:
		return fillDisk(o.s)
	case opFreeDisk:
		return freeDisk(o.s)
	case opFillInodes:
		return fillInodes(o.s)
	case opFreeInodes:
		return freeInodes(o.s)
	}
	return unix.ENOSYS
}

// read performs an operation that reads a path.
func (p *performer) read(o *Op) (value uint64, data []byte, err error) {
	switch o.Code {
	case opReadlink:
		data = make([]byte, MaxPath)
		n, err := unix.Readlink(o.s, data)
		return 0, data[:max(n, 0)], err
	case opStat:
		data, err = statEntry(o.s)
	case opGetxattr:
		data, err = readXattr(func(b []byte) (int, error) { return unix.Lgetxattr(o.s, o.t, b) })
	case opListxattr:
		data, err = readXattr(func(b []byte) (int, error) { return unix.Llistxattr(o.s, b) })
	case opReaddir:
		names, err := readNames(o.s)
		var b bytes.Buffer
		for _, name := range names {
			b.WriteString(name)
			b.WriteByte(0)
		}
		return uint64(len(names)), b.Bytes(), err
	case opTree:
		data, n, err := readTree(o.s, p.stop)
		return uint64(n), data, err
	}
	return 0, data, err
}

// readXattr reads a value of up to 64 KiB. The kernel bounds an extended attribute and a list of
// their names by that size (XATTR_SIZE_MAX, XATTR_LIST_MAX).
func readXattr(read func([]byte) (int, error)) ([]byte, error) {
	b := make([]byte, 64<<10)
	n, err := read(b)
	return b[:max(n, 0)], err
}
