package explore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/crash"
	"fsward/explore/ekm"
	"fsward/explore/guest"
	"fsward/explore/ramdisk"
)

// diskTimeout bounds what a guest does with its RAM disks for one request.
const diskTimeout = time.Minute

// Machine is a guest as a System. Used by one goroutine.
//
// What becomes of disks and of their log goes with the request that follows, in its order, since an emulated guest takes longer to answer
// than to do most of it. So do the errors.
type Machine struct {
	*guest.Guest
	log     *ramdisk.Reader
	asked   *asked // reads the log in the place of log; nil: no disk was guarded
	marks   uint64 // that Records and WriteSet have put
	dirty   *ekm.Reader
	watched map[uint32]uint32 // disks whose write set was logged, by the numbers of their devices
	later   []agent.Op
	carried int      // bytes of pages in later
	stale   []uint32 // disks that later changes beside the kernel
}

var (
	_ WriteSetSystem = (*Machine)(nil)
	_ GuardedSystem  = (*Machine)(nil)
)

// NewMachine returns a guest as a System. The log of its RAM disks is the System's.
func NewMachine(g *guest.Guest) *Machine { return &Machine{Guest: g, watched: make(map[uint32]uint32)} }

// waiting takes what goes with the next request.
func (m *Machine) waiting() []agent.Op {
	ops := m.later
	for _, n := range m.stale {
		ops = append(ops, agent.DiskForget(n))
	}
	m.later, m.carried, m.stale = nil, 0, nil
	return ops
}

// Do is agent.Client.Do.
func (m *Machine) Do(ctx context.Context, b agent.Batch) (agent.Done, error) {
	if len(m.later)+ramdisk.MaxDisks+len(b.Ops) > agent.MaxOps {
		if err := m.flush(ctx); err != nil {
			return agent.Done{}, err
		}
	}
	before := m.waiting()
	b.Ops = slices.Concat(before, b.Ops)
	done, err := m.Guest.Do(ctx, b)
	if err == nil {
		err = succeeded(before, done.Results[:min(len(before), len(done.Results))], b.Timeout)
		done.Results = done.Results[min(len(before), len(done.Results)):]
	}
	return done, err
}

// Run is agent.Client.Run.
func (m *Machine) Run(ctx context.Context, c agent.Command) (agent.Exit, error) {
	if err := m.flush(ctx); err != nil {
		return agent.Exit{}, err
	}
	return m.Guest.Run(ctx, c)
}

// flush does what waits.
func (m *Machine) flush(ctx context.Context) error {
	if len(m.later) == 0 {
		return nil
	}
	return m.do(ctx)
}

// do performs operations that succeed.
func (m *Machine) do(ctx context.Context, ops ...agent.Op) error {
	done, err := m.Do(ctx, agent.Batch{Ops: ops, StopAtError: true, Timeout: diskTimeout})
	if err != nil {
		return err
	}
	return succeeded(ops, done.Results, diskTimeout)
}

// succeeded says which of some operations failed, or did not end in time.
func succeeded(ops []agent.Op, results []agent.Result, limit time.Duration) error {
	for i, r := range results {
		if r.Errno != 0 {
			return fmt.Errorf("%v: %w", ops[i], r.Err())
		}
	}
	if len(results) < len(ops) {
		return fmt.Errorf("%v did not end within %v", ops[len(results)], limit)
	}
	return nil
}

// put has operations go with the next request.
func (m *Machine) put(ops ...agent.Op) { m.later = append(m.later, ops...) }

// changed notes that what waits changes a disk beside the kernel.
func (m *Machine) changed(disk uint32) {
	if !slices.Contains(m.stale, disk) {
		m.stale = append(m.stale, disk)
	}
}

// MakeDisk is agent.DiskMake.
func (m *Machine) MakeDisk(ctx context.Context, disk uint32, bytes uint64) error {
	return m.do(ctx, agent.DiskMake(disk, bytes))
}

// RemoveDisk is agent.DiskRemove.
func (m *Machine) RemoveDisk(ctx context.Context, disk uint32) error {
	maps.DeleteFunc(m.watched, func(_, known uint32) bool { return known == disk })
	return m.do(ctx, agent.DiskRemove(disk))
}

// Snapshot is agent.DiskSnapshot.
func (m *Machine) Snapshot(ctx context.Context, disk uint32, name string) error {
	return m.do(ctx, agent.DiskSnapshot(disk, name))
}

// Restore is agent.DiskRestore.
func (m *Machine) Restore(_ context.Context, disk uint32, name string) error {
	m.put(agent.DiskRestore(disk, name))
	m.changed(disk)
	return nil
}

// Drop is agent.DiskDrop.
func (m *Machine) Drop(ctx context.Context, disk uint32, name string) error {
	return m.do(ctx, agent.DiskDrop(disk, name))
}

// LogWriteSet is agent.WatchWrites. The module fsw_ekm is loaded.
func (m *Machine) LogWriteSet(ctx context.Context, disk uint32, on bool) error {
	op := agent.WatchWrites(disk, on)
	for _, known := range m.watched {
		if known == disk {
			m.put(op)
			return nil
		}
	}
	if !on {
		return nil
	}
	done, err := m.Do(ctx, agent.Batch{Ops: []agent.Op{op}, Timeout: diskTimeout})
	if err == nil {
		err = succeeded([]agent.Op{op}, done.Results, diskTimeout)
	}
	if err == nil {
		m.watched[uint32(done.Results[0].Value)] = disk
	}
	return err
}

// EndWriteSet is agent.EndWrites.
func (m *Machine) EndWriteSet(ctx context.Context) error { return m.do(ctx, agent.EndWrites()) }

