package fuse

import (
	"context"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	gofuse "github.com/hanwen/go-fuse/v2/fuse"
	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"fsward/blocktap"
)

// diskNode is the file. Each request of the kernel becomes one request to the device. go-fuse calls
// the methods for several requests at the same time, each on its own goroutine.
type diskNode struct {
	fs.Inode
	dev *blocktap.Device
	ctx context.Context // the context of the hooks; ends when the connection is aborted
	cut atomic.Bool     // new requests wait for the end of ctx and then fail
	log *zap.Logger

	// writes is held alone by a write of parts of sectors, which reads the rest of them first. Another
	// write in between would be lost.
	writes sync.RWMutex
}

var (
	_ fs.NodeGetattrer = (*diskNode)(nil)
	_ fs.NodeOpener    = (*diskNode)(nil)
	_ fs.NodeReader    = (*diskNode)(nil)
	_ fs.NodeWriter    = (*diskNode)(nil)
	_ fs.NodeFsyncer   = (*diskNode)(nil)
	_ fs.NodeAllocater = (*diskNode)(nil)
)

// handle is an open file.
type handle struct {
	sync bool // it was opened with O_SYNC or O_DSYNC
}

func (n *diskNode) do(r *blocktap.Request) syscall.Errno {
	if n.cut.Load() {
		<-n.ctx.Done()
		return syscall.EIO
	}
	err := n.dev.Do(n.ctx, r)
	if err != nil {
		n.log.Warn("request failed", zap.Stringer("op", r.Op), zap.Uint64("offset", r.Off),
			zap.Uint64("length", r.Len), zap.Error(err))
	}
	return blocktap.Errno(err)
}

func (n *diskNode) Getattr(_ context.Context, _ fs.FileHandle, out *gofuse.AttrOut) syscall.Errno {
	size := n.dev.Size()
	out.Mode = syscall.S_IFREG | 0o600
	out.Nlink = 1
	out.Size = size
	out.Blocks = size / 512
	out.Blksize = 4096
	return 0
}

// Open makes the kernel bypass its page cache, so that a write is acknowledged only after the
// device has performed it. It allows parallel writes, so that others arrive while the hook holds
// one.
func (n *diskNode) Open(_ context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	const fuseFlags = gofuse.FOPEN_DIRECT_IO | gofuse.FOPEN_PARALLEL_DIRECT_WRITES |
		gofuse.FOPEN_NOFLUSH
	return &handle{sync: flags&(unix.O_SYNC|unix.O_DSYNC) != 0}, fuseFlags, 0
}

// Read returns fewer bytes at the end of the disk, as for any file.
func (n *diskNode) Read(_ context.Context, _ fs.FileHandle, dest []byte, off int64) (
	gofuse.ReadResult, syscall.Errno,
) {
	size := n.dev.Size()
	if off < 0 || uint64(off) >= size {
		return gofuse.ReadResultData(nil), 0
	}
	dest = dest[:min(uint64(len(dest)), size-uint64(off))]
	errno := n.do(&blocktap.Request{
		Op: blocktap.OpRead, Off: uint64(off), Len: uint64(len(dest)), Data: dest,
	})
	return gofuse.ReadResultData(dest), errno
}

// Write passes data to the device without a copy. go-fuse does not reuse the buffer before Write
// returns.
func (n *diskNode) Write(_ context.Context, f fs.FileHandle, data []byte, off int64) (
	uint32, syscall.Errno,
) {
	h, ok := f.(*handle)
	r := &blocktap.Request{
		Op: blocktap.OpWrite, Off: uint64(off), Len: uint64(len(data)), Data: data, FUA: ok && h.sync,
	}
	if (r.Off|r.Len)%blocktap.SectorSize != 0 {
		n.writes.Lock()
		defer n.writes.Unlock()
		if errno := n.wholeSectors(r); errno != 0 {
			return 0, errno
		}
	} else {
		n.writes.RLock()
		defer n.writes.RUnlock()
	}
	if errno := n.do(r); errno != 0 {
		return 0, errno
	}
	return uint32(len(data)), 0
}

// wholeSectors extends a write to whole sectors with what the device has there. A program that
// opens the file writes any range; a block device of Linux never does.
func (n *diskNode) wholeSectors(r *blocktap.Request) syscall.Errno {
	from := r.Off / blocktap.SectorSize * blocktap.SectorSize
	end := (r.Off + r.Len + blocktap.SectorSize - 1) / blocktap.SectorSize * blocktap.SectorSize
	whole := make([]byte, end-from)
	errno := n.do(&blocktap.Request{Op: blocktap.OpRead, Off: from, Len: end - from, Data: whole})
	copy(whole[r.Off-from:], r.Data)
	r.Off, r.Len, r.Data = from, end-from, whole
	return errno
}

func (n *diskNode) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	return n.do(&blocktap.Request{Op: blocktap.OpFlush})
}

// Allocate handles fallocate, which a loop device calls for discard and for write-zeroes
// (lo_fallocate). A punched hole has to read as zeros, so that it becomes a zero request and not a
// trim.
func (n *diskNode) Allocate(
	_ context.Context, _ fs.FileHandle, off, size uint64, mode uint32,
) syscall.Errno {
	r := &blocktap.Request{Op: blocktap.OpZero, Off: off, Len: size}
	switch mode &^ unix.FALLOC_FL_KEEP_SIZE {
	case unix.FALLOC_FL_PUNCH_HOLE:
	case unix.FALLOC_FL_ZERO_RANGE:
		r.NoHole = true
	default:
		return syscall.EOPNOTSUPP
	}
	return n.do(r)
}
