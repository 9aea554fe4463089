package ext3

import (
	"fmt"
	"io"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// none is the number of a disk that does not exist.
const none = -1

// devices are the disks of a file system as one range of addresses: its own disk begins at 0, the
// disk of its external journal at journalStart. So a block number names a block of either disk, and
// an external journal differs from an internal one in the places of its blocks alone. The value
// does not change.
type devices struct {
	set     interp.Disk // all disks of the guest
	own     int         // the disk of the file system
	journal int         // the disk of its external journal, or none

	ownDisk, journalDisk interp.Disk // journalDisk is nil if there is none
}

var _ interp.Disk = (*devices)(nil)

// newDevices returns the devices of a file system on disk i of a Set, without an external journal.
func newDevices(set interp.Disk, i int) *devices {
	return &devices{set: set, own: i, journal: none, ownDisk: interp.Sub(set, i)}
}

// first returns the first disk of a Set with a file system, or 0 if none has one.
func first(set interp.Disk) int {
	for i := range interp.Sizes(set) {
		if Detect(interp.Sub(set, i)) {
			return i
		}
	}
	return 0
}

// with returns the same devices with the external journal on another disk, or on none.
func (d *devices) with(journal int) *devices {
	changed := *d
	changed.journal, changed.journalDisk = journal, nil
	if journal != none {
		changed.journalDisk = interp.Sub(d.set, journal)
	}
	return &changed
}

// find looks for the external journal that a file system names, if it names one. If no disk has it,
// find returns the devices without it and a *interp.MissingDiskError.
func (d *devices) find(geo *ondisk.Geometry) (*devices, error) {
	at := none
	for i := range interp.Sizes(d.set) {
		if !geo.External || i == d.own {
			continue
		}
		switch uuid, is := externalJournal(interp.Sub(d.set, i)); {
		case !is || uuid != geo.JournalUUID:
		case at != none:
			return d.with(none), &interp.UnsupportedError{FS: schema.FS, Feature: fmt.Sprintf(
				"the external journal %s on two disks", ondisk.UUIDText(uuid))}
		default:
			at = i
		}
	}
	if geo.External && at == none {
		return d.with(none), missingJournal(geo)
	}
	return d.with(at), nil
}

func missingJournal(geo *ondisk.Geometry) error {
	return &interp.MissingDiskError{FS: schema.FS, Device: fmt.Sprintf(
		"the disk of the external journal %s is missing", ondisk.UUIDText(geo.JournalUUID))}
}

// Size returns the size of the file system's own disk in bytes.
func (d *devices) Size() uint64 { return d.ownDisk.Size() }

// journalStart returns where the disk of an external journal begins, behind a file system's disk of
// size bytes.
func journalStart(size uint64) uint64 {
	return (size + ondisk.MaxBlockSize - 1) / ondisk.MaxBlockSize * ondisk.MaxBlockSize
}

func (d *devices) ReadAt(p []byte, off int64) (int, error) {
	start := int64(journalStart(d.Size()))
	switch {
	case off < start:
		return d.ownDisk.ReadAt(p, off)
	case d.journalDisk == nil:
		return 0, io.EOF
	}
	return d.journalDisk.ReadAt(p, off-start)
}

// local gives a write to the Set the address that it has in d. ok is false if it goes to a disk
// that does not belong to the file system.
func (d *devices) local(w interp.Write) (local interp.Write, ok bool) {
	switch disk, off := interp.Locate(w.Off); disk {
	case d.own:
		w.Off = off
	case d.journal:
		w.Off = journalStart(d.Size()) + off
	default:
		return w, false
	}
	return w, true
}

// global returns the address in the Set of an address in d.
func (d *devices) global(addr uint64) uint64 {
	if start := journalStart(d.Size()); d.journal != none && addr >= start {
		return interp.Address(d.journal, addr-start)
	}
	return interp.Address(d.own, addr)
}

// globalize gives violations the addresses that they have in the Set.
func (d *devices) globalize(violations []change.Violation) {
	for i := range violations {
		violations[i].Addr = d.global(violations[i].Addr)
	}
}

// logDisk returns the disk that holds the log.
func (d *devices) logDisk() int {
	if d.journal != none {
		return d.journal
	}
	return d.own
}
