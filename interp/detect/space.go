package detect

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"fsward/interp"
	"fsward/interp/volume"
)

// A space is the volumes on the disks of a guest as one address space, as if each volume were a
// disk: volume i begins at the address i·interp.DiskStride. The first volumes are the whole disks,
// so that a disk without a table has the same addresses in both. A volume keeps its number while it
// exists. A space is safe for concurrent use.
type space struct {
	disks interp.Disk // the disks as they are
	now   atomic.Pointer[layout]
}

var _ interp.Several = (*space)(nil)

// newSpace returns the space of the volumes of a map.
func newSpace(disks interp.Disk, m *volume.Map) (*space, error) {
	empty := &layout{Map: &volume.Map{}, slots: make([]slot, len(interp.Sizes(disks)))}
	empty.disks = len(empty.slots)
	for i := range empty.slots {
		empty.slots[i].volume = none
	}
	first, err := empty.next(m)
	if err != nil {
		return nil, err
	}
	s := &space{disks: disks}
	s.now.Store(first)
	return s, nil
}

// Size returns the address at which the last volume ends.
func (s *space) Size() uint64 {
	slots := s.now.Load().slots
	last := len(slots) - 1
	return interp.Address(last, slots[last].size)
}

// Sizes returns the sizes of the volumes in bytes, 0 for those that are gone.
func (s *space) Sizes() []uint64 {
	l := s.now.Load()
	sizes := make([]uint64, len(l.slots))
	for i := range l.slots {
		sizes[i] = l.slots[i].size
	}
	return sizes
}

// DiskSize returns the size of volume i in bytes, 0 if there is none.
func (s *space) DiskSize(i int) uint64 {
	if l := s.now.Load(); i < len(l.slots) {
		return l.slots[i].size
	}
	return 0
}

// ReadAt reads from the volume that holds an address, up to its end.
func (s *space) ReadAt(p []byte, addr int64) (int, error) {
	if addr < 0 {
		return 0, fmt.Errorf("cannot read at address %d", addr)
	}
	l := s.now.Load()
	i, off := interp.Locate(uint64(addr))
	done := 0
	for done < len(p) {
		at, n := l.place(i, off)
		if n == 0 {
			return done, io.EOF
		}
		part := p[done:min(len(p), done+int(min(n, uint64(len(p)))))]
		got, err := s.disks.ReadAt(part, int64(at))
		done, off = done+got, off+uint64(got)
		if got < len(part) {
			if err == nil {
				err = io.ErrUnexpectedEOF
			}
			return done, err
		}
	}
	return done, nil
}

// A layout is a map of volumes with the number of each. It does not change.
type layout struct {
	*volume.Map
	disks int // the first numbers are those of the whole disks
	slots []slot
	of    []int // number of each volume of the map
}

// none stands for no volume.
const none = -1

// A slot is the volume that a number stands for.
type slot struct {
	volume int    // index in Map.Volumes, or none
	size   uint64 // bytes
	disk   int    // of the first byte
	spans  bool   // it has bytes on several disks
}

// locate returns the number of the volume that holds an address of the disks, the address in the
// space, and how many bytes from there on lie in the same order in both. The number is none if no
// volume holds the address.
func (l *layout) locate(addr uint64) (i int, at, n uint64) {
	v, off, n, ok := l.Volume(addr)
	if !ok {
		return none, 0, l.Place(addr).Len
	}
	i = l.of[v]
	return i, interp.Address(i, off), n
}

// place returns the address on the disks of an offset in volume i, and how many bytes from there on
// lie in the same order in both: 0 past the end of the volume.
func (l *layout) place(i int, off uint64) (addr, n uint64) {
	if i >= len(l.slots) || l.slots[i].volume == none || off >= l.slots[i].size {
		return 0, 0
	}
	return l.Address(l.slots[i].volume, off)
}

// placeOf is place for an address in the space.
func (l *layout) placeOf(at uint64) (addr, n uint64) {
	i, off := interp.Locate(at)
	return l.place(i, off)
}

