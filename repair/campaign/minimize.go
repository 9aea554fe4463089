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
// done, and gives the finding what is left: halves first, then smaller parts, and at last single
// bytes, until none can be left out. The bytes of a checksum stay if the program needs them. A vote
// is about the whole field, which other file systems have damaged, too.
func (w *worker) minimize(ctx context.Context, f *Finding, patches []interp.Patch,
	m *adapter.Mode) error {
	r := &reduction{bytes: split(patches), left: maxTries,
		best: &trial{runs: f.Runs, failures: []Failure{f.Failure}}}
	if f.slow() {
		r.left = maxSlowTries
	}
	if f.Kind == Incomplete {
		return f.setPatches(w.base, patches, r.best)
	}
	try := func(bytes []changedByte) (*trial, bool, error) {
		t, err := w.try(join(bytes), m)
		return t, err == nil && t.shows(f), err
	}
	for size := len(r.bytes) / 2; size > 0; {
		less, err := r.pass(ctx, size, try)
		if err != nil {
			return err
		}
		if size > 1 || !less {
			size /= 2 // after single bytes were left out, others may have become needless
		}
	}
	f.Minimized = r.left > 0 && r.best.shows(f)
	return f.setPatches(w.base, join(r.bytes), r.best)
}

// slow reports whether each run that shows the finding takes as long as its bounds let it. A flood
// of output is fast.
func (f *Finding) slow() bool { return f.Kind == Hang }

// A reduction is a set of damaged bytes that gets smaller.
type reduction struct {
	bytes []changedByte
	best  *trial // with these bytes
	left  int    // trials that may still be made
}

// pass tries once to leave out each part of size bytes. less reports that one was left out.
func (r *reduction) pass(ctx context.Context, size int,
	try func([]changedByte) (*trial, bool, error)) (less bool, err error) {
	for at := 0; at < len(r.bytes) && len(r.bytes) > size; {
		if r.left--; r.left <= 0 || over(ctx) {
			r.left = 0
			return false, nil
		}
		rest := slices.Concat(r.bytes[:at], r.bytes[min(at+size, len(r.bytes)):])
		t, shows, err := try(rest)
		switch {
		case err != nil:
			return false, err
		case shows:
			r.bytes, r.best, less = rest, t, true
		case t.cut: // nobody knows whether it would have shown
			r.left = 0
			return less, nil
		default:
			at += size
		}
	}
	return less, nil
}

// shows reports whether a trial has the failure of a finding.
func (t *trial) shows(f *Finding) bool {
	return slices.ContainsFunc(t.failures, f.same)
}

// same reports whether another failure looks like f.
func (f Failure) same(other Failure) bool {
	if f.Varies {
		return f.Kind == other.Kind && len(common(f.Messages, other.Messages)) == len(f.Messages)
	}
	return f.Kind == other.Kind && slices.Equal(f.Messages, other.Messages)
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
