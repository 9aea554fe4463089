package damage

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"fsward/interp"
	"fsward/repair/fieldmap"
)

// MaxInput bounds what counts of an input, in bytes.
const MaxInput = 64

// Inputs are damages of several fields, as a fuzzer has them: rows of the number of a field, two
// bytes, and its new bytes. Numbers beyond the last field begin with the first again, and fields
// that are cut off are set in part.
type Inputs struct {
	base   interp.Disk
	places []Place
	seals  fieldmap.Seals
	inputs [][]byte
}

// NewInputs returns the damages of an image that inputs describe, with fields at places. Seals are
// made right.
func NewInputs(base interp.Disk, places []Place, seals fieldmap.Seals, inputs [][]byte) (*Inputs,
	error) {
	if len(places) == 0 || len(inputs) == 0 {
		return nil, fmt.Errorf("%d inputs for %d fields", len(inputs), len(places))
	}
	return &Inputs{base, places, seals, inputs}, nil
}

// Count returns the number of inputs.
func (in *Inputs) Count() uint64 { return uint64(len(in.inputs)) }

// First returns the number of inputs.
func (in *Inputs) First() uint64 { return in.Count() }

// Fields returns the number of fields, and of groups of them.
func (in *Inputs) Fields() (fields, groups int) {
	seen := map[string]bool{}
	for _, p := range in.places {
		seen[p.group()] = true
	}
	return len(in.places), len(seen)
}

func (p *Place) group() string {
	name, _, _ := strings.Cut(p.Name, "@")
	return name
}

// At returns the damage that is an input.
func (in *Inputs) At(n uint64) (*Damage, error) {
	if n >= in.Count() {
		return nil, fmt.Errorf("input %d of %d", n, in.Count())
	}
	var all []interp.Patch
	var changes []fieldmap.Change
	for input := in.inputs[n][:min(len(in.inputs[n]), MaxInput)]; len(input) > 2; {
		p := in.places[int(binary.LittleEndian.Uint16(input))%len(in.places)]
		end := min(2+p.Width, len(input))
		all = append(all, interp.Patch{Off: p.Off, Data: input[2:end]})
		changes = append(changes, fieldmap.Change{Off: p.Off, Data: input[2:end]})
		input = input[end:]
	}
	sums, err := in.seals.Mend(in.base, changes)
	if err != nil {
		return nil, err
	}
	for _, s := range sums {
		all = append(all, interp.Patch{Off: s.Off, Data: s.Data})
	}
	patches, err := Differences(in.base, merged(all))
	if err != nil {
		return nil, err
	}
	if len(patches) == 0 {
		return nil, ErrNone
	}
	d := &Damage{Patches: patches, Spec: fmt.Sprintf("input:%d", n)}
	d.Group, d.What, err = in.Describe(patches)
	return d, err
}

// maxGroups bounds the groups of fields that a damage of many fields is named after.
const maxGroups = 3

// Describe returns the group and the text of a damage: the fields that patches change. Checksums
// are named only if nothing else changes.
func (in *Inputs) Describe(patches []interp.Patch) (group, what string, err error) {
	var sums, others []Place
	for _, p := range in.places {
		if slices.ContainsFunc(in.seals, func(s fieldmap.Seal) bool { return s.Off == p.Off }) {
			sums = append(sums, p)
		} else {
			others = append(others, p)
		}
	}
	if group, what, err = in.describe(others, patches); group != "" || err != nil {
		return group, what, err
	}
	return in.describe(sums, patches)
}

func (in *Inputs) describe(places []Place, patches []interp.Patch) (group, what string, err error) {
	var groups, changes []string
	now := &Patched{Disk: in.base, Patches: patches}
	for _, p := range places {
		old, value := make([]byte, p.Width), make([]byte, p.Width)
		if _, err := in.base.ReadAt(old, int64(p.Off)); err != nil {
			return "", "", err
		}
		if _, err := now.ReadAt(value, int64(p.Off)); err != nil {
			return "", "", err
		}
		if slices.Equal(old, value) {
			continue
		}
		if !slices.Contains(groups, p.group()) {
			groups = append(groups, p.group())
		}
		changes = append(changes, fmt.Sprintf("%s: %#x → %#x", p.Name, little(old), little(value)))
	}
	slices.Sort(groups)
	if len(groups) > maxGroups {
		groups = append(groups[:maxGroups], "…")
	}
	return strings.Join(groups, "+"), strings.Join(changes, ", "), nil
}
