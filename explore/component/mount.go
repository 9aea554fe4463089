package component

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
)

// mountFlags are the mount options that mount(8) passes to mount(2) as flags.
var mountFlags = map[string]uintptr{
	"defaults": 0, "ro": unix.MS_RDONLY, "rw": 0, "sync": unix.MS_SYNCHRONOUS,
	"dirsync": unix.MS_DIRSYNC, "noatime": unix.MS_NOATIME, "nodiratime": unix.MS_NODIRATIME,
	"relatime": unix.MS_RELATIME, "strictatime": unix.MS_STRICTATIME, "lazytime": unix.MS_LAZYTIME,
	"nosuid": unix.MS_NOSUID, "nodev": unix.MS_NODEV, "noexec": unix.MS_NOEXEC,
	"mand": unix.MS_MANDLOCK,
}

// Mount mounts it. It creates the mount point if that is missing.
func (c *Component) Mount(e *explore.Env) error {
	if c.Kind.Type == "" {
		if err := c.makeMountPoint(e); err != nil {
			return err
		}
		return c.run(e, "mount", c.Kind.Mount, 0)
	}
	op := c.mountOp()
	_, err := e.Do(op)
	if errors.Is(err, unix.ENOENT) {
		if err := c.makeMountPoint(e); err != nil {
			return err
		}
		_, err = e.Do(op)
	}
	if err != nil {
		return c.mountError(op, err)
	}
	return nil
}

// mountOp returns the system call that mounts the file system.
func (c *Component) mountOp() agent.Op {
	var set uintptr
	var rest []string
	for option := range strings.SplitSeq(c.Kind.Options+","+c.Options.Mount, ",") {
		if bits, is := mountFlags[option]; is {
			set |= bits
		} else if option != "" {
			rest = append(rest, option)
		}
	}
	return agent.Mount(c.On[0].Path(), c.At, c.Kind.Type, set, strings.Join(rest, ","))
}

// makeMountPoint creates the mount point, unless it exists or is a device.
func (c *Component) makeMountPoint(e *explore.Env) error {
	if strings.HasPrefix(c.At, "/dev/") {
		return nil
	}
	r, err := e.Try(agent.Mkdir(c.At, 0o755))
	if err != nil {
		return err
	}
	if r[0].Errno != 0 && r[0].Errno != unix.EEXIST {
		return fmt.Errorf("mkdir %s: %w", c.At, r[0].Errno)
	}
	return nil
}

// mountError adds the arguments of a failed mount or unmount to its error.
func (c *Component) mountError(op agent.Op, err error) error {
	var o *explore.OpError
	if errors.As(err, &o) {
		_, bits, texts, data := op.Fields()
		return fmt.Errorf("%s on %s, flags %#x, options %q: %w",
			c.Kind.Type, strings.Join(texts[:2], " "), bits[0], data, err)
	}
	return err
}

// Unmount unmounts it. Files that are still open would keep it busy: the agent closes those that it
// holds before its own unmount, and here before the command.
func (c *Component) Unmount(e *explore.Env) error {
	if c.Kind.Type == "" {
		var files []agent.Op
		for slot := uint32(agent.FirstHeld); slot < agent.MaxSlots; slot++ {
			files = append(files, agent.Close(slot))
		}
		if _, err := e.Try(files...); err != nil {
			return err
		}
		return c.run(e, "unmount", c.Kind.Unmount, 0)
	}
	op := agent.Unmount(c.At, 0)
	if _, err := e.Do(op); err != nil {
		return c.mountError(op, err)
	}
	return nil
}
