package explore

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"fsward/explore/agent"
	"fsward/explore/guest"
	"fsward/explore/ramdisk"
)

// diskTimeout bounds what a guest does with its RAM disks for one request.
const diskTimeout = time.Minute

// Machine is a guest as a System. Used by one goroutine.
type Machine struct {
	*guest.Guest
	log   *ramdisk.Reader
	marks uint64 // that Records has put
}

var _ System = (*Machine)(nil)

// NewMachine returns a guest as a System. The log of its RAM disks is the System's.
func NewMachine(g *guest.Guest) *Machine { return &Machine{Guest: g} }

// do performs operations that succeed.
func (m *Machine) do(ctx context.Context, ops ...agent.Op) error {
	done, err := m.Do(ctx, agent.Batch{Ops: ops, StopAtError: true, Timeout: diskTimeout})
	if err != nil {
		return err
	}
	n := len(done.Results)
	if n > 0 && done.Results[n-1].Errno != 0 {
		return fmt.Errorf("%v: %w", ops[n-1], done.Results[n-1].Err())
	}
	if done.TimedOut || n < len(ops) {
		return fmt.Errorf("%v did not end within %v", ops[n], diskTimeout)
	}
	return nil
}

// MakeDisk is agent.DiskMake.
func (m *Machine) MakeDisk(ctx context.Context, disk uint32, bytes uint64) error {
	return m.do(ctx, agent.DiskMake(disk, bytes))
}

// RemoveDisk is agent.DiskRemove.
func (m *Machine) RemoveDisk(ctx context.Context, disk uint32) error {
	return m.do(ctx, agent.DiskRemove(disk))
}

// Snapshot is agent.DiskSnapshot.
func (m *Machine) Snapshot(ctx context.Context, disk uint32, name string) error {
	return m.do(ctx, agent.DiskSnapshot(disk, name))
}

// Restore is agent.DiskRestore.
func (m *Machine) Restore(ctx context.Context, disk uint32, name string) error {
	return m.do(ctx, agent.DiskRestore(disk, name))
}

// Drop is agent.DiskDrop.
func (m *Machine) Drop(ctx context.Context, disk uint32, name string) error {
	return m.do(ctx, agent.DiskDrop(disk, name))
}

// Log is agent.DiskLog.
func (m *Machine) Log(ctx context.Context, disk uint32, on bool) error {
	return m.do(ctx, agent.DiskLog(disk, on))
}

// Mark is agent.DiskMark.
func (m *Machine) Mark(ctx context.Context, text string) error {
	return m.do(ctx, agent.DiskMark(text))
}

// ReadDisk is guest.Guest.ReadRAMDisk.
func (m *Machine) ReadDisk(ctx context.Context, disk uint32, bytes uint64, w io.WriterAt) error {
	return m.ReadRAMDisk(ctx, disk, bytes, w)
}

// maxWritten bounds the bytes of pages that one request carries.
const maxWritten = 2 << 20

// WritePages is agent.DiskSet, of runs of pages.
func (m *Machine) WritePages(ctx context.Context, disk uint32, pages []agent.Page) error {
	var ops []agent.Op
	carried := 0
	for len(pages) > 0 {
		n, data := 1, slices.Clone(pages[0].Data)
		for n < len(pages) && pages[n].Number == pages[0].Number+uint64(n) && len(data)+ramdisk.PageSize <= agent.MaxData {
			data = append(data, pages[n].Data...)
			n++
		}
		ops, carried = append(ops, agent.DiskSet(disk, pages[0].Number, data)), carried+len(data)
		pages = pages[n:]
		if carried >= maxWritten-agent.MaxData || len(pages) == 0 {
			if err := m.do(ctx, ops...); err != nil {
				return err
			}
			ops, carried = nil, 0
		}
	}
	return nil
}

// Records reads the log up to a mark that it puts there, which is not among them.
func (m *Machine) Records(ctx context.Context) (out []ramdisk.Record, err error) {
	m.marks++
	mark := fmt.Sprintf("records %d", m.marks)
	if err := m.Mark(ctx, mark); err != nil {
		return nil, err
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

// Save makes a checkpoint of the guest.
func (m *Machine) Save(ctx context.Context) (Checkpoint, error) { return m.Guest.Save(ctx) }

// Load puts the guest back. What its log had is lost.
func (m *Machine) Load(ctx context.Context, c Checkpoint) error {
	if err := m.Guest.Restore(ctx, c.(*guest.Checkpoint)); err != nil {
		return err
	}
	m.log = nil // its stream goes back with the guest
	return nil
}

// Forget gives up a checkpoint.
func (m *Machine) Forget(ctx context.Context, c Checkpoint) error {
	return m.Guest.Drop(ctx, c.(*guest.Checkpoint))
}
