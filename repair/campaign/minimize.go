package campaign

import (
	"context"
	"slices"

	"fsward/interp"
	"fsward/repair/adapter"
)

// Bounds of the trials with which a damage is minimized. Those of a program that does not end are
// slow.
const (
	maxTries     = 60
	maxSlowTries = 3
)

// minimize leaves out bytes of a finding's damage as long as the same failure shows, until ctx is
// done, and gives the finding what is left. The bytes of a checksum stay if the program needs
// them.
func (w *worker) minimize(ctx context.Context, f *Finding, patches []interp.Patch,
	m *adapter.Mode) error {
	bytes, best := split(patches), &trial{runs: f.Runs, failures: []Failure{f.Failure}}
	tries, minimal, most := 0, true, maxTries
	if f.Kind == Hang || f.Kind == Flood {
		most = maxSlowTries
	}
	for size := len(bytes) / 2; size > 0; size /= 2 {
		for at := 0; at < len(bytes) && len(bytes) > 1; {
			if tries == most || ctx.Err() != nil {
				minimal = false
				break
			}
			less := slices.Concat(bytes[:at], bytes[min(at+size, len(bytes)):])
			if len(less) == 0 {
				break
			}
			t, err := w.try(join(less), m)
			if err != nil {
				return err
			}
			tries++
			if t.shows(f) {
				bytes, best = less, t
			} else {
				at += size
			}
		}
	}
	f.Minimized = minimal && best.shows(f)
	return f.setPatches(w.base, join(bytes), best)
}

// shows reports whether a trial has the failure of a finding.
func (t *trial) shows(f *Finding) bool {
	return slices.ContainsFunc(t.failures, func(have Failure) bool {
		return have.Kind == f.Kind && slices.Equal(have.Messages, f.Messages)
	})
}

// A changedByte is one byte of a damage.
type changedByte struct {
	off   uint64
	value byte
}

func split(patches []interp.Patch) (list []changedByte) {
	for _, p := range patches {
		for i, v := range p.Data {
			list = append(list, changedByte{p.Off + uint64(i), v})
		}
	}
	return list
}

func join(list []changedByte) (patches []interp.Patch) {
	for i, b := range list {
		if n := len(patches); i > 0 && list[i-1].off+1 == b.off {
			patches[n-1].Data = append(patches[n-1].Data, b.value)
		} else {
			patches = append(patches, interp.Patch{Off: b.off, Data: []byte{b.value}})
		}
	}
	return patches
}
