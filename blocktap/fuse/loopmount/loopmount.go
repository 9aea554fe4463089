// Package loopmount mounts a device in the host's kernel: it serves the device as a file with FUSE,
// and mounts a loop device on that file. It needs root. Start reading at Attach.
//
//	m, err := loopmount.Attach(ctx, dev, log)
//	defer m.Close()
//	err = m.Mount("btrfs")
//	out, err := m.Run(ctx, "cp -r /usr/share/doc . && sync")
//	err = m.Unmount()
//
// The process that serves the device must not access its file system: it could wait for a write
// that its own hook holds. Run performs accesses in a child process. The run time of each command
// is bounded; after a timeout loopmount kills the command and aborts the device.
package loopmount

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/blocktap/fuse"
)

// DefaultTimeout is the Timeout of a new Loop.
const DefaultTimeout = 60 * time.Second

// A Loop is a device that the kernel uses through a loop device. Only one goroutine may call its
// methods, but any goroutine may call Abort.
type Loop struct {
	LoopDev string        // "/dev/loop3"
	Dir     string        // mount point of the file system
	Timeout time.Duration // of each command; the caller may change it between calls

	top     string // temporary directory with the two mount points
	server  *fuse.Server
	mounted bool
	closed  bool

	abortOnce sync.Once
	abortErr  error
	aborted   atomic.Bool
}

// Attach creates a loop device for dev. ctx and DefaultTimeout bound its time.
func Attach(ctx context.Context, dev *blocktap.Device, log *zap.Logger) (*Loop, error) {
	top, err := os.MkdirTemp("", "fsward-loop-")
	if err != nil {
		return nil, err
	}
	m := &Loop{Dir: filepath.Join(top, "mnt"), Timeout: DefaultTimeout, top: top}
	shown := filepath.Join(top, "dev")
	if err := errors.Join(os.Mkdir(m.Dir, 0o700), os.Mkdir(shown, 0o700)); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	if m.server, err = fuse.Mount(shown, dev, log); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	ctx, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	out, err := command(ctx, m.Abort, nil,
		"losetup", "--find", "--show", "--direct-io=on", m.server.Path())
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	m.LoopDev = string(bytes.TrimSpace(out))
	err = errors.Join(checkDirectIO(m.LoopDev), dropPartitions(ctx, m))
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// dropPartitions removes the partitions that the loop device keeps of the last disk that it had.
// libblkid, by which Btrfs's programs find their disks, looks at no disk that has partitions.
func dropPartitions(ctx context.Context, m *Loop) error {
	name := filepath.Base(m.LoopDev)
	left, err := filepath.Glob(filepath.Join("/sys/block", name, name+"p*"))
	if err != nil || len(left) == 0 {
		return err
	}
	_, err = command(ctx, m.Abort, nil, "partx", "--delete", m.LoopDev)
	return err
}

// checkDirectIO returns an error unless a loop device uses direct I/O. losetup only warns if direct
// I/O is not possible. Writes would then reach the device late, from the page cache.
func checkDirectIO(loopDev string) error {
	dio, err := os.ReadFile(filepath.Join("/sys/block", filepath.Base(loopDev), "loop/dio"))
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(dio, []byte("1")) {
		return fmt.Errorf("%s does not use direct I/O", loopDev)
	}
	return nil
}

// Mount mounts the file system on Dir. fstype is its type ("btrfs", "ext3"), opts are options of
// mount -o.
func (m *Loop) Mount(fstype string, opts ...string) error {
	args := []string{"-t", fstype}
	if len(opts) > 0 {
		args = append(args, "-o", strings.Join(opts, ","))
	}
	if err := m.command("mount", append(args, m.LoopDev, m.Dir)...); err != nil {
		return err
	}
	m.mounted = true
	return nil
}

// Run runs a shell script in Dir and returns its output and error output. The script ends at the
// first command that fails. If ctx has no deadline, Timeout bounds the run time.
func (m *Loop) Run(ctx context.Context, script string) ([]byte, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, m.Timeout)
		defer cancel()
	}
	// The shell changes the directory, and not the child process between fork and exec: that would
	// hang if the mount hangs, and all other forks of this process would wait for it.
	env := []string{"FSWARD_DIR=" + m.Dir}
	return command(ctx, m.Abort, env, "sh", "-ec", "cd \"$FSWARD_DIR\"\n"+script)
}

// Shell runs a shell script that uses the loop device without a mount and returns its output. The
// script ends at the first command that fails. ctx bounds the run time.
func (m *Loop) Shell(ctx context.Context, script string) ([]byte, error) {
	return command(ctx, m.Abort, nil, "sh", "-ec", script)
}

// Unmount unmounts the file system. The loop device remains, so that Mount can be called again.
func (m *Loop) Unmount() error {
	if !m.mounted {
		return nil
	}
	if err := m.command("umount", m.Dir); err != nil {
		return err
	}
	m.mounted = false
	return nil
}

// Cut simulates the loss of power: the device does not answer requests until Abort. See
// fuse.Server.Cut.
func (m *Loop) Cut() { m.server.Cut() }

// Abort makes all further requests to the device fail. Any goroutine may call it, also while
// another method waits. It returns the same error each time.
func (m *Loop) Abort() error {
	m.abortOnce.Do(func() {
		m.aborted.Store(true)
		if m.server != nil {
			m.abortErr = m.server.Abort()
		}
	})
	return m.abortErr
}

// Close removes the mount, the loop device, the FUSE mount and the directories, as far as they
// exist. Call it also after another method has failed. The second call does nothing.
func (m *Loop) Close() error {
	if m.closed {
		return nil
	}
	m.closed = true
	err := m.Unmount()
	if m.mounted {
		// err says why the file system is busy. A lazy unmount lets Close remove the device in any case.
		if lazyErr := m.command("umount", "--lazy", m.Dir); lazyErr == nil {
			m.mounted = false
		}
	}
	if m.LoopDev != "" {
		if detachErr := m.command("losetup", "--detach", m.LoopDev); detachErr != nil {
			err = errors.Join(err, detachErr)
		} else if !m.aborted.Load() { // the file of an aborted device can be removed at once
			err = errors.Join(err, detached(m.LoopDev, m.Timeout))
		}
	}
	if m.server != nil && !m.aborted.Load() {
		if unmountErr := m.server.Unmount(); unmountErr != nil {
			err = errors.Join(err, unmountErr, m.Abort())
		}
	}
	// RemoveAll would read a file system that is still mounted.
	for _, dir := range []string{m.Dir, filepath.Join(m.top, "dev"), m.top} {
		if removeErr := os.Remove(dir); removeErr != nil && !errors.Is(removeErr, os.ErrNotExist) {
			err = errors.Join(err, removeErr)
		}
	}
	return err
}

// command runs a program and discards its output unless it fails.
func (m *Loop) command(name string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), m.Timeout)
	defer cancel()
	_, err := command(ctx, m.Abort, nil, name, args...)
	return err
}
