package guest

import (
	"context"
	"fmt"
	"io"
	"time"

	"fsward/explore/agent"
	"fsward/explore/ramdisk"
)

// contentsTimeout bounds one piece of a disk's contents on its way.
const contentsTimeout = time.Minute

// pagesAtOnce is the number of pages that the agent looks at for one answer.
const pagesAtOnce = 16 << 10

// ReadRAMDisk writes what a RAM disk of so many bytes holds to w, which is of zeros: pages of zeros are left out.
func (g *Guest) ReadRAMDisk(ctx context.Context, disk uint32, bytes uint64, w io.WriterAt) error {
	end := bytes / ramdisk.PageSize
	for at := uint64(0); at < end; {
		d, err := g.Do(ctx, agent.Batch{Ops: []agent.Op{agent.DiskPages(disk, at, min(end, at+pagesAtOnce))}, Timeout: contentsTimeout})
		if err != nil {
			return err
		}
		if d.TimedOut || len(d.Results) != 1 {
			return fmt.Errorf("RAM disk %d: page %d and what follows could not be read in time", disk, at)
		}
		r := &d.Results[0]
		if err := r.Err(); err != nil {
			return fmt.Errorf("RAM disk %d: reading page %d: %w", disk, r.Value, err)
		}
		pages, err := agent.DecodePages(r.Data)
		if err != nil {
			return err
		}
		for _, p := range pages {
			if p.Number < at || p.Number >= r.Value {
				return fmt.Errorf("RAM disk %d: page %d was not asked for", disk, p.Number)
			}
			if _, err := w.WriteAt(p.Data, int64(p.Number*ramdisk.PageSize)); err != nil {
				return err
			}
		}
		if r.Value <= at || r.Value > end {
			return fmt.Errorf("RAM disk %d: after page %d comes page %d", disk, at, r.Value)
		}
		at = r.Value
	}
	return nil
}
