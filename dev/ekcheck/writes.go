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

// writesOf returns checkWrites for a file system.
func writesOf(fs string) func(c *ekm.Control) error {
	return func(c *ekm.Control) error { return checkWrites(c, fs) }
}

// A content is a sector with a hash of its contents.
type content struct {
	sector uint64
	hash   uint64
}

// A sectorWrite is a sector that the disk received, with the time.
type sectorWrite struct {
	content
	at time.Duration
}

// Reasons of a sector write: the event that made the sector a candidate, the best first. For each
// of them, an earlier bio event has the sector with these contents.
const (
	byBuffer  = "buffer marked dirty with these contents"
	byJournal = "buffer given to the journal with these contents"
	byFolio   = "folio marked dirty with these contents"
	byLater   = "buffer or folio marked dirty, and changed since"
	byOwner   = "buffer that its owner submits without marking it dirty"
	byBio     = "bio alone"

	// Only a journal keeps a buffer unchanged during its write. ext2, for example, may update an inode
	// after the probe of the bio and before the disk copies the buffer. It then marks the buffer dirty
	// with the contents that the disk has.
	byBufferInFlight = "buffer marked dirty with these contents, while its bio was in flight"
)

// An explainer collects the events of one device and finds the reason of each sector write.
type explainer struct {
	seed   maphash.Seed
	dev    uint32
	types  map[ekm.Type]int // number of events of each type
	events int

	dirty    map[content]string        // best reason for contents in a sector
	pages    map[uint64]bool           // numbers of memory pages that were marked dirty
	contents map[uint64]string         // reason for a hash in any sector; that of a folio is unknown
	owned    map[content]bool          // submitted buffers
	bios     map[content]time.Duration // time of the first bio with the contents
	firstBio map[uint64]time.Duration  // time of the first bio to the sector
	reasonOf map[content]string

	// sectors that were not marked dirty and that the journal's thread does not write, by their
	// address in units of 4 KiB
	unmarked map[uint64]int

	open        map[uint64]int // bios that have not ended
	submits     int
	ends        int
	failed      int
	unsubmitted int // ends of bios that a file system splits into several and does not submit
}

// newExplainer returns an explainer for the device with this number.
func newExplainer(dev uint32) *explainer {
	return &explainer{
		seed:     maphash.MakeSeed(),
		dev:      dev,
		types:    make(map[ekm.Type]int),
		dirty:    make(map[content]string),
		pages:    make(map[uint64]bool),
		contents: make(map[uint64]string),
		owned:    make(map[content]bool),
		bios:     make(map[content]time.Duration),
		firstBio: make(map[uint64]time.Duration),
		reasonOf: make(map[content]string),
		unmarked: make(map[uint64]int),
		open:     make(map[uint64]int),
	}
}

// sectors calls each for each whole sector of data. pos is the address of data in bytes.
func (e *explainer) sectors(pos uint64, data []byte, each func(c content)) {
	for i := 0; i+ramdisk.SectorSize <= len(data); i += ramdisk.SectorSize {
		hash := maphash.Bytes(e.seed, data[i:][:ramdisk.SectorSize])
		each(content{(pos + uint64(i)) / ramdisk.SectorSize, hash})
	}
}

// add adds an event. It fails if the event belongs to another device.
func (e *explainer) add(r *ekm.Record) error {
	e.types[r.Type]++
	e.events++
	// Folios of Btrfs have the anonymous device number of its superblock (major number 0).
	folio := r.Type >= ekm.FolioDirty && r.Type <= ekm.FolioDrop
	if r.Dev != e.dev && r.Type != ekm.Mark && (!folio || r.Dev>>20 != 0) {
		return fmt.Errorf("record %d (%s) belongs to device %#x, want %#x",
			r.Seq, r.Type, r.Dev, e.dev)
	}
	switch r.Type {
	case ekm.BufferDirty, ekm.BufferJournal:
		e.pages[r.PFN] = true
		reason := byBuffer
		if r.Type == ekm.BufferJournal {
			reason = byJournal
		}
		e.sectors(r.Pos, r.Data, func(c content) {
			e.dirty[c] = reason
			e.contents[c.hash] = reason
		})
	case ekm.FolioDirty:
		e.pages[r.PFN] = true
		e.sectors(0, r.Data, func(c content) { e.contents[c.hash] = byFolio })
	case ekm.BufferSubmit:
		e.sectors(r.Pos, r.Data, func(c content) { e.owned[c] = true })
	case ekm.BioSubmit:
		e.submits++
		e.open[r.Object]++
	case ekm.BioData:
		e.sectors(r.Pos, r.Data, func(c content) { e.addSector(c, r) })
	case ekm.BioEnd:
		e.endBio(r)
	}
	return nil
}

// addSector adds a sector of a bio.
func (e *explainer) addSector(c content, r *ekm.Record) {
	if _, there := e.bios[c]; !there {
		e.bios[c] = r.Time
	}
	if _, there := e.firstBio[c.sector]; !there {
		e.firstBio[c.sector] = r.Time
	}
	reason := e.explain(c, r)
	if (reason == byBio || reason == byOwner) && !strings.HasPrefix(r.Comm, "jbd2/") {
		e.unmarked[c.sector*ramdisk.SectorSize/4096]++
	}
	e.reasonOf[c] = reason
}

// endBio counts the end of a bio.
func (e *explainer) endBio(r *ekm.Record) {
	e.ends++
	if r.Status != 0 {
		e.failed++
	}
	switch e.open[r.Object] {
	case 0:
		e.unsubmitted++
	case 1:
		delete(e.open, r.Object)
	default:
		e.open[r.Object]--
	}
}

