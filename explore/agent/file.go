package agent

import (
	"errors"
	"runtime/debug"
	"sync"

	"golang.org/x/sys/unix"
)

// heldFiles are the open files in the slots from FirstHeld on. They outlast the batch that opened
// them.
type heldFiles struct {
	mu    sync.Mutex
	slots [MaxSlots - FirstHeld]int // file descriptors, -1 for none
}

func newHeldFiles() *heldFiles {
	h := new(heldFiles)
	for i := range h.slots {
		h.slots[i] = -1
	}
	return h
}

// closeAll closes all files.
func (h *heldFiles) closeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.slots {
		if h.slots[i] >= 0 {
			_ = unix.Close(h.slots[i])
		}
		h.slots[i] = -1
	}
}

// get returns the file descriptor in a slot, -1 for none. set replaces it.
func (p *performer) get(slot uint32) int {
	if slot %= MaxSlots; slot < FirstHeld {
		return p.slots[slot]
	}
	p.held.mu.Lock()
	defer p.held.mu.Unlock()
	return p.held.slots[slot-FirstHeld]
}

func (p *performer) set(slot uint32, fd int) {
	if slot %= MaxSlots; slot < FirstHeld {
		p.slots[slot] = fd
		return
	}
	p.held.mu.Lock()
	defer p.held.mu.Unlock()
	p.held.slots[slot-FirstHeld] = fd
}

// file performs an operation on an open file.
func (p *performer) file(o *Op) (value uint64, data []byte, err error) {
	fd := p.get(o.n)
	switch {
	case o.Code == opOpen:
		if fd >= 0 {
			_ = unix.Close(fd)
		}
		fd, err = unix.Open(o.s, int(o.a)|unix.O_CLOEXEC, uint32(o.b))
		if err != nil {
			fd = -1
		}
		p.set(o.n, fd)
		return 0, nil, err
	case fd < 0:
		return 0, nil, unix.EBADF
	case o.b > MaxData && (o.Code == opRead || o.Code == opFill || o.Code == opDwrite ||
		o.Code == opDwrites || o.Code == opMmapwrite || o.Code == opMmaptail):
		return 0, nil, unix.EINVAL
	}
	switch o.Code {
	case opClose:
		err = unix.Close(fd)
		p.set(o.n, -1)
	case opRead:
		data = make([]byte, o.b)
		n, e := unix.Pread(fd, data, int64(o.a))
		data, err = data[:max(n, 0)], e
	case opWrite:
		value, err = counted(unix.Pwrite(fd, o.data, int64(o.a)))
	case opFill:
		b := make([]byte, o.b)
		Pattern(b, o.a, o.c)
		value, err = counted(unix.Pwrite(fd, b, int64(o.a)))
	case opDwrite, opDwrites:
		value, err = directWrite(fd, o)
	case opMmapwrite:
		err = mappedWrite(fd, o)
	case opMmaptail:
		err = mappedTail(fd, o)
	case opMsync:
		err = syncMapped(fd, o)
	case opClone, opDedupe:
		value, err = reflink(fd, p.get(uint32(o.a)), o)
	default:
		err = fileCall(fd, o)
	}
	return value, data, err
}

// counted returns the number of bytes that a call wrote.
func counted(n int, err error) (uint64, error) { return uint64(max(n, 0)), err }

// fileCall performs an operation that is one system call without a result.
func fileCall(fd int, o *Op) error {
	switch o.Code {
	case opFtruncate:
		return unix.Ftruncate(fd, int64(o.a))
	case opFallocate:
		return unix.Fallocate(fd, uint32(o.a), int64(o.b), int64(o.c))
	case opSyncFileRange:
		return unix.SyncFileRange(fd, int64(o.a), int64(o.b), int(o.c))
	case opLinkat:
		return unix.Linkat(fd, "", unix.AT_FDCWD, o.s, unix.AT_EMPTY_PATH)
	case opFsync:
		return unix.Fsync(fd)
	case opFdatasync:
		return unix.Fdatasync(fd)
	case opSyncfs:
		return unix.Syncfs(fd)
	}
	return unix.ENOSYS
}

// directAlign is the alignment in memory that every disk accepts for O_DIRECT.
const directAlign = 4096

