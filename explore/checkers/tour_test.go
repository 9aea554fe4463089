package checkers

import (
	"slices"
	"testing"
)

// TestToursAreMinimized checks that the error of a tour has only the part that shows it, or two.
func TestToursAreMinimized(t *testing.T) {
	tried := 0
	for _, b := range unseenBugs {
		switch b.bug {
		case "removexattr not journaled", "chown not journaled", "collapsed range not journaled",
			"fsync of a file after a hole was punched does nothing":
		default:
			continue
		}
		tried++
		e, steps := b.find(t, []Group{"attributes", "ranges", tours})
		if e == nil {
			t.Errorf("%s: not found in %d steps", b.bug, steps)
			continue
		}
		kept, parts := 0, 0
		for _, c := range slices.Concat(e.Steps...) {
			if c.Part {
				if parts++; c.Value == 0 {
					kept++
				}
			}
		}
		t.Logf("%s: %d of %d parts, %d steps: %s", b.bug, kept, parts, len(e.Steps), e.Summary)
		if kept < 1 || kept > 2 || parts < 4 {
			t.Errorf("%s: the error has %d of %d parts", b.bug, kept, parts)
		}
	}
	if tried != 4 {
		t.Errorf("%d bugs were tried, want 4", tried)
	}
}
