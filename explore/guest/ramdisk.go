package guest

import (
	"context"
	"fmt"
	"io"
	"time"

	"fsward/explore/agent"
	"fsward/explore/ramdisk"
)

// contentsTimeout bounds one request for a part of a disk's contents.
const contentsTimeout = time.Minute

// pagesAtOnce is the number of pages that the agent reads for one answer.
const pagesAtOnce = 16 << 10

// ReadRAMDisk writes the contents of a RAM disk to w. bytes is the size of the disk. w must hold
// zeros: ReadRAMDisk skips pages of zeros.
func (g *Guest) ReadRAMDisk(ctx context.Context, disk uint32, bytes uint64, w io.WriterAt) error {
	end := bytes / ramdisk.PageSize
	for at := uint64(0); at < end; {
		op := agent.DiskPages(disk, at, min(end, at+pagesAtOnce))
		d, err := g.Do(ctx, agent.Batch{Ops: []agent.Op{op}, Timeout: contentsTimeout})
		if err != nil {
			return err
		}
		if d.TimedOut || len(d.Results) != 1 {
			return fmt.Errorf("RAM disk %d: reading the pages from %d on timed out", disk, at)
		}
		r := &d.Results[0]
		if err := r.Err(); err != nil {
			return fmt.Errorf("RAM disk %d: cannot read page %d: %w", disk, r.Value, err)
		}
		pages, err := agent.DecodePages(r.Data)
		if err != nil {
			return err
		}
		for _, p := range pages {
			if p.Number < at || p.Number >= r.Value {
				return fmt.Errorf("RAM disk %d: the agent returned page %d without a request", disk, p.Number)
			}
			if _, err := w.WriteAt(p.Data, int64(p.Number*ramdisk.PageSize)); err != nil {
				return err
			}
		}
		if r.Value <= at || r.Value > end {
			return fmt.Errorf("RAM disk %d: the agent continues after page %d with page %d",
				disk, at, r.Value)
		}
		at = r.Value
	}
	return nil
}
