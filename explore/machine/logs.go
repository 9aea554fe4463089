package machine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/crash"
	"fsward/explore/ekm"
	"fsward/explore/ramdisk"
)

// Log queues the switching of a disk's log: agent.DiskLog.
func (m *Machine) Log(_ context.Context, disk uint32, on bool) error {
	m.queue(agent.DiskLog(disk, on))
	return nil
}

// Mark queues a mark in the log: agent.DiskMark.
func (m *Machine) Mark(_ context.Context, text string) error {
	m.queue(agent.DiskMark(text))
	return nil
}

// MarkOp returns the operation that puts a mark into the log.
func (m *Machine) MarkOp(text string) agent.Op { return agent.DiskMark(text) }

// Records takes all records from the log. It puts a mark into the log and returns the records
// before the mark.
func (m *Machine) Records(ctx context.Context) (out []ramdisk.Record, err error) {
	mark, err := m.mark(ctx)
	if err != nil {
		return nil, err
	}
	if m.gate != nil {
		return m.gate.takeUntil(ctx, mark)
	}
	if m.log == nil {
		// The reader outlives ctx. It does not block for long: the records and the mark are in the log.
		m.log = ramdisk.NewReader(m.Guest.Log(context.WithoutCancel(ctx)))
	}
	defer m.markLater(ctx, mark)()
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

// markPatience is how long Records waits for its mark before it puts the mark into the log again.
const markPatience = 20 * time.Second

// markLater puts a mark into the log again after markPatience, unless stop is called before. A full
// log loses the mark, and tells of lost records with the next one that it has room for. Records
// would wait for ever. If the mark is not put, the next call of the guest has the error.
func (m *Machine) markLater(ctx context.Context, mark string) (stop func()) {
	done := make(chan struct{})
	t := time.AfterFunc(markPatience, func() {
		defer close(done)
		ops := []agent.Op{agent.DiskMark(mark)}
		_, _ = m.Guest.Do(ctx, agent.Batch{Ops: ops, Timeout: diskTimeout})
	})
	return func() {
		if !t.Stop() {
			<-done
		}
	}
}

// mark puts a new mark into the log and returns its text.
func (m *Machine) mark(ctx context.Context) (string, error) {
	m.marks++
	mark := fmt.Sprintf("records %d", m.marks)
	return mark, m.do(ctx, agent.DiskMark(mark))
}

// Guard guards a disk: each bio that changes the disk, and each flush, waits until allow returns
// its error number, or 0 to perform it. A nil allow ends the guarding. From the first call on, an
// I/O gate reads the log as records come.
func (m *Machine) Guard(ctx context.Context, disk uint32,
	allow func(bio *ramdisk.Record) unix.Errno) error {
	if err := m.flush(ctx); err != nil {
		return err
	}
	if m.gate == nil {
		m.gate, m.log = newIOGate(m.Guest, m.log), nil
	}
	if allow != nil {
		m.gate.guard(disk, allow)
		return m.do(ctx, agent.DiskGuard(disk, true))
	}
	if err := m.do(ctx, agent.DiskGuard(disk, false)); err != nil {
		return err
	}
	mark, err := m.mark(ctx)
	if err == nil {
		err = m.gate.skipMark(ctx, mark)
	}
	m.gate.guard(disk, nil)
	return err
}

// LogWriteSet switches the log of a disk's write set: agent.WatchWrites. The first call for a disk
// learns its device number; later ones are queued. The module fsw_ekm must be loaded.
func (m *Machine) LogWriteSet(ctx context.Context, disk uint32, on bool) error {
	op := agent.WatchWrites(disk, on)
	for _, known := range m.watched {
		if known == disk {
			m.queue(op)
			return nil
		}
	}
	if !on {
		return nil
	}
	done, err := m.Do(ctx, agent.Batch{Ops: []agent.Op{op}, Timeout: diskTimeout})
	if err == nil {
		err = agent.CheckResults([]agent.Op{op}, done.Results, diskTimeout)
	}
	if err == nil {
		m.watched[uint32(done.Results[0].Value)] = disk
	}
	return err
}

// EndWriteSet removes the probes of the log of the write set: agent.EndWrites.
func (m *Machine) EndWriteSet(ctx context.Context) error { return m.do(ctx, agent.EndWrites()) }

// WriteSet takes all blocks from the log of the write set. It puts a mark into the log and returns
// the blocks of watched disks before the mark. It fails if the log was full and lost records.
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
			return nil, fmt.Errorf(
				"log of the write set: record %d: %d records were lost: %w",
				r.Seq, r.Len, ramdisk.ErrFull)
		case r.Type == ekm.BufferDirty && watched:
			block := crash.Block{After: r.DiskSeq, Disk: disk, Off: r.Pos, Data: slices.Clone(r.Data)}
			out = append(out, block)
		}
	}
}
