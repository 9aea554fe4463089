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
	// Begin starts to guard disks. The file systems on them are not in use.
	Begin(disks []GuardedDisk) (GuardSession, error)
}

// A GuardedDisk is the name of a disk's device, and the present contents of the disk.
type GuardedDisk struct {
	Name string
	Base crash.Base
}

// A GuardSession guards disks for one execution. Allow is called for each bio that changes a disk
// and for each flush, one at a time, in their order. Refused and Close are not called during an
// Allow.
type GuardSession interface {
	// Allow returns 0 if a bio of disk i may be performed. Otherwise the machine gets the error
	// number, and the bio is not performed.
	Allow(i int, bio *ramdisk.Record) unix.Errno
	// Refused returns a failure about the first bio that was refused; nil: none was.
	Refused() *Failure
	Close() error
}

// A GuardedSystem is a System whose disks can be guarded.
type GuardedSystem interface {
	System
	// Guard makes each bio that changes a disk, and each flush, wait for the answer of allow. With
	// nil, it ends that: bios that still wait get their answers first, and later ones do not wait. The
	// disk is logged while it is guarded. One goroutine calls allow for all disks.
	Guard(ctx context.Context, disk uint32, allow func(bio *ramdisk.Record) unix.Errno) error
}

// A diskGuard guards the disks of a session that are marked as guarded. Its methods do nothing if
// it is nil.
type diskGuard struct {
	guard   Guard
	system  GuardedSystem
	set     *diskSet
	disks   []int        // indexes of the guarded disks in set.list
	session GuardSession // of the present or last execution; nil: there was none
	on      bool         // the machine asks the session
}

// guardDisks returns a diskGuard for the guarded disks; nil if there are none.
func guardDisks(disks *diskSet, guard Guard) (*diskGuard, error) {
	g := &diskGuard{guard: guard, set: disks}
	for i, d := range disks.list {
		if d.Guarded {
			g.disks = append(g.disks, i)
		}
	}
	if len(g.disks) == 0 {
		return nil, nil
	}
	var ok bool
	if g.system, ok = disks.system.(GuardedSystem); !ok || guard == nil {
		return nil, errors.New("the stack has guarded disks, but no guard is configured, " +
			"or the machine cannot guard disks")
	}
	return g, nil
}

// begin starts to guard the disks. They are pristine, logged, and not mounted.
func (g *diskGuard) begin(ctx context.Context) error {
	if g == nil {
		return nil
	}
	if err := g.close(); err != nil {
		return err
	}
	var bases []GuardedDisk
	for _, n := range g.disks {
		bases = append(bases, GuardedDisk{g.set.list[n].Path(), g.set.bases[n]})
	}
	var err error
	if g.session, err = g.guard.Begin(bases); err != nil {
		return err
	}
	for i, n := range g.disks {
		allow := func(bio *ramdisk.Record) unix.Errno { return g.session.Allow(i, bio) }
		if err := g.system.Guard(ctx, g.set.list[n].Number, allow); err != nil {
			return err
		}
		g.on = true
	}
	return nil
}

// end stops guarding the disks. The session keeps its first refusal.
func (g *diskGuard) end(ctx context.Context) error {
	if g == nil || !g.on {
		return nil
	}
	for _, n := range g.disks {
		if err := g.system.Guard(ctx, g.set.list[n].Number, nil); err != nil {
			return err
		}
	}
	g.on = false
	return nil
}

// lost records that the machine was restored to a state in which no disk was guarded.
func (g *diskGuard) lost() {
	if g != nil {
		g.on = false
	}
}

// close closes the last session. No disk is guarded any more.
func (g *diskGuard) close() error {
	if g == nil || g.session == nil {
		return nil
	}
	err := g.session.Close()
	g.session = nil
	return err
}

// maxKernelLines bounds the kernel's last lines in the text of a failure. The error's folder has
// all lines.
const maxKernelLines = 8

// withConsequences returns a refusal with its consequences in the machine: what the kernel logged,
// or else the failure that followed.
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
		last := lines[max(0, len(lines)-maxKernelLines):]
		text += "\n\nThe kernel got an I/O error and logged:\n  " + strings.Join(last, "\n  ")
	case then != nil:
		text += "\n\nIt led to: " + then.Kind
	}
	return &Failure{Kind: f.Kind, Text: text, Property: f.Property}
}
