package explore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"

	"fsward/blocktap/trace"
	"fsward/explore/agent"
	"fsward/explore/crash"
	"fsward/explore/ramdisk"
	"fsward/interp"
)

// Names of the snapshots of the disks.
const (
	blank    = "fsward-blank"    // zeros
	pristine = "fsward-pristine" // as the first Init left them
)

// A diskSet has the disks of a stack in a machine, and their pristine contents.
type diskSet struct {
	system   System
	list     []*Disk
	first    []memory   // pristine contents of the first variant, by index in list
	bases    []memory   // those of the selected variant
	variants []*variant // the ways to make the stack so far
	used     int        // index of the selected variant
	through  bool       // Config.WriteThrough
}

// makeDisks makes RAM disks of zeros.
func makeDisks(ctx context.Context, system System, list []*Disk, through bool) (*diskSet, error) {
	d := &diskSet{system: system, list: list, through: through}
	for _, disk := range list {
		if err := system.MakeDisk(ctx, disk.Number, disk.Bytes); err != nil {
			return nil, err
		}
		if err := system.Snapshot(ctx, disk.Number, blank); err != nil {
			return nil, err
		}
		d.first = append(d.first, make(memory, disk.Bytes))
	}
	d.bases = d.first
	return d, nil
}

// keep makes the present contents of the disks the pristine ones of the first variant.
func (d *diskSet) keep(ctx context.Context, choices []Choice) error {
	for i, disk := range d.list {
		if err := d.system.ReadDisk(ctx, disk.Number, disk.Bytes, d.first[i]); err != nil {
			return err
		}
		if err := d.system.Snapshot(ctx, disk.Number, pristine); err != nil {
			return err
		}
	}
	d.variants = []*variant{{choices: choices}}
	return nil
}

// load restores the pristine disks of the selected variant, and writes pages to them. The pages are
// by number of the disk.
func (d *diskSet) load(ctx context.Context, pages map[uint32][]agent.Page) error {
	return d.loadInto(ctx, d.system, pages)
}

// loadInto is load for the disks of a System.
func (d *diskSet) loadInto(ctx context.Context, system System,
	pages map[uint32][]agent.Page) error {
	for _, disk := range d.list {
		if err := system.Restore(ctx, disk.Number, pristine); err != nil {
			return err
		}
		for _, some := range [][]agent.Page{d.variants[d.used].over[disk.Number], pages[disk.Number]} {
			if len(some) == 0 {
				continue
			}
			if err := system.WritePages(ctx, disk.Number, some); err != nil {
				return err
			}
		}
	}
	return nil
}

// remove removes all disks.
func (d *diskSet) remove(ctx context.Context) (err error) {
	for _, disk := range d.list {
		err = errors.Join(err, d.system.RemoveDisk(ctx, disk.Number))
	}
	return err
}

func (d *diskSet) numbers() (out []uint32) {
	for _, disk := range d.list {
		out = append(out, disk.Number)
	}
	return out
}

func (d *diskSet) crashBases() (out []crash.Base) {
	for _, b := range d.bases {
		out = append(out, b)
	}
	return out
}

// pages returns the pages in which a crash state differs from the pristine disks, by number of the
// disk.
func (d *diskSet) pages(disk *crash.State) map[uint32][]agent.Page {
	over := make(map[uint64][]byte)
	for ; disk != nil; disk = disk.From() {
		for addr, contents := range disk.Pages() {
			if _, is := over[addr]; !is {
				over[addr] = contents
			}
		}
	}
	out := make(map[uint32][]agent.Page)
	for _, addr := range slices.Sorted(maps.Keys(over)) {
		i, off := interp.Locate(addr)
		n := d.list[i].Number
		out[n] = append(out[n], agent.Page{Number: off / ramdisk.PageSize, Data: over[addr]})
	}
	return out
}

// images returns copies of the disks of a crash state.
func (d *diskSet) images(disk *crash.State) (out []memory) {
	for i := range d.list {
		image := make(memory, len(d.bases[i]))
		_, _ = disk.Disk(i).ReadAt(image, 0) // memory
		out = append(out, image)
	}
	return out
}

// each yields records. Where the disks write through, each write has FUA.
func (d *diskSet) each(records []ramdisk.Record) iter.Seq2[*ramdisk.Record, error] {
	return func(yield func(*ramdisk.Record, error) bool) {
		for i := range records {
			rec := &records[i]
			if d.through && rec.Type == ramdisk.Submit {
				through := *rec
				through.Flags |= ramdisk.FUA
				rec = &through
			}
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// early returns the early blocks of a crash state.
func (d *diskSet) early(c crashCase) (out []EarlyBlock) {
	for _, w := range c.Early() {
		i, off := interp.Locate(w.Off)
		sector := off / ramdisk.SectorSize
		out = append(out, EarlyBlock{Disk: d.list[i].Number, Sector: sector, Bytes: w.Len})
	}
	return out
}

func logName(d *Disk) string { return fmt.Sprintf("disk%d.log", d.Number) }

// writeLogs writes a log in the format of dm-log-writes for each disk, for fsward replay.
func (d *diskSet) writeLogs(dir string, records []ramdisk.Record) (err error) {
	logs := make(map[uint32]*trace.Writer)
	for _, disk := range d.list {
		w, err := trace.Create(filepath.Join(dir, logName(disk)))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.Close()) }()
		logs[disk.Number] = w
	}
	trace.Together(slices.Collect(maps.Values(logs))...)
	c := ramdisk.NewConverter(logs)
	for i := range records {
		if err := c.Add(&records[i]); err != nil {
			return err
		}
	}
	return nil
}
