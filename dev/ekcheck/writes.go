package main

import (
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"time"

	"fsward/dev/guestcheck"
	"fsward/explore/ekm"
	"fsward/explore/ramdisk"
)

// writesOf is checkWrites of a file system.
func writesOf(fs string) func(c *ekm.Control) error {
	return func(c *ekm.Control) error { return checkWrites(c, fs) }
}

// content is what a sector held.
type content struct {
	sector uint64
	hash   uint64
}

// written is a sector that the disk was given.
type written struct {
	content
	at time.Duration
}

// How a write is explained, the best first. Each has been in a bio that was seen on its way, with these contents.
const (
	byBuffer  = "buffer marked dirty with these contents"
	byJournal = "buffer given to the journal with these contents"
	byFolio   = "folio marked dirty with these contents"
	byLater   = "buffer or folio marked dirty, and changed since"
	byOwner   = "buffer that its owner submits without marking it dirty"
	byBio     = "bio alone"

	// Nothing but a journal keeps a buffer as it is while it is written: ext2's inode can be updated between the probe of the bio and
	// the disk's copy, and is then marked dirty with what the disk has.
	onItsWay = "buffer marked dirty with these contents, while its bio was on its way"
)

// explainer keeps what events say of the blocks of one device.
type explainer struct {
	seed    maphash.Seed
	dev     uint32
	types   map[ekm.Type]int
	events  int
	dirty   map[content]string // best explanation of contents at a place
	pages   map[uint64]bool    // numbers of pages that were marked dirty
	bodies  map[uint64]string  // contents, wherever: of folios, whose place on the device nobody knows yet
	owned   map[content]bool
	bios    map[content]time.Duration // when contents were first on their way
	places  map[uint64]time.Duration  // when anything was first on its way to a sector
	how     map[content]string
	lone    map[uint64]int // sectors by their place in units of 4 KiB: neither marked dirty, nor of the journal's own thread
	open    map[uint64]int // bios submitted and not ended
	submits int
	ends    int
	failed  int
	alone   int // ends of bios that were not submitted: those that a file system keeps over several of its own
}

func newExplainer(dev uint32) *explainer {
	return &explainer{seed: maphash.MakeSeed(), dev: dev, types: make(map[ekm.Type]int), dirty: make(map[content]string),
		pages: make(map[uint64]bool), bodies: make(map[uint64]string), owned: make(map[content]bool), bios: make(map[content]time.Duration), places: make(map[uint64]time.Duration),
		how: make(map[content]string), lone: make(map[uint64]int), open: make(map[uint64]int)}
}

// sectors gives each sector of data at byte pos.
func (e *explainer) sectors(pos uint64, data []byte, each func(c content)) {
	for i := 0; i+ramdisk.SectorSize <= len(data); i += ramdisk.SectorSize {
		each(content{(pos + uint64(i)) / ramdisk.SectorSize, maphash.Bytes(e.seed, data[i:][:ramdisk.SectorSize])})
	}
}

func (e *explainer) add(r *ekm.Record) error {
	e.types[r.Type]++
	e.events++
	folio := r.Type >= ekm.FolioDirty && r.Type <= ekm.FolioDrop // those of Btrfs have the number of its superblock
	if r.Dev != e.dev && r.Type != ekm.Mark && (!folio || r.Dev>>20 != 0) {
		return fmt.Errorf("record %d, %s, is of device %#x", r.Seq, r.Type, r.Dev)
	}
	switch r.Type {
	case ekm.BufferDirty, ekm.BufferJournal:
		e.pages[r.PFN] = true
		how := byBuffer
		if r.Type == ekm.BufferJournal {
			how = byJournal
		}
		e.sectors(r.Pos, r.Data, func(c content) {
			e.dirty[c] = how
			e.bodies[c.hash] = how
		})
	case ekm.FolioDirty:
		e.pages[r.PFN] = true
		e.sectors(0, r.Data, func(c content) { e.bodies[c.hash] = byFolio })
	case ekm.BufferSubmit:
		e.sectors(r.Pos, r.Data, func(c content) { e.owned[c] = true })
	case ekm.BioSubmit:
		e.submits++
		e.open[r.Object]++
	case ekm.BioData:
		e.sectors(r.Pos, r.Data, func(c content) {
			if _, there := e.bios[c]; !there {
				e.bios[c] = r.Time
			}
			if _, there := e.places[c.sector]; !there {
				e.places[c.sector] = r.Time
			}
			how := e.explain(c, r)
			if (how == byBio || how == byOwner) && !strings.HasPrefix(r.Comm, "jbd2/") {
				e.lone[c.sector*ramdisk.SectorSize/4096]++
			}
			e.how[c] = how
		})
	case ekm.BioEnd:
		e.ends++
		if r.Status != 0 {
			e.failed++
		}
		switch e.open[r.Object] {
		case 0:
			e.alone++
		case 1:
			delete(e.open, r.Object)
		default:
			e.open[r.Object]--
		}
	}
	return nil
}

func (e *explainer) explain(c content, r *ekm.Record) string {
	if how := e.dirty[c]; how != "" {
		return how
	}
	if e.pages[r.PFN] {
		if how := e.bodies[c.hash]; how != "" {
			return how // the journal's copy of a block has the block's own page
		}
		return byLater
	}
	if e.owned[c] {
		return byOwner
	}
	return byBio
}

