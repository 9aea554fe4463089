package trace

import (
	"fmt"
	"slices"
	"strings"
)

// undoneMark begins the text of a mark about entries whose change was not performed. The numbers of
// the first entry and of the one after the last follow.
const undoneMark = "fsward undone "

// UndoneMark returns the text of a mark that the entries of a log from first up to end, without it,
// were not performed: a guard refused them.
func UndoneMark(first, end uint64) string { return fmt.Sprintf("%s%d %d", undoneMark, first, end) }

// Undone returns the entries that a mark says were not performed. ok is false for any other mark.
func (e *Entry) Undone() (first, end uint64, ok bool, err error) {
	text, ok := strings.CutPrefix(e.Mark, undoneMark)
	if !ok {
		return 0, 0, false, nil
	}
	if _, err := fmt.Sscanf(text, "%d %d", &first, &end); err != nil {
		return 0, 0, false, fmt.Errorf("entry %d: the mark %q is invalid", e.Index, e.Mark)
	}
	return first, end, true, nil
}

// Undone are the entries of a log that were not performed.
type Undone []undoneSpan // in order; none overlaps another

// An undoneSpan is entries from first up to end, without it.
type undoneSpan struct{ first, end uint64 }

// ReadUndone reads a log, and returns the entries that were not performed and the number of all. A
// mark that names entries after it, or before those of an earlier mark, is an error.
func ReadUndone(path string) (u Undone, entries uint64, err error) {
	err = Each(path, func(e *Entry) error {
		entries = e.Index + 1
		first, end, ok, err := e.Undone()
		if err != nil || !ok {
			return err
		}
		if first > end || end > e.Index || len(u) > 0 && first < u[len(u)-1].end {
			return fmt.Errorf("entry %d: the mark %q does not name entries between an earlier mark and it",
				e.Index, e.Mark)
		}
		u = append(u, undoneSpan{first, end})
		return nil
	})
	return u, entries, err
}

// Has reports whether an entry was not performed.
func (u Undone) Has(index uint64) bool {
	i, _ := slices.BinarySearchFunc(u, index, func(s undoneSpan, index uint64) int {
		if s.end <= index {
			return -1
		}
		return 1
	})
	return i < len(u) && u[i].first <= index
}
