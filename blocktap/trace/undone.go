package trace

import (
	"fmt"
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
