// Package recheck recovers crash states of a recorded disk in a machine, and has a script of the
// user check them.
//
// Start reading at New and Checker.Check.
package recheck

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/audit"
	"fsward/explore/component"
	"fsward/explore/crash"
	"fsward/explore/oracle"
	"fsward/explore/ramdisk"
	"fsward/interp"
)

// At is where the file system is mounted while the script runs, and its working directory.
const At = "/mnt/fsward"

const (
	disk    = 0
	name    = "fsward-recorded"
	timeout = 10 * time.Minute // of the script
)

// A Checker checks crash states of one disk.
type Checker struct {
	system explore.System
	fs     *component.Component
	script string
	window oracle.Window
	size   uint64 // of what the window shows, bytes
}

// A Disk is what is checked: the part of a disk that has a file system.
type Disk struct {
	Base    crash.Base
	Window  oracle.Window
	FS      string // as for component.Load
	Options string // of its mount
}

// New puts a disk into a machine. script is a shell script.
func New(ctx context.Context, system explore.System, d Disk, script string) (*Checker, error) {
	kind, err := component.Load(d.FS)
	if err != nil {
		return nil, err
	}
	base := d.Window.Of(d.Base)
	size := base.Size()
	if size%ramdisk.PageSize != 0 || size > ramdisk.MaxBytes {
		return nil, fmt.Errorf("a disk of %d bytes cannot be checked in a guest: want a multiple of %d, "+
			"at most %d", size, ramdisk.PageSize, uint64(ramdisk.MaxBytes))
	}
	c := &Checker{system: system, script: script, window: d.Window, size: size}
	c.fs, err = kind.New(At, component.Options{Mount: d.Options}, explore.RAMDisk(disk, size))
	if err != nil {
		return nil, err
	}
	if err := system.MakeDisk(ctx, disk, size); err != nil {
		return nil, err
	}
	if err := c.load(ctx, base); err != nil {
		return nil, err
	}
	return c, system.Snapshot(ctx, disk, name)
}

// batch is the number of pages that are written at once.
const batch = 256

// load writes the pages of a disk that are not zeros.
func (c *Checker) load(ctx context.Context, base interp.Disk) error {
	zeros := make([]byte, ramdisk.PageSize)
	var pages []agent.Page
	for off := uint64(0); off < base.Size(); off += ramdisk.PageSize {
		page := make([]byte, ramdisk.PageSize)
		if _, err := base.ReadAt(page, int64(off)); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if !bytes.Equal(page, zeros) {
			pages = append(pages, agent.Page{Number: off / ramdisk.PageSize, Data: page})
		}
		if len(pages) == batch {
			if err := c.system.WritePages(ctx, disk, pages); err != nil {
				return err
			}
			pages = nil
		}
	}
	if len(pages) == 0 {
		return nil
	}
	return c.system.WritePages(ctx, disk, pages)
}

// Check recovers and mounts a crash state, runs the script, and unmounts it. It returns what is
// wrong; nil: nothing. The error is one of the machine, which is then in an unknown state.
func (c *Checker) Check(ctx context.Context, s *crash.State) (*audit.Problem, error) {
	if err := c.system.Restore(ctx, disk, name); err != nil {
		return nil, err
	}
	var pages []agent.Page
	for addr, contents := range s.Pages() {
		if addr >= c.window.Off && addr-c.window.Off < c.size {
			addr -= c.window.Off
			pages = append(pages, agent.Page{Number: addr / ramdisk.PageSize, Data: contents})
		}
	}
	for len(pages) > 0 {
		some := pages[:min(batch, len(pages))]
		if err := c.system.WritePages(ctx, disk, some); err != nil {
			return nil, err
		}
		pages = pages[len(some):]
	}
	e := explore.NewEnv(ctx, c.system, new(explore.Chooser))
	if err := c.fs.Recover(e); err != nil {
		return problem(e, "recovery failed", err)
	}
	if err := c.fs.Mount(e); err != nil {
		return problem(e, "mount failed", err)
	}
	p, err := problem(e, "check failed", c.run(e))
	if err != nil {
		return nil, err
	}
	e = explore.NewEnv(ctx, c.system, new(explore.Chooser)) // after a script that was too slow
	if err := c.fs.Unmount(e); err != nil {
		return nil, fmt.Errorf("the file system cannot be unmounted: %w", err)
	}
	return p, nil
}

// run runs the script. It fails if the script does not succeed in time.
func (c *Checker) run(e *explore.Env) error {
	exit, err := e.RunCommand(agent.Command{Args: []string{"sh", "-c", c.script, "sh", At}, Dir: At,
		Timeout: timeout})
	if err == nil && (exit.Code != 0 || exit.Signal != 0) {
		err = &explore.CommandError{Command: "the script", Exit: exit}
	}
	return err
}

// problem returns what failed, or the error of the machine. A script that takes too long is a
// problem.
func problem(e *explore.Env, kind string, err error) (*audit.Problem, error) {
	if slow, ok := errors.AsType[*explore.SlowError](err); ok {
		return &audit.Problem{Kind: kind, Text: slow.Error()}, nil
	}
	if machine := e.Err(); machine != nil || err == nil {
		return nil, machine
	}
	return &audit.Problem{Kind: kind, Text: err.Error()}, nil
}
