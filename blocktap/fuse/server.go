// Package fuse shows a device as one file named disk in a directory of its own, so that the host's
// kernel can use it as a block device through a loop device.
//
// The file bypasses the page cache. A loop device over it must do so too (losetup --direct-io=on), or
// writes would reach the device late and in an order of the page cache's own.
package fuse

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	gofuse "github.com/hanwen/go-fuse/v2/fuse"
	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"fsward/blocktap"
)

// FileName is the name of the file that is the device.
const FileName = "disk"

const (
	// maxRequest is the largest read or write that the kernel sends in one piece. Each request under way has a buffer of this size, so that at
	// most 70 MB are in use; FUSE would allow 1 MiB.
	maxRequest = 128 << 10
	// maxBackground is how many requests of a loop device may be under way. Writes on hold count, and
	// reads have to find room beside them; the queue of a loop device holds 128.
	maxBackground = 512
	// unmountWait is how long Unmount waits for the last user of the file to close it.
	unmountWait = 5 * time.Second
)

// Server serves a device until it is unmounted.
type Server struct {
	dir    string
	conn   uint32 // number of the connection, under /sys/fs/fuse/connections
	srv    *gofuse.Server
	dev    *blocktap.Device
	disk   *diskNode
	cancel context.CancelFunc
	log    *zap.Logger
}

// Mount mounts a directory, which must exist, with the device as its one file. Only the user who mounts
// can open it. Without root, fusermount3 (Debian package fuse3) is needed.
func Mount(dir string, dev *blocktap.Device, log *zap.Logger) (*Server, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	root := &fs.Inode{}
	disk := &diskNode{dev: dev, ctx: ctx, log: log}
	week := 7 * 24 * time.Hour // the file and its size do not change
	srv, err := fs.Mount(dir, root, &fs.Options{
		EntryTimeout: &week,
		AttrTimeout:  &week,
		OnAdd: func(ctx context.Context) {
			root.AddChild(FileName, root.NewPersistentInode(ctx, disk, fs.StableAttr{Mode: unix.S_IFREG}), false)
		},
		MountOptions: gofuse.MountOptions{
			FsName:        "fsward",
			Name:          "fsward",
			DirectMount:   true,
			MaxWrite:      maxRequest,
			MaxBackground: maxBackground,
			DisableXAttrs: true,
			// Without it a loop device, which has one worker, would wait for each request in turn, and
			// a write on hold would stop all reads.
			ExtraCapabilities: gofuse.CAP_ASYNC_DIO,
			Logger:            zap.NewStdLog(log),
		},
	})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("mounting %s: %w", dir, err)
	}
	s := &Server{dir: dir, srv: srv, dev: dev, disk: disk, cancel: cancel, log: log}
	if s.conn, err = connection(dir); err != nil {
		return nil, errors.Join(err, s.Unmount())
	}
	return s, nil
}

// Path returns the path of the file that is the device.
func (s *Server) Path() string { return filepath.Join(s.dir, FileName) }

// Unmount ends the service once nobody has the file open any more. If somebody still has after five
// seconds, it is an error and the service goes on.
func (s *Server) Unmount() error {
	for deadline := time.Now().Add(unmountWait); ; {
		err := s.srv.Unmount()
		if err == nil {
			s.cancel()
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("unmounting %s: %w", s.dir, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Cut leaves every later request without an answer, until Abort ends the wait: whoever sent it learns nothing. So the power of several
// disks is cut at one instant, by a Cut of each before the first Abort. After an Abort alone, the kernel would hear that one disk
// fails while others still take what it writes.
func (s *Server) Cut() { s.disk.cut.Store(true) }

// Abort ends the connection with the kernel: every request under way and every later one is an I/O
// error to whoever sent it, and a hook that waits is told by its context. It is the way out when
// something hangs; afterwards the mount point is taken away from the tree, and nothing there is to be
// touched before. When it returns no change is under way any more, so that the device can be served anew.
func (s *Server) Abort() error {
	s.cancel()
	defer s.dev.Between(func() {})
	err := abort(s.conn)
	if err != nil {
		// A forced unmount aborts as well (fuse_umount_begin).
		if forceErr := unix.Unmount(s.dir, unix.MNT_FORCE); forceErr == nil || errors.Is(forceErr, unix.EBUSY) {
			err = nil
		}
	}
	return errors.Join(err, s.detach())
}

// detach takes the mount out of the tree although it may be in use.
func (s *Server) detach() error {
	err := unix.Unmount(s.dir, unix.MNT_DETACH)
	if err != nil && !errors.Is(err, unix.EINVAL) { // EINVAL: not mounted any more
		return fmt.Errorf("detaching %s: %w", s.dir, err)
	}
	return nil
}
