package damage

import (
	"errors"
	"fmt"
	"slices"

	"fsward/interp"
)

// Names of models: Single damages one field at a time, Pairs two. Test damages what repairs of the
// images of a suite change (NewRepaired).
const (
	Single = "a"
	Test   = "b"
	Pairs  = "pairs"
)

// Models lists the names of models.
func Models() []string { return []string{Single, Test, Pairs} }

// UsePairs makes the damages those of two fields at once.
func (m *Model) UsePairs() { m.pairs = true }

// pair returns a damage of two fields: one of the first damages, and another in the image that it
// leaves, so that checksums are right. Consecutive numbers pair different fields.
func (m *Model) pair(n uint64) (*Damage, error) {
	if n >= m.Count() {
		return nil, fmt.Errorf("damage %d of %d", n, m.Count())
	}
	count := uint64(len(m.first))
	// The distance grows by a number that shares no factor with most counts, so that a part of the
	// pairs is spread over all of them.
	i := n % count
	j := (i + 1 + n/count*7919%(count-1)) % count
	a, b := m.first[i], m.first[j]
	if a.field == b.field {
		return nil, ErrNone
	}
	one, err := a.field.Damage(m.base, a.value)
	if err != nil {
		return nil, err
	}
	between := &Patched{Disk: m.base, Patches: one.Patches}
	two, err := b.field.Damage(between, b.value)
	if err != nil {
		// The first damage may make the second impossible: its place cannot be read any more.
		return nil, errors.Join(ErrNone, err)
	}
	d := &Damage{Group: one.Group + "+" + two.Group, Spec: one.Spec + " " + two.Spec,
		What: one.What + ", and " + two.What}
	all := slices.Concat(one.Patches, two.Patches) // the later counts
	if d.Patches, err = Differences(m.base, merged(all)); err != nil {
		return nil, err
	}
	return d, nil
}

// merged returns patches of one byte each, the last for each address.
func merged(patches []interp.Patch) (out []interp.Patch) {
	last := map[uint64]byte{}
	for _, p := range patches {
		for i, v := range p.Data {
			last[p.Off+uint64(i)] = v
		}
	}
	for off, v := range last {
		out = append(out, interp.Patch{Off: off, Data: []byte{v}})
	}
	slices.SortFunc(out, func(a, b interp.Patch) int { return int(int64(a.Off) - int64(b.Off)) })
	return out
}

// Patched is a disk with patches.
type Patched struct {
	interp.Disk
	Patches []interp.Patch
}

// ReadAt reads from the disk with its patches.
func (d *Patched) ReadAt(p []byte, off int64) (int, error) {
	n, err := d.Disk.ReadAt(p, off)
	for _, patch := range d.Patches {
		for i, v := range patch.Data {
			if at := int64(patch.Off) + int64(i) - off; at >= 0 && at < int64(n) {
				p[at] = v
			}
		}
	}
	return n, err
}
