// Package exploretest simulates a machine in memory. With it, tests of the explorer, of components
// and of checkers need no guest. System is the machine: it has RAM disks with a log of their bios,
// and runs Go functions as programs. Toy is a small storage system on such a disk that can have
// known bugs, and ToyChecker is its checker.
//
// Start reading at System and NewToy.
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

// A Program is a Go function that runs in place of a command.
type Program func(s *System, c agent.Command) (agent.Exit, error)

// A System simulates a guest with RAM disks and their log. It is safe for concurrent use, also by
// its programs.
type System struct {
	Programs map[string]Program // by the first argument of a command
	// Perform performs an operation. If it is nil, all operations but marks fail with ENOSYS.
	Perform func(s *System, op agent.Op) agent.Result
	// Memory saves the memory of the programs, and returns a function that restores it. If Memory is
	// nil, the System makes no checkpoints.
	Memory func() (back func())

	mu      sync.Mutex
	disks   map[uint32]*disk
	records []ramdisk.Record // the log of bios, as far as it was not taken
	seq     uint64           // number of the last record
	id      uint64           // of the last bio
	blocks  []crash.Block    // the log of the write set, as far as it was not taken
	clock   time.Duration    // time of the last record
}

var (
	_ explore.WriteSetSystem = (*System)(nil)
	_ explore.GuardedSystem  = (*System)(nil)
)

// page is the content of a page.
type page = [ramdisk.PageSize]byte

// A disk is a simulated RAM disk. Pages of zeros may be missing. Pages are immutable, so that the
// snapshots share them.
type disk struct {
	bytes     uint64
	pages     map[uint64]*page // by number
	snapshots map[string]map[uint64]*page
	logging   bool
	watched   bool                             // the write set is logged
	allow     func(*ramdisk.Record) unix.Errno // nil: the disk is not guarded
}

// New returns a system without disks.
func New() *System {
	return &System{Programs: make(map[string]Program), disks: make(map[uint32]*disk)}
}

// Run runs a program of s.Programs. A program that does not exist ends with status 127, as in a
// shell.
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

// MarkOp returns the operation that puts a mark into the log.
func (s *System) MarkOp(text string) agent.Op { return agent.DiskMark(text) }

var markCode = agent.DiskMark("").Code

