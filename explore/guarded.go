package explore

import (
	"context"
	"errors"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore/crash"
	"fsward/explore/ramdisk"
)

// A Guard stands between a machine and the guarded disks of a stack.
type Guard interface {
	// Begin has the guard know disks by what they hold now: the file systems on them are not in use.
	Begin(disks []GuardedDisk) (GuardSession, error)
}

// GuardedDisk is a disk, by the name of its device, and what it holds.
type GuardedDisk struct {
	Name string
	Base crash.Base
}

// GuardSession is what a Guard does for one run. Allow is called for what changes a disk, and for its flushes, one at a time and in their order;
// Refused and Close when nothing of that is under way.
type GuardSession interface {
	// Allow says whether what a bio of disk i asks for is done; an error number is what the machine gets in its place.
	Allow(i int, bio *ramdisk.Record) unix.Errno
	// Refused is what was refused first; nil: nothing was.
	Refused() *Failure
	Close() error
}

// A GuardedSystem is a System whose disks can be guarded.
type GuardedSystem interface {
	System
	// Guard has each bio that changes a disk, and each flush, wait for what allow says of it; nil: of the disk nothing waits any more,
	// and what did has its answer. The disk is logged while it is guarded. allow is called by one goroutine for all disks.
	Guard(ctx context.Context, disk uint32, allow func(bio *ramdisk.Record) unix.Errno) error
}

// guarding is the guard of a session's disks.
type diskGuard struct {
	guard   Guard
	system  GuardedSystem
	disks   []*Disk
	bases   []GuardedDisk
	session GuardSession // of the run that is under way, or was last; nil: of none
	on      bool         // the machine asks it
}

// guardDisks returns the guarding of the disks that are to be guarded; nil where there are none.
func guardDisks(disks *diskSet, guard Guard) (*diskGuard, error) {
	g := &diskGuard{guard: guard}
	for i, d := range disks.list {
		if d.Guarded {
			g.disks, g.bases = append(g.disks, d), append(g.bases, GuardedDisk{d.Path(), disks.bases[i]})
		}
	}
	if len(g.disks) == 0 {
		return nil, nil
	}
	var ok bool
	if g.system, ok = disks.system.(GuardedSystem); !ok || guard == nil {
		return nil, errors.New("disks of the stack must be guarded, but there is no guard, or the machine cannot guard disks")
	}
	return g, nil
}

// begin guards disks that are pristine and not mounted, and logged.
func (g *diskGuard) begin(ctx context.Context) error {
	if g == nil {
		return nil
	}
	if err := g.close(); err != nil {
		return err
	}
	var err error
	if g.session, err = g.guard.Begin(g.bases); err != nil {
		return err
	}
	for i, d := range g.disks {
		if err := g.system.Guard(ctx, d.Number, func(bio *ramdisk.Record) unix.Errno { return g.session.Allow(i, bio) }); err != nil {
			return err
		}
		g.on = true
	}
	return nil
}

// end lets everything pass from now on. What was refused stays known.
func (g *diskGuard) end(ctx context.Context) error {
	if g == nil || !g.on {
		return nil
	}
	for _, d := range g.disks {
		if err := g.system.Guard(ctx, d.Number, nil); err != nil {
			return err
		}
	}
	g.on = false
	return nil
}

// lost notes that the machine was put back, to when nothing was guarded.
func (g *diskGuard) lost() {
	if g != nil {
		g.on = false
	}
}

// close forgets the run that was guarded last. Nothing is guarded.
func (g *diskGuard) close() error {
	if g == nil || g.session == nil {
		return nil
	}
	err := g.session.Close()
	g.session = nil
	return err
}

// maxKernelLines bounds the lines of the kernel in a text, of which the last count; all are in the error's folder.
const maxKernelLines = 8

// met is a refusal with what the machine made of it.
func (f *Failure) withConsequences(kernel []string, then *Failure) *Failure {
	var lines []string
	for line := range strings.Lines(strings.Join(kernel, "\n")) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	text := strings.TrimSpace(f.Text)
	switch {
	case len(lines) > 0:
		text += "\n\nthe kernel, to which it is an I/O error:\n  " + strings.Join(lines[max(0, len(lines)-maxKernelLines):], "\n  ")
	case then != nil:
		text += "\n\nit led to: " + then.Kind
	}
	return &Failure{Kind: f.Kind, Text: text, Property: f.Property}
}
