package explore

import (
	"context"
	"errors"
	"slices"

	"fsward/explore/crash"
	"fsward/explore/ramdisk"
)

// A history has the records of the disks' bios, and the blocks that the kernel marked dirty.
type history struct {
	records []ramdisk.Record
	blocks  []crash.Block
}

// followedBy returns the history followed by a later one.
func (h history) followedBy(later history) history {
	return history{slices.Concat(h.records, later.records), slices.Concat(h.blocks, later.blocks)}
}

// A recorder switches the logs of the disks on and off, and takes their contents.
type recorder struct {
	disks    *diskSet
	guard    *diskGuard // ends with the log of bios; nil: no disk is guarded
	writeSet writeSet
	on       bool // bios are logged
	unread   bool // the log of bios may have records
}

// log switches the log of bios on or off. It is off while it is not needed, since a log that is on
// must be read.
func (r *recorder) log(ctx context.Context, on bool) error {
	if r.on == on {
		return nil
	}
	if !on {
		if err := r.guard.end(ctx); err != nil {
			return err
		}
	}
	for _, d := range r.disks.list {
		if err := r.disks.system.Log(ctx, d.Number, on); err != nil {
			return err
		}
	}
	r.on, r.unread = on, r.unread || on
	return nil
}

// begin switches both logs on.
func (r *recorder) begin(ctx context.Context) error {
	return errors.Join(r.log(ctx, true), r.writeSet.log(ctx, r.disks.list, true))
}

// records switches the log of bios off and takes its records.
func (r *recorder) records(ctx context.Context) ([]ramdisk.Record, error) {
	if err := r.log(ctx, false); err != nil || !r.unread {
		return nil, err
	}
	out, err := r.disks.system.Records(ctx)
	r.unread = err != nil
	return out, err
}

// history switches both logs off and takes their records.
func (r *recorder) history(ctx context.Context) (h history, err error) {
	if err := r.writeSet.log(ctx, r.disks.list, false); err != nil {
		return h, err
	}
	if h.records, err = r.records(ctx); err == nil {
		h.blocks, err = r.writeSet.take(ctx)
	}
	return h, err
}

// drain takes the records of both logs and leaves the logs on.
func (r *recorder) drain(ctx context.Context) (h history, err error) {
	if h.records, err = r.disks.system.Records(ctx); err == nil {
		h.blocks, err = r.writeSet.take(ctx)
	}
	return h, err
}

// restored records that the machine was restored to a state in which both logs were on or off.
func (r *recorder) restored(on bool) {
	r.on, r.unread = on, on
	r.writeSet.on = on && r.writeSet.system != nil
	r.writeSet.unread = r.writeSet.on
}

// written returns the number of sectors that completed bios wrote.
func written(records []ramdisk.Record) (sectors uint64) {
	for _, r := range records {
		if r.Type == ramdisk.Complete && r.Op == ramdisk.Write {
			sectors += r.Done / ramdisk.SectorSize
		}
	}
	return sectors
}