// Do performs a batch with s.Perform. It performs marks itself.
func (s *System) Do(ctx context.Context, b agent.Batch) (agent.Done, error) {
	var done agent.Done
	for _, op := range b.Ops {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		r := agent.Result{Errno: unix.ENOSYS}
		if _, _, texts, _ := op.Fields(); op.Code == markCode {
			r.Errno = 0
			_ = s.Mark(ctx, texts[0]) // cannot fail
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

// disk returns a disk. The caller holds s.mu.
func (s *System) disk(n uint32) (*disk, error) {
	d := s.disks[n]
	if d == nil {
		return nil, fmt.Errorf("disk %d: %w", n, unix.ENXIO)
	}
	return d, nil
}

// with calls f with a disk, and holds s.mu during the call.
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
	s.disks[n] = &disk{
		bytes:     bytes,
		pages:     make(map[uint64]*page),
		snapshots: make(map[string]map[uint64]*page),
	}
	return nil
}

// RemoveDisk removes a disk.
func (s *System) RemoveDisk(_ context.Context, n uint32) error {
	return s.with(n, func(*disk) error { delete(s.disks, n); return nil })
}

// Snapshot makes a snapshot of a disk.
func (s *System) Snapshot(_ context.Context, n uint32, name string) error {
	return s.with(n, func(d *disk) error {
		if d.snapshots[name] != nil {
			return unix.EEXIST
		}
		d.snapshots[name] = maps.Clone(d.pages)
		return nil
	})
}

// Restore restores the content of a disk from a snapshot.
func (s *System) Restore(_ context.Context, n uint32, name string) error {
	return s.with(n, func(d *disk) error {
		if d.snapshots[name] == nil {
			return unix.ENOENT
		}
		d.pages = maps.Clone(d.snapshots[name])
		return nil
	})
}

// Drop removes a snapshot.
func (s *System) Drop(_ context.Context, n uint32, name string) error {
	return s.with(n, func(d *disk) error { delete(d.snapshots, name); return nil })
}

// ReadDisk writes the pages of a disk to w. It skips pages that were never written.
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

// WritePages writes pages to a disk. The log does not show it.
func (s *System) WritePages(_ context.Context, n uint32, pages []agent.Page) error {
	return s.with(n, func(d *disk) error {
		for _, p := range pages {
			d.pages[p.Number] = (*page)(slices.Clone(p.Data))
		}
		return nil
	})
}

// Log switches the log of a disk's bios.
func (s *System) Log(_ context.Context, n uint32, on bool) error {
	return s.with(n, func(d *disk) error { d.logging = on; return nil })
}

// Mark adds a mark to the log of bios.
func (s *System) Mark(_ context.Context, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(ramdisk.Record{Type: ramdisk.Mark, Len: uint64(len(text)), Data: []byte(text)})
	return nil
}

// add adds a record to the log of bios. The caller holds s.mu.
func (s *System) add(r ramdisk.Record) {
	s.seq++
	s.clock++
	r.Seq, r.Time = s.seq, s.clock
	s.records = append(s.records, r)
}

// Guard guards a disk: Submit asks allow, and fails a bio with the error number that it returns. A
// nil allow ends the guarding. Guard fails with EINVAL if the disk is not logged.
func (s *System) Guard(_ context.Context, n uint32,
	allow func(*ramdisk.Record) unix.Errno) error {
	return s.with(n, func(d *disk) error {
		if allow != nil && !d.logging {
			return unix.EINVAL
		}
		d.allow = allow
		return nil
	})
}

// Records takes all records from the log of bios.
func (s *System) Records(context.Context) ([]ramdisk.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.records
	s.records = nil
	return out, nil
}

// LogWriteSet switches the log of a disk's write set.
func (s *System) LogWriteSet(_ context.Context, n uint32, on bool) error {
	return s.with(n, func(d *disk) error { d.watched = on; return nil })
}

// WriteSet takes all blocks from the log of the write set.
func (s *System) WriteSet(context.Context) ([]crash.Block, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.blocks
	s.blocks = nil
	return out, nil
}

// EndWriteSet does nothing: the log has no probes.
func (s *System) EndWriteSet(context.Context) error { return nil }

// Dirty adds a block to the write set. Programs call it for a block that the kernel could write
// from now on.
func (s *System) Dirty(n uint32, sector uint64, data []byte) error {
	return s.with(n, func(d *disk) error {
		if d.watched {
			off := sector * ramdisk.SectorSize
			block := crash.Block{After: s.seq, Disk: n, Off: off, Data: slices.Clone(data)}
			s.blocks = append(s.blocks, block)
		}
		return nil
	})
}

// saved is a checkpoint of a System.
type saved struct {
	disks map[uint32]disk
	back  func() // restores the memory of the programs
}

// Save makes a checkpoint. The logs are not a part of it.
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

// clone returns a copy of a disk. It shares the pages and snapshots, which are immutable.
func (d *disk) clone() disk {
	out := *d
	out.pages, out.snapshots = maps.Clone(d.pages), maps.Clone(d.snapshots)
	return out
}

// Load restores a checkpoint, and empties the logs.
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

// Forget does nothing: a checkpoint holds only memory.
func (s *System) Forget(context.Context, explore.Checkpoint) error { return nil }

// Read reads a sector, and logs the bio if the disk is logged. Programs call it.
func (s *System) Read(n uint32, sector uint64) (data [ramdisk.SectorSize]byte, err error) {
	return data, s.with(n, func(d *disk) error {
		s.id++
		if d.logging {
			r := ramdisk.Record{ID: s.id, Disk: n, Type: ramdisk.Submit, Op: ramdisk.Read,
				Sector: sector, Len: ramdisk.SectorSize}
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

// Submit performs a bio at once, and logs it if the disk is logged. Programs call it. Submit fails
// with EIO if the range is not made of whole sectors of the disk, and with the error number of the
// guard if it refuses the bio.
func (s *System) Submit(n uint32, op ramdisk.Op, flags ramdisk.Flags, sector uint64,
	data []byte) error {
	return s.with(n, func(d *disk) error {
		off, size := sector*ramdisk.SectorSize, uint64(len(data))
		if size%ramdisk.SectorSize != 0 || off > d.bytes || size > d.bytes-off {
			return unix.EIO
		}
		s.id++
		r := ramdisk.Record{ID: s.id, Disk: n, Type: ramdisk.Submit, Op: op, Flags: flags,
			Sector: sector, Len: size, Data: slices.Clone(data)}
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
