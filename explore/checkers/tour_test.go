package checkers

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore/model"
)

// TestAppendsWithoutAnEarlierPart checks that an append of a tour begins at the end of its file if
// a part before it, which changed the size, is left out: Linux ignores the offset of the plan.
func TestAppendsWithoutAnEarlierPart(t *testing.T) {
	for _, size := range []uint64{large, 2 * model.Block} {
		c := (&Core{Promises: model.Promises{Features: []model.Feature{model.Direct}},
			Limits: Limits{Files: 1, Dirs: 1}}).fresh()
		plan := &Core{Promises: c.Promises, Limits: c.Limits, fs: c.fs.Clone()}
		plan.assume(opened("/na", unix.O_RDWR, model.Op{Code: model.Ftruncate, Len: 5 * model.Block}))
		c.assume(opened("/na", unix.O_RDWR, model.Op{Code: model.Ftruncate, Len: size}))
		planned := plan.topology()
		direct := false
		for _, ops := range planned.appends() {
			for _, o := range atEnd(c.fs, ops) {
				if writes := o.Code == model.Write || o.Code == model.Dwrite; writes && o.Off != size {
					t.Errorf("%d bytes: %v writes at %d", size, ops[0], o.Off)
				}
				direct = direct || o.Code == model.Dwrite
			}
		}
		if wanted := size%model.Block == 0; direct != wanted {
			t.Errorf("%d bytes: a direct append: %v", size, direct)
		}
	}
}

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