// WriteSet reads the log of the write set up to a mark that it puts there.
func (m *Machine) WriteSet(ctx context.Context) (out []crash.Block, err error) {
	m.marks++
	mark := fmt.Sprintf("write set %d", m.marks)
	if err := m.do(ctx, agent.MarkWrites(mark)); err != nil {
		return nil, err
	}
	if m.dirty == nil {
		m.dirty = ekm.NewReader(m.Guest.WriteSetLog(context.WithoutCancel(ctx)))
	}
	for {
		r, err := m.dirty.Next()
		if err != nil {
			return nil, err
		}
		disk, watched := m.watched[r.Dev]
		switch {
		case r.Type == ekm.Mark && string(r.Data) == mark:
			return out, nil
		case r.Type == ekm.Lost:
			return nil, fmt.Errorf("log of the write set: record %d: %d were lost, since the log was full: %w", r.Seq, r.Len, ramdisk.ErrNotWhole)
		case r.Type == ekm.BufferDirty && watched:
			out = append(out, crash.Block{Time: r.Time, Disk: disk, Off: r.Pos, Data: slices.Clone(r.Data)})
		}
	}
}

// Log is agent.DiskLog.
func (m *Machine) Log(_ context.Context, disk uint32, on bool) error {
	m.put(agent.DiskLog(disk, on))
	return nil
}

// Mark is agent.DiskMark.
func (m *Machine) Mark(_ context.Context, text string) error {
	m.put(agent.DiskMark(text))
	return nil
}

// ReadDisk is guest.Guest.ReadRAMDisk.
func (m *Machine) ReadDisk(ctx context.Context, disk uint32, bytes uint64, w io.WriterAt) error {
	if err := m.flush(ctx); err != nil {
		return err
	}
	return m.ReadRAMDisk(ctx, disk, bytes, w)
}

// maxWritten bounds the bytes of pages that one request carries.
const maxWritten = 2 << 20

// WritePages is agent.DiskSet, of runs of pages.
func (m *Machine) WritePages(ctx context.Context, disk uint32, pages []agent.Page) error {
	for len(pages) > 0 {
		n, data := 1, slices.Clone(pages[0].Data)
		for n < len(pages) && pages[n].Number == pages[0].Number+uint64(n) && len(data)+ramdisk.PageSize <= agent.MaxData {
			data = append(data, pages[n].Data...)
			n++
		}
		m.put(agent.DiskSet(disk, pages[0].Number, data))
		m.changed(disk)
		m.carried += len(data)
		pages = pages[n:]
		if m.carried >= maxWritten-agent.MaxData {
			if err := m.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// Records reads the log up to a mark that it puts there, which is not among them.
func (m *Machine) Records(ctx context.Context) (out []ramdisk.Record, err error) {
	mark, err := m.mark(ctx)
	if err != nil {
		return nil, err
	}
	if m.asked != nil {
		return m.asked.until(ctx, mark, true)
	}
	if m.log == nil {
		m.log = ramdisk.NewReader(m.Guest.Log(context.WithoutCancel(ctx))) // it outlives this call, and what is read is there
	}
	for {
		r, err := m.log.Next()
		if err != nil {
			return nil, err
		}
		if r.Type == ramdisk.Mark && string(r.Data) == mark {
			return out, nil
		}
		kept := *r
		kept.Data = slices.Clone(r.Data)
		out = append(out, kept)
	}
}

// mark puts a mark of its own into the log.
func (m *Machine) mark(ctx context.Context) (string, error) {
	m.marks++
	mark := fmt.Sprintf("records %d", m.marks)
	return mark, m.do(ctx, agent.DiskMark(mark))
}

// Guard is agent.DiskGuard, with the answers. From then on the log is read as it comes.
func (m *Machine) Guard(ctx context.Context, disk uint32, allow func(bio *ramdisk.Record) unix.Errno) error {
	if err := m.flush(ctx); err != nil {
		return err
	}
	if m.asked == nil {
		m.asked, m.log = newAsked(m.Guest, m.log), nil
	}
	if allow != nil {
		m.asked.guard(disk, allow)
		return m.do(ctx, agent.DiskGuard(disk, true))
	}
	if err := m.do(ctx, agent.DiskGuard(disk, false)); err != nil {
		return err
	}
	mark, err := m.mark(ctx)
	if err == nil {
		_, err = m.asked.until(ctx, mark, false)
	}
	m.asked.guard(disk, nil)
	return err
}

// Save makes a checkpoint of the guest. Once a disk was guarded, none can be made: its log is read all the time.
func (m *Machine) Save(ctx context.Context) (Checkpoint, error) {
	if m.asked != nil {
		return nil, errors.ErrUnsupported
	}
	if err := m.flush(ctx); err != nil {
		return nil, err
	}
	return m.Guest.Save(ctx)
}

// Load puts the guest back. What its log had is lost.
func (m *Machine) Load(ctx context.Context, c Checkpoint) error {
	if m.asked != nil {
		m.asked.cancel() // before the guest is back: it is not to be asked for what its log has then
	}
	if err := m.Guest.Restore(ctx, c.(*guest.Checkpoint)); err != nil {
		return err
	}
	m.log, m.dirty = nil, nil // their streams go back with the guest
	if m.asked != nil {
		m.asked.end()
		m.asked = nil
	}
	_ = m.waiting()
	return nil
}

// Forget gives up a checkpoint.
func (m *Machine) Forget(ctx context.Context, c Checkpoint) error {
	return m.Guest.Drop(ctx, c.(*guest.Checkpoint))
}
