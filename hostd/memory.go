package hostd

// Memory is how much a daemon may use for each of its disks.
type Memory struct {
	PerDisk uint64 // bytes; 0: DefaultMemory
}

// DefaultMemory is the bound for a disk where none is set, bytes.
const DefaultMemory = 256 << 20

// recordBytes is what a change record takes while it is made and judged: 80 bytes, as much again while the slice of
// them grows, or the lists and indexes of the rules. TestMemoryOfRecords measures it.
const recordBytes = 160

func (m Memory) perDisk() uint64 {
	if m.PerDisk == 0 {
		return DefaultMemory
	}
	return m.PerDisk
}

// passRecords is how many change records the check of a baseline may have: those of half the memory.
func (m Memory) passRecords() int { return int(m.perDisk() / 2 / recordBytes) }

// passCache is how many bytes of metadata blocks the check of a baseline may keep.
func (m Memory) passCache() int { return int(m.perDisk() / 16) }
