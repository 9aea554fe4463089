package machine

import (
	"context"
	"io"
	"maps"
	"slices"

	"fsward/explore/agent"
	"fsward/explore/ramdisk"
)

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
