package explore

import (
	"context"
	"slices"

	"fsward/explore/crash"
	"fsward/explore/ramdisk"
)

// A history is what was written to the disks, and what the kernel could have written.
type history struct {
	records []ramdisk.Record
	blocks  []crash.Block
}

// and is a history with what followed.
func (h history) and(later history) history {
	return history{slices.Concat(h.records, later.records), slices.Concat(h.blocks, later.blocks)}
}

// log switches the log. While nobody asks what is written none is kept: it would have to be read.
func (s *session) log(ctx context.Context, on bool) error {
	if s.logging == on {
		return nil
	}
	if !on {
		if err := s.guarding.end(ctx); err != nil {
			return err
		}
	}
	for _, d := range s.disks {
		if err := s.system.Log(ctx, d.Number, on); err != nil {
			return err
		}
	}
	s.logging, s.logged = on, s.logged || on
	return nil
}

// records switches the log off and takes what there is in it.
func (s *session) records(ctx context.Context) ([]ramdisk.Record, error) {
	if err := s.log(ctx, false); err != nil || !s.logged {
		return nil, err
	}
	out, err := s.system.Records(ctx)
	s.logged = err != nil
	return out, err
}

// history switches both logs off and takes what there is in them.
func (s *session) history(ctx context.Context) (h history, err error) {
	if err := s.dirty.log(ctx, s.disks, false); err != nil {
		return h, err
	}
	if h.records, err = s.records(ctx); err == nil {
		h.blocks, err = s.dirty.take(ctx)
	}
	return h, err
}

// written is how many sectors bios have written.
func written(records []ramdisk.Record) (sectors uint64) {
	for _, r := range records {
		if r.Type == ramdisk.Complete && r.Op == ramdisk.Write {
			sectors += r.Done / ramdisk.SectorSize
		}
	}
	return sectors
}
