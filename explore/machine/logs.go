package machine

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/crash"
	"fsward/explore/ekm"
	"fsward/explore/ramdisk"
)

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

// Records reads the log up to a mark that it puts there, which is not among them.
func (m *Machine) Records(ctx context.Context) (out []ramdisk.Record, err error) {
	mark, err := m.mark(ctx)
	if err != nil {
		return nil, err
	}
	if m.gate != nil {
		return m.gate.until(ctx, mark, true)
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
		_, err = m.gate.until(ctx, mark, false)
	}
	m.gate.guard(disk, nil)
	return err
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
		err = agent.CheckResults([]agent.Op{op}, done.Results, diskTimeout)
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