// directWrite performs Dwrite and Dwrites.
func directWrite(fd int, o *Op) (uint64, error) {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return 0, err
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags|unix.O_DIRECT); err != nil {
		return 0, err
	}
	// Memory of the kernel is aligned to pages. That of Go need not be.
	b, err := unix.Mmap(-1, 0, max(int(o.b), directAlign), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return 0, err
	}
	Pattern(b[:o.b], o.a, o.c)
	write := func() (int, error) { return unix.Pwrite(fd, b[:o.b], int64(o.a)) }
	if o.Code == opDwrites {
		write = func() (int, error) { return writeHalves(fd, b[:o.b], int64(o.a)) }
	}
	n, err := write()
	_, restored := unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags)
	return uint64(max(n, 0)), errors.Join(err, restored, unix.Munmap(b))
}

// writeHalves writes both halves of b, one after the other, from an offset of the file on. It
// returns the number of bytes that were written.
func writeHalves(fd int, b []byte, off int64) (n int, err error) {
	if _, err := unix.Seek(fd, off, unix.SEEK_SET); err != nil {
		return 0, err
	}
	for _, half := range [][]byte{b[:len(b)/2], b[len(b)/2:]} {
		done, err := unix.Write(fd, half)
		n += max(done, 0)
		if n > 0 {
			err = nil // as a short write
		}
		if done < len(half) {
			return n, err
		}
	}
	return n, nil
}

// mapped maps a range of a file, from the begin of its first page on, and returns the offset of
// the range in the mapping. It fails with ENODEV unless it is a regular file, with EINVAL for an
// empty range, and with EFAULT for a range that is not within the file: its use would end the
// agent by SIGBUS.
func mapped(fd int, off, n uint64, prot int) (b []byte, within uint64, err error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, 0, err
	}
	end := off + n
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return nil, 0, unix.ENODEV
	case n == 0 || n > MaxData:
		return nil, 0, unix.EINVAL
	case end < off || end > uint64(st.Size):
		return nil, 0, unix.EFAULT
	}
	within = off % uint64(unix.Getpagesize())
	b, err = unix.Mmap(fd, int64(off-within), int(n+within), prot, unix.MAP_SHARED)
	return b, within, err
}

// mappedWrite performs Mmapwrite. A fault of the kernel, such as a full disk, is EFAULT.
func mappedWrite(fd int, o *Op) (err error) {
	b, within, err := mapped(fd, o.a, o.b, unix.PROT_READ|unix.PROT_WRITE)
	if err != nil {
		return err
	}
	return storePattern(b, b[within:], o.a, o.c)
}

// storePattern writes a pattern to a part of a mapping, and removes the mapping.
func storePattern(mapping, to []byte, off, seed uint64) (err error) {
	defer func() {
		if recover() != nil {
			err = unix.EFAULT
		}
		err = errors.Join(err, unix.Munmap(mapping))
	}()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	Pattern(to, off, seed)
	return nil
}

// mappedTail performs Mmaptail.
func mappedTail(fd int, o *Op) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	size, page := uint64(st.Size), uint64(unix.Getpagesize())
	within := size % page
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return unix.ENODEV
	case o.b == 0:
		return unix.EINVAL
	case within == 0 || within+o.b > page:
		return unix.EFAULT
	}
	b, err := unix.Mmap(fd, int64(size-within), int(page), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED)
	if err != nil {
		return err
	}
	return storePattern(b, b[within:within+o.b], size, o.c)
}

// syncMapped performs Msync. The kernel syncs the range of the file, through whichever mapping it
// was written.
func syncMapped(fd int, o *Op) error {
	b, _, err := mapped(fd, o.a, o.b, unix.PROT_READ)
	if err != nil {
		return err
	}
	return errors.Join(unix.Msync(b, unix.MS_SYNC), unix.Munmap(b))
}

// reflink performs Clone and Dedupe from file from to file fd.
func reflink(fd, from int, o *Op) (value uint64, err error) {
	if from < 0 {
		return 0, unix.EBADF
	}
	if o.Code == opClone {
		return 0, unix.IoctlFileCloneRange(fd, &unix.FileCloneRange{
			Src_fd: int64(from), Src_offset: o.b, Src_length: o.d, Dest_offset: o.c})
	}
	r := unix.FileDedupeRange{Src_offset: o.b, Src_length: o.d,
		Info: []unix.FileDedupeRangeInfo{{Dest_fd: int64(fd), Dest_offset: o.c}}}
	if err := unix.IoctlFileDedupeRange(from, &r); err != nil {
		return 0, err
	}
	switch status := r.Info[0].Status; {
	case status < 0:
		return 0, unix.Errno(-status)
	case status == unix.FILE_DEDUPE_RANGE_DIFFERS:
		return 0, nil
	}
	return r.Info[0].Bytes_deduped, nil
}
