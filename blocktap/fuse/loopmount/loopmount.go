// Package loopmount lets the host's own kernel use a device: FUSE shows it as a file, a loop device makes
// a disk of it, and a file system is mounted from that. It needs root.
//
//	m, err := loopmount.Attach(ctx, dev, log)
//	defer m.Close()
//	err = m.Mount("btrfs")
//	out, err := m.Run(ctx, "cp -r /usr/share/doc . && sync")
//	err = m.Unmount()
//
// The process that serves the device must not wait for the file system on it: a file operation on Dir
// that has to wait for a write on hold would wait for itself. Run does what there is to do on it in
// a child process. Every command that is run here ends in bounded time; one that does not is killed and
// the device aborted.
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

// DefaultTimeout bounds a command of a Loop whose Timeout is not set.
const DefaultTimeout = 60 * time.Second

// Loop is a device that the kernel uses. Its methods are called by one goroutine, Abort by any.
type Loop struct {
	LoopDev string        // "/dev/loop3"
	Dir     string        // where Mount mounts the file system
	Timeout time.Duration // of each command; may be changed between calls

	top     string // temporary directory with the two mount points
	server  *fuse.Server
	mounted bool
	closed  bool

	abortOnce sync.Once
	abortErr  error
	aborted   atomic.Bool
}

// Attach makes a loop device of a device. ctx bounds the time that this takes.
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
	out, err := command(ctx, m.Abort, nil, "losetup", "--find", "--show", "--direct-io=on", m.server.Path())
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	m.LoopDev = string(bytes.TrimSpace(out))
	// Where direct I/O is not possible losetup warns and goes on, and then nothing here holds: writes
	// would come late, from the page cache.
	if dio, err := os.ReadFile(filepath.Join("/sys/block", filepath.Base(m.LoopDev), "loop/dio")); err != nil || !bytes.HasPrefix(dio, []byte("1")) {
		return nil, errors.Join(fmt.Errorf("%s does not use direct I/O: %w", m.LoopDev, err), m.Close())
	}
	return m, nil
}

// Mount mounts the file system of a type ("btrfs", "ext3") on Dir, with options as mount -o takes them.
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

// Run runs a shell script in Dir and returns what it printed, on both outputs. It stops at the first
// command that fails. Without a deadline of ctx, Timeout bounds it.
func (m *Loop) Run(ctx context.Context, script string) ([]byte, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, m.Timeout)
		defer cancel()
	}
	// The shell changes the directory, not the child between fork and exec: if the mount is dead, that
	// would hang with all of our process's forks waiting behind it.
	return command(ctx, m.Abort, []string{"FSWARD_DIR=" + m.Dir}, "sh", "-ec", "cd \"$FSWARD_DIR\"\n"+script)
}

// Shell runs a shell script on loop devices that are not mounted and returns what it printed. It stops at the first
// command that fails; ctx bounds it.
func (m *Loop) Shell(ctx context.Context, script string) ([]byte, error) {
	return command(ctx, m.Abort, nil, "sh", "-ec", script)
}

// Unmount unmounts the file system. The loop device stays, and Mount can be called again.
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

// Cut leaves every request to the device unanswered from now on, until Abort: see fuse.Server.
func (m *Loop) Cut() { m.server.Cut() }

// Abort makes every request to the device fail from now on, as if its cable were pulled. It is safe to
// call from another goroutine while a method waits.
func (m *Loop) Abort() error {
	m.abortOnce.Do(func() {
		m.aborted.Store(true)
		if m.server != nil {
			m.abortErr = m.server.Abort()
		}
	})
	return m.abortErr
}

// Close undoes all that is left: the mount, the loop device, the FUSE mount, the directories. It is to
// be called after an error of any other method as well. Called again it does nothing.
func (m *Loop) Close() error {
	if m.closed {
		return nil
	}
	m.closed = true
	err := m.Unmount()
	if m.mounted {
		// What keeps it busy is told in err; the device must not stay behind for its sake.
		if lazyErr := m.command("umount", "--lazy", m.Dir); lazyErr == nil {
			m.mounted = false
		}
	}
	if m.LoopDev != "" {
		if detachErr := m.command("losetup", "--detach", m.LoopDev); detachErr != nil {
			err = errors.Join(err, detachErr)
		} else if !m.aborted.Load() { // a device that was aborted answers nobody, and its file can be taken away
			err = errors.Join(err, detached(m.LoopDev, m.Timeout))
		}
	}
	if m.server != nil && !m.aborted.Load() {
		if unmountErr := m.server.Unmount(); unmountErr != nil {
			err = errors.Join(err, unmountErr, m.Abort())
		}
	}
	// Not RemoveAll: that would look into what is still mounted.
	for _, dir := range []string{m.Dir, filepath.Join(m.top, "dev"), m.top} {
		if removeErr := os.Remove(dir); removeErr != nil && !errors.Is(removeErr, os.ErrNotExist) {
			err = errors.Join(err, removeErr)
		}
	}
	return err
}

// command runs a program whose output does not matter unless it fails.
func (m *Loop) command(name string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), m.Timeout)
	defer cancel()
	_, err := command(ctx, m.Abort, nil, name, args...)
	return err
}
