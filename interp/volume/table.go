package volume

import "fmt"

// A table is the partition table of one disk.
type table struct {
	kind    string
	name    string
	sector  uint64 // bytes of a logical sector; 0 means 512
	parts   []part
	regions []Extent
	faults  []Fault
	// torn says why the table is not whole, "" if it is: a tool may be writing it.
	torn string
	gpt  *gptCopies // nil for an MBR
	// firstUsable and endUsable bound the partitions of a GPT, bytes; 0 for an MBR.
	firstUsable, endUsable uint64
}

// A part is an entry of a partition table.
type part struct {
	number      int    // 1 for p1
	start, size uint64 // bytes on the disk
	typ, label  string
	guid        string
	container   bool   // an extended partition
	torn        bool   // its chain is not whole: a tool may be writing it
	inside      int    // number of the extended partition that has it, or 0
	unguarded   string // why its bytes cannot be read
}

// tearChain says that the chain of an extended partition is not whole.
func (t *table) tearChain(d *device, container int, off uint64, reason string) {
	for i := range t.parts {
		if t.parts[i].number == container {
			t.parts[i].torn = true
		}
	}
	t.fault(d, off, reason)
}

// tear says that the table is not whole.
func (t *table) tear(d *device, off uint64, reason string) {
	if t.torn == "" {
		t.torn = reason
	}
	t.fault(d, off, reason)
}

func (t *table) fault(d *device, off uint64, reason string) {
	t.faults = append(t.faults, Fault{d.disk, d.extent(off, 0).Addr, reason})
}

// add adds a partition. One that goes beyond the end of the disk is cut, as Linux does.
func (t *table) add(d *device, number int, start, size uint64, typ, label string) *part {
	p := part{number: number, start: start, size: size, typ: typ, label: label}
	switch {
	case start >= d.size:
		t.fault(d, 0, fmt.Sprintf("p%d lies behind the end of the disk", number))
		p.unguarded = "partition behind the end of the disk"
	case size > d.size-start:
		t.fault(d, 0, fmt.Sprintf("p%d goes beyond the end of the disk", number))
		p.unguarded = "partition beyond the end of the disk"
	}
	t.parts = append(t.parts, p)
	return &t.parts[len(t.parts)-1]
}

// absurd reports whether a partition lies outside the disk, or two overlap.
func (t *table) absurd(d *device) bool {
	for i, p := range t.parts {
		if !within(p.start, p.size, 0, d.size) {
			return true
		}
		for _, q := range t.parts[:i] {
			if p.start < q.start+q.size && q.start < p.start+p.size {
				return true
			}
		}
	}
	return false
}
