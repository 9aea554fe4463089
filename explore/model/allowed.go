package model

import (
	"errors"
	"fmt"
	"slices"
)

// A Mismatch is the first difference between an observed tree and what the model requires.
type Mismatch struct {
	Kind string // one or two words: "lost", "appeared", "contents", "size", …
	Text string // the file, with what was expected and what was found
}

func (m *Mismatch) Error() string { return m.Kind + ": " + m.Text }

func mismatchf(kind, format string, args ...any) error {
	return &Mismatch{kind, fmt.Sprintf(format, args...)}
}

// Equal compares the tree of a mounted file system with f. It ignores times, sizes of directories
// and the values of inode numbers, but not which names share an inode. The error is a *Mismatch.
// The caller has to read everything that s.Wants(f) lists first.
func (f *FS) Equal(s *Observed) error {
	if text := s.Unreadable(); text != "" {
		return &Mismatch{"unreadable", text}
	}
	m := matcher{f: f, seen: s, exact: true, moment: f.now}
	return m.run()
}

// Agrees reports whether f has the tree of a mounted file system. It knows neither extended
// attributes nor contents but their checksums, so that nothing that Wants lists has to be read. If
// it reports false, Equal may still find no difference.
func (f *FS) Agrees(s *Observed) bool {
	m := matcher{f: f, seen: s, exact: true, shallow: true, moment: f.now}
	return s.Unreadable() == "" && m.run() == nil
}

// Allowed returns nil if a crash now, and the recovery after it, may leave the tree s. Otherwise it
// returns a *Mismatch that names the first thing that is lost, or that never existed. A name whose
// inode cannot be read counts as missing. The caller has to read everything that s.Wants(f) lists
// first.
func (f *FS) Allowed(s *Observed) error {
	err := f.allowed(s)
	var m *Mismatch
	if text := s.Unreadable(); text != "" && errors.As(err, &m) {
		return &Mismatch{m.Kind, m.Text + "; " + text}
	}
	return err
}

// allowed is Allowed without the note on unreadable files. In an ordered file system all metadata
// have to be of one moment.
func (f *FS) allowed(s *Observed) error {
	m := matcher{f: f, seen: s, moment: anyMoment}
	if err := m.run(); err != nil || !f.promises.Ordered {
		return err
	}
	moments := f.disk.moments(&f.tree)
	last := f.ofMoment(s, moments[0])
	if last == nil {
		return nil
	}
	slices.Reverse(moments)
	for _, moment := range slices.Backward(f.possible(s, moments)) {
		if f.ofMoment(s, moment) == nil {
			return nil
		}
	}
	return mismatchf("order", "each file by itself is allowed, but all files were never like this "+
		"at the same time; compared with the state after the last operation: %v", last)
}

// ofMoment returns nil if the observed tree may have all metadata of one moment.
func (f *FS) ofMoment(s *Observed, moment int) error {
	m := matcher{f: f, seen: s, moment: moment}
	return m.run()
}
