// Package volume reads the tables on the disks of a guest: GPT, MBR with extended partitions, and
// LVM2 metadata. The result is a Map, which says to which volume each byte belongs. A volume is a
// range of bytes that can hold a file system: a whole disk without a table, a partition, or a
// logical volume.
//
// The tables are the guest's: no length, offset or count in them is trusted, and all work is
// bounded. A damaged table is a Fault, and never an error. Start with Read.
package volume

import "fmt"

// Kind is the kind of a volume.
type Kind uint8

// The kinds of volumes.
const (
	Whole     Kind = iota // a disk without a table
	Partition             // an entry of a GPT or an MBR
	LV                    // a logical volume of LVM
)

func (k Kind) String() string {
	switch k {
	case Whole:
		return "disk"
	case Partition:
		return "partition"
	default:
		return "lv"
	}
}

// An Extent is a range of addresses: see interp.Address.
type Extent struct{ Addr, Len uint64 } // bytes

// A Segment maps a range of a volume to addresses. With several stripes, the bytes go round robin
// to the stripes, Chunk bytes at a time.
type Segment struct {
	Start, Len uint64   // in the volume, bytes
	Chunk      uint64   // bytes; 0 if there is one stripe
	Stripes    []uint64 // the address of the first byte of each stripe
}

// stripeLen returns the number of bytes of each stripe.
func (s *Segment) stripeLen() uint64 { return s.Len / uint64(len(s.Stripes)) }

// A Volume is a range of bytes that can hold a file system.
type Volume struct {
	// Path is the name of the volume: "" for a whole disk, "p2" for a partition of Disk, "vg/lv" for a
	// logical volume. The names of logical volumes are unique in a guest.
	Path     string
	Disk     int    // of its first byte
	Size     uint64 // bytes
	Kind     Kind
	Segments []Segment // in ascending order of Start; some ranges of a volume with Unguarded may lack
	// Unguarded says why the bytes cannot be read as a volume ("thin LV"), "" if they can.
	Unguarded string
	Type      string // for messages: of a partition a GUID or "0x83", of an LV "linear", "striped", …
	Label     string // name of a GPT partition

	id string // of a logical volume
}

// Extents returns the ranges of addresses that the volume has, each stripe of a segment as one.
func (v *Volume) Extents() []Extent {
	var all []Extent
	for i := range v.Segments {
		s := &v.Segments[i]
		for _, addr := range s.Stripes {
			all = append(all, Extent{addr, s.stripeLen()})
		}
	}
	return all
}

// The kinds of tables.
const (
	GPT = "GPT"
	MBR = "MBR"
	PV  = "LVM PV"
)

// A Table is a partition table, or the label and the metadata areas of a PV.
type Table struct {
	Kind    string // GPT, MBR or PV
	Disk    int
	Path    string   // of the partition that is a PV, else ""
	Name    string   // GUID of a GPT, identifier of an MBR, name of a PV's VG; "" if there is none
	Regions []Extent // its bytes
}

// A Fault is damage in a table.
type Fault struct {
	Disk   int
	Addr   uint64 // address (interp.Address) of the damaged structure
	Reason string
}

func (f Fault) String() string {
	return fmt.Sprintf("disk %d at byte %d: %s", f.Disk, f.Addr%stride, f.Reason)
}

// A Map assigns the bytes of the disks to volumes, tables, boot code and gaps. It does not change,
// and is safe for concurrent use.
type Map struct {
	Volumes []Volume // in the order of disks and tables; logical volumes follow
	Tables  []Table
	Faults  []Fault

	groups   []*group
	runs     []run    // of all volumes, ascending and apart
	tables   []owned  // regions of tables, ascending and apart
	concerns []Extent // ascending and apart
	fixed    []Extent // those of tables that are there
}
