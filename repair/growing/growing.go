// Package growing serves a file that begins empty and grows, such as the undo file of a repair, and
// tells what is written to it. Start with Mount.
package growing

import (
	"context"
	"fmt"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	gofuse "github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// FileName is the name of the file in its mount.
const FileName = "file"

// A Watcher sees what happens to the file, before the program gets an answer. Its methods are
// called one at a time.
type Watcher interface {
	// Wrote tells that bytes were written at an offset in bytes. data must not be kept.
	Wrote(off uint64, data []byte)
	// Flushed tells that all bytes so far are durable.
	Flushed()
}

// A Server serves the file until it is unmounted.
type Server struct{ srv *gofuse.Server }

// Mount mounts a file system with one empty file on an existing folder. It grows to at most limit
// bytes; a write beyond them fails with ENOSPC. Mount needs root.
func Mount(dir string, limit uint64, w Watcher) (*Server, error) {
	file := &node{limit: limit, watcher: w}
	root := &fs.Inode{}
	options := &fs.Options{
		OnAdd: func(ctx context.Context) {
			child := root.NewPersistentInode(ctx, file, fs.StableAttr{Mode: unix.S_IFREG})
			root.AddChild(FileName, child, false)
		},
		MountOptions: gofuse.MountOptions{FsName: "fsward", Name: "fsward", DirectMountStrict: true,
			DisableXAttrs: true},
	}
	// fs.Mount would use the mount in this process: see blocktap/fuse.
	srv, err := gofuse.NewServer(fs.NewNodeFS(root, options), dir, &options.MountOptions)
	if err != nil {
		return nil, fmt.Errorf("mounting %s: %w", dir, err)
	}
	go srv.Serve()
	return &Server{srv}, nil
}

// Unmount ends the server. A process that still has the file open is an error, and the mount is
// detached.
func (s *Server) Unmount() error { return s.srv.Unmount() }

// node is the file.
type node struct {
	fs.Inode
	limit   uint64
	watcher Watcher
	mu      sync.Mutex
	data    []byte
}

var (
	_ fs.NodeGetattrer = (*node)(nil)
	_ fs.NodeSetattrer = (*node)(nil)
	_ fs.NodeOpener    = (*node)(nil)
	_ fs.NodeReader    = (*node)(nil)
	_ fs.NodeWriter    = (*node)(nil)
	_ fs.NodeFsyncer   = (*node)(nil)
)

func (n *node) Getattr(_ context.Context, _ fs.FileHandle, out *gofuse.AttrOut) syscall.Errno {
	n.mu.Lock()
	defer n.mu.Unlock()
	out.Mode, out.Nlink = unix.S_IFREG|0o600, 1
	out.Size = uint64(len(n.data))
	return 0
}

// Setattr accepts the truncation of an empty file, which O_TRUNC asks for. A watcher could not be
// told of others.
func (n *node) Setattr(
	ctx context.Context, f fs.FileHandle, in *gofuse.SetAttrIn, out *gofuse.AttrOut,
) syscall.Errno {
	n.mu.Lock()
	size, ok := in.GetSize()
	refused := ok && size != uint64(len(n.data))
	n.mu.Unlock()
	if refused {
		return syscall.EOPNOTSUPP
	}
	return n.Getattr(ctx, f, out)
}

// Open makes the kernel bypass its page cache, so that the watcher sees each write when the program
// makes it.
func (n *node) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, gofuse.FOPEN_DIRECT_IO, 0
}

func (n *node) Read(_ context.Context, _ fs.FileHandle, dest []byte, off int64) (
	gofuse.ReadResult, syscall.Errno,
) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if off < 0 || off >= int64(len(n.data)) {
		return gofuse.ReadResultData(nil), 0
	}
	return gofuse.ReadResultData(dest[:copy(dest, n.data[off:])]), 0
}

func (n *node) Write(_ context.Context, _ fs.FileHandle, data []byte, off int64) (
	uint32, syscall.Errno,
) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if off < 0 || uint64(off) > n.limit || uint64(len(data)) > n.limit-uint64(off) {
		return 0, syscall.ENOSPC
	}
	if end := off + int64(len(data)); end > int64(len(n.data)) {
		n.data = append(n.data, make([]byte, end-int64(len(n.data)))...)
	}
	copy(n.data[off:], data)
	n.watcher.Wrote(uint64(off), data)
	return uint32(len(data)), 0
}

func (n *node) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.watcher.Flushed()
	return 0
}