// volume returns volume i, or nil if there is none.
func (l *layout) volume(i int) *volume.Volume {
	if i < 0 || i >= len(l.slots) || l.slots[i].volume == none {
		return nil
	}
	return &l.Volumes[l.slots[i].volume]
}

// next returns the layout of a new map. A volume that both maps have keeps its number. Another one
// takes the number of a volume that was gone before, or a new number.
func (l *layout) next(m *volume.Map) (*layout, error) {
	n := &layout{Map: m, disks: l.disks, slots: make([]slot, len(l.slots)),
		of: make([]int, len(m.Volumes))}
	for i := range n.slots {
		n.slots[i].volume = none
	}
	firsts := make(map[uint64]int, len(l.slots)) // numbers by the first address of the volume
	for i := l.disks; i < len(l.slots); i++ {
		if first, n := l.place(i, 0); n > 0 {
			firsts[first] = i
		}
	}
	var fresh []int
	for v := range m.Volumes {
		first, _ := m.Address(v, 0)
		i, same := firsts[first]
		if m.Volumes[v].Kind == volume.Whole {
			i, same = m.Volumes[v].Disk, true
		}
		if !same || n.slots[i].volume != none || i >= l.disks && !l.volume(i).Begins(&m.Volumes[v]) {
			fresh = append(fresh, v)
			continue
		}
		n.set(i, v)
	}
	free := l.disks
	for _, v := range fresh {
		for free < len(n.slots) && (n.slots[free].volume != none ||
			free < len(l.slots) && l.slots[free].volume != none) {
			free++
		}
		if free == interp.MaxDisks {
			return nil, fmt.Errorf("more than %d volumes", interp.MaxDisks)
		}
		if free == len(n.slots) {
			n.slots = append(n.slots, slot{volume: none})
		}
		n.set(free, v)
	}
	return n, nil
}

// set gives volume v of the map the number i.
func (l *layout) set(i, v int) {
	vol := &l.Volumes[v]
	l.slots[i] = slot{volume: v, size: vol.Size, disk: vol.Disk}
	for _, e := range vol.Extents() {
		disk, _ := interp.Locate(e.Addr)
		l.slots[i].spans = l.slots[i].spans || disk != vol.Disk
	}
	l.of[v] = i
}

// difference says which volumes another layout has and lacks; "" if the volumes are the same.
func (l *layout) difference(next *layout) string {
	var came, gone, other []string
	for i := range next.slots {
		was, is := l.volume(i), next.volume(i)
		switch {
		case was == nil && is != nil:
			came = append(came, nameOf(is))
		case was != nil && is == nil:
			gone = append(gone, nameOf(was))
		case was == nil:
		case was.Size != is.Size:
			other = append(other, fmt.Sprintf("%s has %d bytes, before %d", nameOf(is), is.Size, was.Size))
		case was.Path != is.Path:
			other = append(other, fmt.Sprintf("%s is now named %s", nameOf(was), nameOf(is)))
		case was.Unguarded != is.Unguarded || !slices.EqualFunc(was.Segments, is.Segments, sameSegment):
			other = append(other, fmt.Sprintf("%s has changed", nameOf(is)))
		}
	}
	var parts []string
	if len(came) > 0 {
		parts = append(parts, "new volumes: "+enumerate(came))
	}
	if len(gone) > 0 {
		parts = append(parts, "volumes gone: "+enumerate(gone))
	}
	if len(other) > 0 {
		parts = append(parts, enumerate(other))
	}
	return strings.Join(parts, "; ")
}

func sameSegment(a, b volume.Segment) bool {
	return a.Start == b.Start && a.Len == b.Len && a.Chunk == b.Chunk &&
		slices.Equal(a.Stripes, b.Stripes)
}

// nameOf returns the name of a volume in a sentence.
func nameOf(v *volume.Volume) string {
	if v.Path == "" {
		return "the whole disk"
	}
	return v.Path
}

// enumerate lists words, and only counts those after the first few.
func enumerate(words []string) string {
	const most = 8
	if len(words) > most {
		words = append(words[:most:most], fmt.Sprintf("and %d more", len(words)-most))
	}
	return strings.Join(words, ", ")
}
