// Package fuse serves a device as a file named disk in a mount of its own, so that the host's
// kernel can use it as a block device through a loop device. Start reading at Mount.
//
// The file bypasses the page cache. A loop device on it must bypass it too (losetup
// --direct-io=on); otherwise writes would reach the device late and in a different order.
package fuse

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	gofuse "github.com/hanwen/go-fuse/v2/fuse"
	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"fsward/blocktap"
)

// FileName is the name of the device's file.
const FileName = "disk"

const (
	// maxRequest is the largest read or write of the kernel in bytes. Each request in flight has a
	// buffer of this size, so that the buffers take at most 70 MB. FUSE would allow 1 MiB.
	maxRequest = 128 << 10
	// maxBackground is the largest number of requests of a loop device in flight. It leaves room for
	// reads while the hook holds writes; the queue of a loop device has 128 requests.
	maxBackground = 512
	// unmountWait is the time that Unmount waits for the last user of the file to close it.
	unmountWait = 5 * time.Second
)

// A Server serves a device until it is unmounted. The process that serves it must not use the
// mount: if it is killed meanwhile, it never ends. Go's os.Open would also poll the file, and take
// a processor from the server until that has answered.
type Server struct {
	dir    string
	conn   uint32 // number of the FUSE connection
	srv    *gofuse.Server
	dev    *blocktap.Device
	disk   *diskNode
	cancel context.CancelFunc
	log    *zap.Logger
}

// Mount mounts a file system on an existing directory. It contains one file, the device. Only the
// user of the process can open it. Without root, Mount needs fusermount3 (Debian package fuse3).
// Call RemoveStale before the first access to the directory.
func Mount(dir string, dev *blocktap.Device, log *zap.Logger) (*Server, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	source, err := ownSource()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	root := &fs.Inode{}
	disk := &diskNode{dev: dev, ctx: ctx, log: log}
	week := 7 * 24 * time.Hour // the file and its size do not change
	options := &fs.Options{
		EntryTimeout: &week,
		AttrTimeout:  &week,
		OnAdd: func(ctx context.Context) {
			file := root.NewPersistentInode(ctx, disk, fs.StableAttr{Mode: unix.S_IFREG})
			root.AddChild(FileName, file, false)
		},
		MountOptions: gofuse.MountOptions{
			FsName:        source,
			Name:          "fsward",
			DirectMount:   true,
			MaxWrite:      maxRequest,
			MaxBackground: maxBackground,
			DisableXAttrs: true,
			// Without it a loop device would send one request at a time, because it has one worker, and
			// all reads would wait for a write that the hook holds.
			ExtraCapabilities: gofuse.CAP_ASYNC_DIO,
			Logger:            zap.NewStdLog(log),
		},
	}
	// fs.Mount would open a file of the mount in this process (Server.WaitMount). If the process is
	// killed before it has answered such a request of its own, it never ends (request_wait_answer).
	srv, err := gofuse.NewServer(fs.NewNodeFS(root, options), dir, &options.MountOptions)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("mounting %s: %w", dir, err)
	}
	go srv.Serve()
	if err := closeOnExec(); err != nil {
		cancel()
		return nil, errors.Join(err, srv.Unmount())
	}
	s := &Server{dir: dir, srv: srv, dev: dev, disk: disk, cancel: cancel, log: log}
	if s.conn, err = connection(dir); err != nil {
		return nil, errors.Join(err, s.Unmount())
	}
	return s, nil
}

// closeOnExec keeps children of this process from inheriting the connections to the kernel. go-fuse
// opens /dev/fuse without O_CLOEXEC (mountDirect). A child that outlives the server, such as a
// mount that waits for an answer, would keep its connection from being aborted, and so wait
// forever.
func closeOnExec() error {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, fd := range fds {
		// One that was closed meanwhile has no link.
		if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && to == "/dev/fuse" {
			n, err := strconv.Atoi(fd.Name())
			if err != nil {
				return err
			}
			unix.CloseOnExec(n)
		}
	}
	return nil
}

// Path returns the path of the device's file.
func (s *Server) Path() string { return filepath.Join(s.dir, FileName) }

// Unmount ends the server once no process has the file open. If a process still has it open after
// five seconds, Unmount returns an error and the server goes on.
func (s *Server) Unmount() error {
	for deadline := time.Now().Add(unmountWait); ; {
		err := s.unmountOnce()
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

// keptWait is the time after which a mount that is gone here must be in another mount namespace.
const keptWait = 3 * time.Second

// unmountOnce unmounts, and waits until the kernel sends no more requests. A process that began to
// have its own mounts meanwhile has a copy of ours, and keeps the connection for as long as it
// runs: it is aborted then. Nothing is lost, since each write has reached the server.
func (s *Server) unmountOnce() error {
	done := make(chan error, 1)
	go func() { done <- s.srv.Unmount() }()
	for {
		select {
		case err := <-done:
			return err
		case <-time.After(keptWait):
		}
		if m, err := mountAt(s.dir); err == nil && m == nil {
			if err := abort(s.conn); err != nil {
				return err
			}
		}
	}
}

// Cut simulates the loss of power: the server neither performs nor answers later requests, and
// their senders wait until Abort. To cut the power of several disks at one moment, call Cut for all
// of them before the first Abort. After Abort alone the kernel would see one disk fail while others
// still perform its writes.
func (s *Server) Cut() { s.disk.cut.Store(true) }

// Abort ends the connection with the kernel: all requests in flight and all later ones fail with an
// I/O error, and the contexts of hooks end. Use it when a request hangs. It then detaches the
// mount, so that accesses to the mount point do not hang. When Abort returns, no change is in
// progress, so that another server can serve the device.
func (s *Server) Abort() error {
	s.cancel()
	defer s.dev.Between(func() {})
	err := abort(s.conn)
	if err != nil {
		// A forced unmount also aborts the connection (fuse_umount_begin).
		forceErr := unix.Unmount(s.dir, unix.MNT_FORCE)
		if forceErr == nil || errors.Is(forceErr, unix.EBUSY) {
			err = nil
		}
	}
	return errors.Join(err, s.detach())
}

// detach removes the mount from the tree even if it is in use.
func (s *Server) detach() error {
	err := unix.Unmount(s.dir, unix.MNT_DETACH)
	if err != nil && !errors.Is(err, unix.EINVAL) { // EINVAL: no longer mounted
		return fmt.Errorf("detaching %s: %w", s.dir, err)
	}
	return nil
}
