// Package exploretest has a machine in memory, for tests of the explorer, of components and of checkers that need no guest.
package exploretest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/crash"
	"fsward/explore/ramdisk"
)

// Program is what a command does on a System.
type Program func(s *System, c agent.Command) (agent.Exit, error)

// System has RAM disks with a log, as a guest has, and runs what it is given. Safe for concurrent use, by programs too.
type System struct {
	Programs map[string]Program // by the first argument
	// Perform performs operations; nil: each fails with ENOSYS.
	Perform func(s *System, op agent.Op) agent.Result
	// Memory returns a function that puts back what programs have in memory now. nil: there are no checkpoints.
	Memory func() (back func())

	mu      sync.Mutex
	disks   map[uint32]*disk
	records []ramdisk.Record
	seq, id uint64
	blocks  []crash.Block
	clock   time.Duration // of records and blocks: the next comes later
}

var (
	_ explore.WriteSetSystem = (*System)(nil)
	_ explore.GuardedSystem  = (*System)(nil)
)

type page = [ramdisk.PageSize]byte

// disk holds pages that are not zeros. A page is never written in place, so that snapshots share it.
type disk struct {
	bytes     uint64
	pages     map[uint64]*page
	snapshots map[string]map[uint64]*page
	logging   bool
	watched   bool                             // what is marked dirty is logged
	allow     func(*ramdisk.Record) unix.Errno // nil: it is not guarded
}

// New returns a system without disks.
func New() *System {
	return &System{Programs: make(map[string]Program), disks: make(map[uint32]*disk)}
}

// Run runs a program of s.Programs.
func (s *System) Run(ctx context.Context, c agent.Command) (agent.Exit, error) {
	if err := ctx.Err(); err != nil {
		return agent.Exit{}, err
	}
	p := s.Programs[c.Args[0]]
	if p == nil {
		return agent.Exit{Code: 127, Stderr: []byte(c.Args[0] + ": not found")}, nil
	}
	return p(s, c)
}

var markCode = agent.DiskMark("").Code

// Do performs a batch with s.Perform; marks it sets itself.
func (s *System) Do(ctx context.Context, b agent.Batch) (agent.Done, error) {
	var done agent.Done
	for _, op := range b.Ops {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		r := agent.Result{Errno: unix.ENOSYS}
		if _, _, texts, _ := op.Fields(); op.Code == markCode {
			r.Errno = 0
			_ = s.Mark(ctx, texts[0]) // it always can
		} else if s.Perform != nil {
			r = s.Perform(s, op)
		}
		done.Results = append(done.Results, r)
		if r.Errno != 0 && b.StopAtError {
			break
		}
	}
	return done, nil
}

func (s *System) disk(n uint32) (*disk, error) {
	d := s.disks[n]
	if d == nil {
		return nil, fmt.Errorf("disk %d: %w", n, unix.ENXIO)
	}
	return d, nil
}

// with calls f with a disk, alone.
func (s *System) with(n uint32, f func(d *disk) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.disk(n)
	if err != nil {
		return err
	}
	return f(d)
}

// MakeDisk makes a disk of zeros.
func (s *System) MakeDisk(_ context.Context, n uint32, bytes uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.disks[n] != nil {
		return fmt.Errorf("disk %d: %w", n, unix.EEXIST)
	}
	s.disks[n] = &disk{bytes: bytes, pages: make(map[uint64]*page), snapshots: make(map[string]map[uint64]*page)}
	return nil
}

// RemoveDisk removes a disk.
func (s *System) RemoveDisk(_ context.Context, n uint32) error {
	return s.with(n, func(*disk) error { delete(s.disks, n); return nil })
}

// Snapshot names what a disk holds.
func (s *System) Snapshot(_ context.Context, n uint32, name string) error {
	return s.with(n, func(d *disk) error {
		if d.snapshots[name] != nil {
			return unix.EEXIST
		}
		d.snapshots[name] = maps.Clone(d.pages)
		return nil
	})
}

// Restore puts back what a disk held.
func (s *System) Restore(_ context.Context, n uint32, name string) error {
	return s.with(n, func(d *disk) error {
		if d.snapshots[name] == nil {
			return unix.ENOENT
		}
		d.pages = maps.Clone(d.snapshots[name])
		return nil
	})
}

// Drop forgets a snapshot.
func (s *System) Drop(_ context.Context, n uint32, name string) error {
	return s.with(n, func(d *disk) error { delete(d.snapshots, name); return nil })
}

// ReadDisk writes what is not zeros to w.
func (s *System) ReadDisk(_ context.Context, n uint32, _ uint64, w io.WriterAt) error {
	return s.with(n, func(d *disk) error {
		for _, at := range slices.Sorted(maps.Keys(d.pages)) {
			if _, err := w.WriteAt(d.pages[at][:], int64(at*ramdisk.PageSize)); err != nil {
				return err
			}
		}
		return nil
	})
}

// WritePages puts pages into a disk.
func (s *System) WritePages(_ context.Context, n uint32, pages []agent.Page) error {
	return s.with(n, func(d *disk) error {
		for _, p := range pages {
			d.pages[p.Number] = (*page)(slices.Clone(p.Data))
		}
		return nil
	})
}

