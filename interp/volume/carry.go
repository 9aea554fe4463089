package volume

import "cmp"

// Carry returns, for each volume of m, the volume of old that it continues, −1 if it is new: a
// partition that begins at the same byte, whatever its number, and a logical volume with the same
// id, whatever its name. kept is the number of bytes from the start of both that have the same
// place; it is the smaller size if neither was moved. A volume that cannot be read counts as not
// moved: where its bytes are is not known.
func (m *Map) Carry(old *Map) (from []int, kept []uint64) {
	byKey := make(map[volumeKey]int, len(old.Volumes))
	for i := range old.Volumes {
		key := old.Volumes[i].key()
		if _, twice := byKey[key]; !twice {
			byKey[key] = i
		}
	}
	from, kept = make([]int, len(m.Volumes)), make([]uint64, len(m.Volumes))
	for i := range m.Volumes {
		v := &m.Volumes[i]
		at, ok := byKey[v.key()]
		if !ok {
			from[i], kept[i] = -1, v.Size
			continue
		}
		delete(byKey, v.key())
		from[i], kept[i] = at, common(&old.Volumes[at], v)
	}
	return from, kept
}

// volumeKey identifies a volume in two maps.
type volumeKey struct {
	start uint64 // address of a partition or a disk
	lv    string // id of a logical volume
	group string
}

func (v *Volume) key() volumeKey {
	if v.Kind == LV {
		return volumeKey{lv: v.id}
	}
	if len(v.Segments) == 0 {
		return volumeKey{lv: v.Path, group: "nowhere"}
	}
	return volumeKey{start: v.Segments[0].Stripes[0]}
}

// common returns how many bytes from the start of two volumes have the same addresses.
func common(v, w *Volume) uint64 {
	if v.Unguarded != "" || w.Unguarded != "" {
		return min(v.Size, w.Size)
	}
	return v.along(w)
}

// Begins reports whether two volumes have the same addresses, up to the smaller of their sizes.
func (v *Volume) Begins(w *Volume) bool { return v.along(w) == min(v.Size, w.Size) }

// along returns how many bytes from the start of two volumes have the same addresses, whether or
// not they can be read. The work grows with the segments and stripes, not with the bytes: a guest
// can write a table of a huge volume with tiny chunks.
func (v *Volume) along(w *Volume) uint64 {
	end := min(v.Size, w.Size)
	i, j := 0, 0
	for off := uint64(0); off < end; {
		for i < len(v.Segments) && v.Segments[i].Start+v.Segments[i].Len <= off {
			i++
		}
		for j < len(w.Segments) && w.Segments[j].Start+w.Segments[j].Len <= off {
			j++
		}
		if i == len(v.Segments) || j == len(w.Segments) {
			return off
		}
		s, t := &v.Segments[i], &w.Segments[j]
		if s.Start > off || t.Start > off || !s.same(t, off) {
			return off
		}
		off = min(s.Start+s.Len, t.Start+t.Len)
	}
	return end
}

// same reports whether two segments have the byte at off, and those that follow, at the same
// addresses.
func (s *Segment) same(t *Segment, off uint64) bool {
	if cmp.Or(len(s.Stripes)-len(t.Stripes), cmp.Compare(s.Chunk, t.Chunk)) != 0 {
		return false
	}
	n := uint64(len(s.Stripes))
	row := max(s.Chunk, 1) * n
	if (off-s.Start)%row != 0 || (off-t.Start)%row != 0 {
		return false
	}
	for i := range s.Stripes {
		if s.Stripes[i]+(off-s.Start)/n != t.Stripes[i]+(off-t.Start)/n {
			return false
		}
	}
	return true
}