// explain returns the reason of a sector in a bio.
func (e *explainer) explain(c content, r *ekm.Record) string {
	if reason := e.dirty[c]; reason != "" {
		return reason
	}
	if e.pages[r.PFN] {
		if reason := e.contents[c.hash]; reason != "" {
			return reason // the journal's copy of a block has the block's own page
		}
		return byLater
	}
	if e.owned[c] {
		return byOwner
	}
	return byBio
}

// explainWrite returns the reason of a sector write. It fails if no earlier bio has the sector with
// these contents, and byBufferInFlight does not hold either.
func (e *explainer) explainWrite(w sectorWrite) (string, error) {
	at, seen := e.bios[w.content]
	if seen && at <= w.at {
		return e.reasonOf[w.content], nil
	}
	// The buffer may have changed while its first bio was in flight. A second bio may have the new
	// contents, but the disk got them with the first one.
	if first, there := e.firstBio[w.sector]; there && first <= w.at && e.dirty[w.content] == byBuffer {
		return byBufferInFlight, nil
	}
	return "", fmt.Errorf("no event before the write of sector %d has its contents"+
		" (in a later bio: %v; marked dirty with them: %q)", w.sector, seen, e.dirty[w.content])
}

// checkWrites compares the log of the write set with the disk's log of bios, for a load on a file
// system. Before each sector that the disk receives, the write set must have an event with its
// contents, and a reason for the write.
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
	err = readLog(c, ekm.Writes, func() error {
		return readDiskLog(rd, d, func() error {
			begin := time.Now()
			err := loadFS(fs, d)
			took = time.Since(begin)
			return err
		}, func(r *ramdisk.Record) error {
			if r.Type == ramdisk.Submit {
				disk.bios++
				e.sectors(r.Sector*ramdisk.SectorSize, r.Data, func(c content) {
					disk.sectors = append(disk.sectors, sectorWrite{c, r.Time})
				})
			}
			return nil
		})
	}, e.add)
	if err != nil {
		return err
	}
	counts, err := e.countReasons(disk.sectors)
	if err != nil {
		return err
	}
	e.report("writes-"+fs, &disk, counts, took)
	if disk.bios == 0 || disk.bios != e.submits || e.ends-e.unsubmitted != e.submits ||
		len(e.open) != 0 || e.failed != 0 || fs != "btrfs" && e.unsubmitted != 0 {
		return fmt.Errorf("the disk has %d bios; the events have %d submitted and %d ended bios,"+
			" %d of these not submitted, %d with errors; %d have not ended",
			disk.bios, e.submits, e.ends, e.unsubmitted, e.failed, len(e.open))
	}
	if err := e.checkUnmarked(fs, counts); err != nil {
		return err
	}
	return errors.Join(c.Watch(dev, false), d.Remove(), rd.Close())
}

// diskWrites are the writes that the disk received.
type diskWrites struct {
	bios    int
	sectors []sectorWrite
}

// loadFS mounts the file system, runs two loads on it, and unmounts it.
func loadFS(fs string, d *ramdisk.Disk) error {
	return guestcheck.Mounted(fs, d.Path(), "", func(dir string) error {
		for _, profile := range []string{"mixed", "fsync"} {
			if err := guestcheck.Program("fsload", "-dir", dir, "-seed", "1", "-ops", "60",
				"-seconds", "60", "-profile", profile); err != nil {
				return err
			}
		}
		return nil
	})
}

// countReasons counts the writes by their reason.
func (e *explainer) countReasons(disk []sectorWrite) (map[string]int, error) {
	counts := make(map[string]int)
	for _, w := range disk {
		reason, err := e.explainWrite(w)
		if err != nil {
			return nil, err
		}
		counts[reason]++
	}
	return counts, nil
}

// report writes the counts of events, writes and reasons.
func (e *explainer) report(name string, disk *diskWrites, counts map[string]int,
	took time.Duration) {
	var list []string
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, fmt.Sprintf("%d %s", counts[reason], reason))
	}
	guestcheck.Fact(name, "%d events of %d types while %d sectors were written in %d bios,"+
		" %.0f events a second", e.events, len(e.types), len(disk.sectors), disk.bios,
		float64(e.events)/took.Seconds())
	guestcheck.Fact(name, "each sector has an event before its write: %s", strings.Join(list, ", "))
	guestcheck.Fact(name, "%v; writes of unmarked 4 KiB blocks, except by the journal's thread: %v",
		e.types, e.unmarked)
}

// checkUnmarked checks that all unmarked sectors belong to superblocks, which the file systems are
// known to write from pages of their own: ext4_commit_super() for ext4, jbd2_write_superblock() for
// the journal, write_dev_supers() for Btrfs. It also checks that the expected reasons occur.
func (e *explainer) checkUnmarked(fs string, counts map[string]int) error {
	if fs == "btrfs" {
		if counts[byFolio] == 0 {
			return fmt.Errorf("no sector has the reason %q: %v", byFolio, counts)
		}
		for at := range e.unmarked {
			if at != 64<<10/4096 && at != 64<<20/4096 {
				return fmt.Errorf("the block at byte %d is unmarked and not a superblock", at*4096)
			}
		}
		return nil
	}
	superblocks := 2
	if fs == "ext2" {
		superblocks = 1
	}
	switch {
	case counts[byBio] > 0:
		return fmt.Errorf("%d sectors have the reason %q, want none", counts[byBio], byBio)
	case counts[byBuffer] == 0:
		return fmt.Errorf("no sector has the reason %q: %v", byBuffer, counts)
	case (counts[byJournal] > 0) != (fs != "ext2"):
		return fmt.Errorf("%d sectors have the reason %q", counts[byJournal], byJournal)
	case len(e.unmarked) > superblocks || e.unmarked[0] == 0:
		return fmt.Errorf("the unmarked blocks are not the superblocks: %v", e.unmarked)
	}
	return nil
}