// Log switches logging.
func (s *System) Log(_ context.Context, n uint32, on bool) error {
	return s.with(n, func(d *disk) error { d.logging = on; return nil })
}

// Mark adds a record.
func (s *System) Mark(_ context.Context, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(ramdisk.Record{Type: ramdisk.Mark, Len: uint64(len(text)), Data: []byte(text)})
	return nil
}

func (s *System) add(r ramdisk.Record) {
	s.seq++
	s.clock++
	r.Seq, r.Time = s.seq, s.clock
	s.records = append(s.records, r)
}

// Guard has what is submitted to a disk wait for what allow says.
func (s *System) Guard(_ context.Context, n uint32, allow func(*ramdisk.Record) unix.Errno) error {
	return s.with(n, func(d *disk) error {
		if allow != nil && !d.logging {
			return unix.EINVAL
		}
		d.allow = allow
		return nil
	})
}

// Records takes the records out.
func (s *System) Records(context.Context) ([]ramdisk.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.records
	s.records = nil
	return out, nil
}

// LogWriteSet switches the log of what is marked dirty.
func (s *System) LogWriteSet(_ context.Context, n uint32, on bool) error {
	return s.with(n, func(d *disk) error { d.watched = on; return nil })
}

// WriteSet takes the blocks out.
func (s *System) WriteSet(context.Context) ([]crash.Block, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.blocks
	s.blocks = nil
	return out, nil
}

// EndWriteSet does nothing: nothing is taken.
func (s *System) EndWriteSet(context.Context) error { return nil }

// Dirty tells that a block could be written from now on. For programs.
func (s *System) Dirty(n uint32, sector uint64, data []byte) error {
	return s.with(n, func(d *disk) error {
		if d.watched {
			s.clock++
			s.blocks = append(s.blocks, crash.Block{Time: s.clock, Disk: n, Off: sector * ramdisk.SectorSize, Data: slices.Clone(data)})
		}
		return nil
	})
}

// saved is a checkpoint.
type saved struct {
	disks map[uint32]disk
	back  func()
}

// Save makes a checkpoint. The log is no part of it.
func (s *System) Save(context.Context) (explore.Checkpoint, error) {
	if s.Memory == nil {
		return nil, errors.ErrUnsupported
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &saved{disks: make(map[uint32]disk), back: s.Memory()}
	for n, d := range s.disks {
		c.disks[n] = d.clone()
	}
	return c, nil
}

// clone copies a disk. Pages and snapshots are never written in place.
func (d *disk) clone() disk {
	out := *d
	out.pages, out.snapshots = maps.Clone(d.pages), maps.Clone(d.snapshots)
	return out
}

// Load puts a checkpoint back.
func (s *System) Load(_ context.Context, c explore.Checkpoint) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.disks)
	for n, d := range c.(*saved).disks {
		d := d.clone()
		s.disks[n] = &d
	}
	s.records, s.blocks = nil, nil
	c.(*saved).back()
	return nil
}

// Forget does nothing: nothing is held.
func (s *System) Forget(context.Context, explore.Checkpoint) error { return nil }

// Read reads a sector, which is logged. For programs.
func (s *System) Read(n uint32, sector uint64) (data [ramdisk.SectorSize]byte, err error) {
	return data, s.with(n, func(d *disk) error {
		s.id++
		if d.logging {
			r := ramdisk.Record{ID: s.id, Disk: n, Type: ramdisk.Submit, Op: ramdisk.Read, Sector: sector, Len: ramdisk.SectorSize}
			s.add(r)
			r.Type, r.Done = ramdisk.Complete, r.Len
			s.add(r)
		}
		if p := d.pages[sector*ramdisk.SectorSize/ramdisk.PageSize]; p != nil {
			copy(data[:], p[sector*ramdisk.SectorSize%ramdisk.PageSize:])
		}
		return nil
	})
}

// Submit does a bio: it is logged and takes effect at once. For programs.
func (s *System) Submit(n uint32, op ramdisk.Op, flags ramdisk.Flags, sector uint64, data []byte) error {
	return s.with(n, func(d *disk) error {
		off, size := sector*ramdisk.SectorSize, uint64(len(data))
		if size%ramdisk.SectorSize != 0 || off > d.bytes || size > d.bytes-off {
			return unix.EIO
		}
		s.id++
		r := ramdisk.Record{ID: s.id, Disk: n, Type: ramdisk.Submit, Op: op, Flags: flags, Sector: sector, Len: size, Data: slices.Clone(data)}
		if d.allow != nil {
			if errno := d.allow(&r); errno != 0 {
				s.add(r)
				r.Type, r.Status, r.Data = ramdisk.Complete, errno, nil
				s.add(r)
				return errno
			}
		}
		for at := off; op == ramdisk.Write && at < off+size; at += ramdisk.SectorSize {
			p := new(page)
			if was := d.pages[at/ramdisk.PageSize]; was != nil {
				*p = *was
			}
			copy(p[at%ramdisk.PageSize:][:ramdisk.SectorSize], data[at-off:])
			d.pages[at/ramdisk.PageSize] = p
		}
		if d.logging {
			s.add(r)
			r.Type, r.Done, r.Data = ramdisk.Complete, size, nil
			s.add(r)
		}
		return nil
	})
}
