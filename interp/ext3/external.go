package ext3

import (
	"errors"
	"io"
	"math"

	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// An external journal has a disk of its own. The disk begins with a superblock that has the feature
// journal_dev and the UUID by which the file system names its journal. The journal's superblock is
// in the block after it, and block n of the journal is block n of the disk
// (ext4_get_journal_blkdev, jbd2_journal_init_dev).

// externalJournal returns the UUID of the external journal on a disk. ok is false if the disk has
// none or cannot be read.
func externalJournal(d io.ReaderAt) (uuid [ondisk.UUIDLen]byte, ok bool) {
	sb, err := readSuper(d)
	if err != nil || !ondisk.IsJournalDevice(sb) {
		return uuid, false
	}
	return [ondisk.UUIDLen]byte(ondisk.SuperOf(sb).UUID()), true
}

// Member returns the UUID of the external journal that a disk has, or that the file system on it
// uses; "" if there is none.
func Member(d interp.Disk) string {
	if uuid, ok := externalJournal(d); ok {
		return ondisk.UUIDText(uuid)
	}
	sb, err := readSuper(d)
	if err != nil || ondisk.SuperOf(sb).Magic() != ondisk.Magic {
		return ""
	}
	geo, err := ondisk.ParseGeometry(sb, d.Size())
	if err != nil || !geo.External {
		return ""
	}
	return ondisk.UUIDText(geo.JournalUUID)
}

// JournalDevice describes the external journal on a disk, "" if it has none.
func JournalDevice(d interp.Disk) string {
	uuid, ok := externalJournal(d)
	if !ok {
		return ""
	}
	return "the disk of the file system with the external journal " + ondisk.UUIDText(uuid) +
		" is missing"
}

// openExternal finds the blocks of an external journal and reads its superblock. size is the size
// of the file system's own device in bytes.
func (m *Mounted) openExternal(size uint64) error {
	geo, start := m.Geo, journalStart(size)
	dev := io.NewSectionReader(m.State.dev, int64(start), math.MaxInt64-int64(start))
	sb, err := readSuper(dev)
	if errors.Is(err, interp.ErrNotFound) {
		return missingJournal(geo)
	}
	if err != nil {
		return err
	}
	v := ondisk.SuperOf(sb)
	if !ondisk.IsJournalDevice(sb) || [ondisk.UUIDLen]byte(v.UUID()) != geo.JournalUUID {
		return missingJournal(geo)
	}
	blocks, at := v.BlocksCount(), start/uint64(geo.BlockSize)
	if at+uint64(blocks) > math.MaxUint32 {
		return &interp.UnsupportedError{FS: schema.FS,
			Feature: "an external journal of a file system on a disk of almost 2^32 blocks"}
	}
	if blocks < ondisk.MinJournal {
		return ondisk.Corrupt(start+ondisk.SuperOff,
			"the external journal has %d blocks, want %d", blocks, ondisk.MinJournal)
	}
	j := &m.Log.Journal
	j.Geo, j.deviceBlocks = geo, size/uint64(geo.BlockSize)
	j.superAt = ondisk.SuperOff/geo.BlockSize + 1
	j.Runs = []run{{0, uint32(at), blocks}}
	return m.readJournalSuper()
}

// observeJournalDevice judges the part of a write that goes to the superblock of the disk of an
// external journal, while the file system is mounted.
func (f *FS) observeJournalDevice(w interp.Write, obs *interp.Observation) {
	at := journalStart(f.disk.Size()) + ondisk.SuperOff
	if !f.geo.External || !touches(w, at, ondisk.SuperLen) {
		return
	}
	blocks := func(dev io.ReaderAt) (uint32, error) {
		sb, err := readSuper(io.NewSectionReader(dev, int64(at)-ondisk.SuperOff, 1<<20))
		if err != nil || !ondisk.IsJournalDevice(sb) ||
			[ondisk.UUIDLen]byte(ondisk.SuperOf(sb).UUID()) != f.geo.JournalUUID {
			return 0, err
		}
		return ondisk.SuperOf(sb).BlocksCount(), nil
	}
	before, err := blocks(f.disk)
	var after uint32
	if err == nil {
		after, err = blocks(PendingDevice{f.disk, w})
	}
	switch {
	case err != nil:
		obs.Unknown = err
	case before != after:
		obs.Violations = append(obs.Violations, checkJournalSuper.at(at,
			"the disk of the external journal is no longer that of the mounted file system"))
	}
}

// observeOtherDisk follows a write to another disk than the file system's own while it is not
// mounted: the disk can become that of its external journal, or cease to be it.
func (f *FS) observeOtherDisk(w interp.Write) {
	disk, off := interp.Locate(w.Off)
	ours := disk == f.disk.journal
	f.pending.unmounted = ours
	w.Off = off
	if !f.geo.External || !touches(w, ondisk.SuperOff, ondisk.SuperLen) ||
		!ours && f.disk.journal != none {
		return
	}
	uuid, is := externalJournal(PendingDevice{interp.Sub(f.disk.set, disk), w})
	switch is = is && uuid == f.geo.JournalUUID; {
	case is && !ours:
		f.pending.disks = f.disk.with(disk)
	case !is && ours:
		f.pending.disks = f.disk.with(none)
	}
}
