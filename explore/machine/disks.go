package machine

import (
	"context"
	"io"
	"maps"
	"slices"

	"fsward/explore/agent"
	"fsward/explore/ramdisk"
)

// MakeDisk makes a RAM disk of zeros: agent.DiskMake.
func (m *Machine) MakeDisk(ctx context.Context, disk uint32, bytes uint64) error {
	return m.do(ctx, agent.DiskMake(disk, bytes))
}

// RemoveDisk removes a RAM disk: agent.DiskRemove.
func (m *Machine) RemoveDisk(ctx context.Context, disk uint32) error {
	maps.DeleteFunc(m.watched, func(_, known uint32) bool { return known == disk })
	return m.do(ctx, agent.DiskRemove(disk))
}

// Snapshot makes a snapshot of a disk: agent.DiskSnapshot.
func (m *Machine) Snapshot(ctx context.Context, disk uint32, name string) error {
	return m.do(ctx, agent.DiskSnapshot(disk, name))
}

// Restore queues the restore of a disk from a snapshot: agent.DiskRestore.
func (m *Machine) Restore(_ context.Context, disk uint32, name string) error {
	m.queue(agent.DiskRestore(disk, name))
	m.markStale(disk)
	return nil
}

// Drop removes a snapshot: agent.DiskDrop.
func (m *Machine) Drop(ctx context.Context, disk uint32, name string) error {
	return m.do(ctx, agent.DiskDrop(disk, name))
}

// ReadDisk writes the contents of a disk of a size in bytes to w: guest.Guest.ReadRAMDisk.
func (m *Machine) ReadDisk(ctx context.Context, disk uint32, bytes uint64, w io.WriterAt) error {
	if err := m.flush(ctx); err != nil {
		return err
	}
	return m.ReadRAMDisk(ctx, disk, bytes, w)
}

// maxQueuedData bounds the bytes of pages in one request.
const maxQueuedData = 2 << 20

// WritePages queues the writing of pages, one agent.DiskSet for each run of adjacent pages. It
// performs the queued operations when they hold enough data.
func (m *Machine) WritePages(ctx context.Context, disk uint32, pages []agent.Page) error {
	for len(pages) > 0 {
		first := pages[0].Number
		n, data := 1, slices.Clone(pages[0].Data)
		for n < len(pages) && pages[n].Number == first+uint64(n) &&
			len(data)+ramdisk.PageSize <= agent.MaxData {
			data = append(data, pages[n].Data...)
			n++
		}
		m.queue(agent.DiskSet(disk, first, data))
		m.markStale(disk)
		m.queuedData += len(data)
		pages = pages[n:]
		if m.queuedData >= maxQueuedData-agent.MaxData {
			if err := m.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}
