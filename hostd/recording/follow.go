package recording

import "fmt"

// Absorbed says which segments of a recording a base has.
type Absorbed struct {
	Recording string // the name of the recording
	// First is the number of the first segment of which the base has nothing. Folding: the base has
	// only a part of the one before.
	First   int
	Folding bool
}

// AbsorbedBy returns which segments a base has. The base must be one of a recording.
func AbsorbedBy(base string) (Absorbed, error) {
	s, err := readState(base)
	switch {
	case err != nil:
		return Absorbed{}, err
	case s == nil:
		return Absorbed{}, fmt.Errorf("%s is not the base of a recording: there is no %s", base,
			statePath(base))
	case s.Folding:
		return Absorbed{s.Recording, s.Segment + 1, true}, nil
	}
	return Absorbed{s.Recording, s.Segment, false}, nil
}

// Segment returns the path of a segment of a log, by the path of its first segment.
func Segment(log string, number int) string { return path(log, number) }