// reason tells how what the disk was given is explained. It has to have been in a bio that was seen before.
func (e *explainer) reason(w written) (string, error) {
	at, seen := e.bios[w.content]
	if seen && at <= w.at {
		return e.how[w.content], nil
	}
	// Marked dirty once more, it may be written a second time, with a bio that has what the disk got from the first.
	if first, there := e.places[w.sector]; there && first <= w.at && e.dirty[w.content] == byBuffer {
		return onItsWay, nil
	}
	return "", fmt.Errorf("sector %d was written with contents that no event had before (seen at all: %v, marked dirty with them: %q)", w.sector, seen, e.dirty[w.content])
}

// checkWrites compares the log of the write set with the log of bios that the disk keeps, for a load on a file system: an event
// has to precede each sector that the disk is given, with its contents, and has to tell what made it a candidate.
func checkWrites(c *ekm.Control, fs string) error {
	d, err := makeDisk(fs)
	if err != nil {
		return err
	}
	rd, err := ramdisk.Open()
	if err != nil {
		return err
	}
	dev, err := watch(c, d)
	if err != nil {
		return err
	}
	e := newExplainer(dev)
	var disk diskWrites
	var took time.Duration
	err = logged(c, ekm.Writes, func() error {
		return diskLogged(rd, d, func() error {
			begin := time.Now()
			err := loadFS(fs, d)
			took = time.Since(begin)
			return err
		}, func(r *ramdisk.Record) error {
			if r.Type == ramdisk.Submit {
				disk.bios++
				e.sectors(r.Sector*ramdisk.SectorSize, r.Data, func(c content) {
					disk.sectors = append(disk.sectors, written{c, r.Time})
				})
			}
			return nil
		})
	}, e.add)
	if err != nil {
		return err
	}
	hows, err := e.reasons(disk.sectors)
	if err != nil {
		return err
	}
	e.tell("writes-"+fs, &disk, hows, took)
	if disk.bios == 0 || disk.bios != e.submits || e.ends-e.alone != e.submits || len(e.open) != 0 || e.failed != 0 ||
		fs != "btrfs" && e.alone != 0 {
		return fmt.Errorf("the disk has %d bios; the events have %d submitted, %d ended, %d of these not submitted, %d with errors; "+
			"%d objects are open", disk.bios, e.submits, e.ends, e.alone, e.failed, len(e.open))
	}
	if err := e.lonely(fs, hows); err != nil {
		return err
	}
	return errors.Join(c.Watch(dev, false), d.Remove(), rd.Close())
}

// diskWrites is what the disk was given.
type diskWrites struct {
	bios    int
	sectors []written
}

// loadFS mounts the file system, runs two loads on it, and unmounts it.
func loadFS(fs string, d *ramdisk.Disk) error {
	return guestcheck.Mounted(fs, d.Path(), "", func(dir string) error {
		for _, profile := range []string{"mixed", "fsync"} {
			if err := guestcheck.Program("fsload", "-dir", dir, "-seed", "1", "-ops", "60", "-seconds", "60",
				"-profile", profile); err != nil {
				return err
			}
		}
		return nil
	})
}

// reasons counts how the sectors that the disk was given are explained.
func (e *explainer) reasons(disk []written) (map[string]int, error) {
	hows := make(map[string]int)
	for _, w := range disk {
		how, err := e.reason(w)
		if err != nil {
			return nil, err
		}
		hows[how]++
	}
	return hows, nil
}

// tell reports what was seen.
func (e *explainer) tell(name string, disk *diskWrites, hows map[string]int, took time.Duration) {
	var list []string
	for _, how := range slices.Sorted(maps.Keys(hows)) {
		list = append(list, fmt.Sprintf("%d %s", hows[how], how))
	}
	guestcheck.Fact(name, "%d events of %d types while %d sectors were written in %d bios, %.0f events a second", e.events,
		len(e.types), len(disk.sectors), disk.bios, float64(e.events)/took.Seconds())
	guestcheck.Fact(name, "each sector was seen before it was written: %s", strings.Join(list, ", "))
	guestcheck.Fact(name, "%v; written without being marked dirty, other than by the journal's thread: %v", e.types, e.lone)
}

// lonely: what was not marked dirty is what a file system is known to write from pages of its own: superblocks. ext4_commit_super()
// does, for the journal's jbd2_write_superblock(), for Btrfs write_dev_supers().
func (e *explainer) lonely(fs string, hows map[string]int) error {
	if fs == "btrfs" {
		if hows[byFolio] == 0 {
			return fmt.Errorf("no sector was in a folio that was marked dirty: %v", hows)
		}
		for at := range e.lone {
			if at != 64<<10/4096 && at != 64<<20/4096 {
				return fmt.Errorf("byte %d is no superblock, and was not marked dirty", at*4096)
			}
		}
		return nil
	}
	superblocks := 2
	if fs == "ext2" {
		superblocks = 1
	}
	switch {
	case hows[byBio] > 0:
		return fmt.Errorf("%d sectors came in bios without buffers", hows[byBio])
	case hows[byBuffer] == 0:
		return fmt.Errorf("no sector was marked dirty: %v", hows)
	case (hows[byJournal] > 0) != (fs != "ext2"):
		return fmt.Errorf("%d sectors were given to a journal", hows[byJournal])
	case len(e.lone) > superblocks || e.lone[0] == 0:
		return fmt.Errorf("something else than superblocks was not marked dirty: %v", e.lone)
	}
	return nil
}
