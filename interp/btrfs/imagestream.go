package btrfs

import "fsward/change"

// An imageStream makes the records of a whole file system in which some snapshots were compared
// with their sources: those of the differences as a commitStream does, those of the other trees as
// a stream does.
type imageStream struct {
	*commitStream
	image *stream
}

var _ change.TreeFinder = (*imageStream)(nil)

// New reports whether a tree was compared with no other.
func (s *imageStream) New(tree uint64) bool { return s.trees[tree] == nil }

// Each visits the records part by part, in the order of stream.Each.
func (s *imageStream) Each(visit func(*change.Txn) error) error {
	s.names.Reset()
	compare := func(out *recorder, tree uint64) (bool, error) {
		l := s.trees[tree]
		if l == nil {
			return false, nil
		}
		return true, s.record(out, l, keyInterval{})
	}
	return s.image.walk(s.recorder(nil), compare).each(visit)
}
