package checkers

import (
	"path"
	"strings"

	"fsward/explore/model"
)

// manyBugs show only when something was done many times, or when there is much of something.
var manyBugs = []unseenBug{
	{bug: "fsync does nothing after a hundred others", checker: "sync", needs: many},
	{bug: "the thirtieth commit does nothing", checker: "sync", needs: many},
	{bug: "recovery reads 250 records", checker: "sync", needs: many},
	{bug: "a name in a directory of 200 not journaled", checker: "sync", needs: many},
	{bug: "nothing is removed of a large directory", checker: "sync", needs: many},
	{bug: "a link count has seven bits", checker: "sync", needs: many},
	{bug: "a refused link leaves its name", checker: "sync", needs: many},
	{bug: "a write after fifty extents not journaled", checker: "sync", needs: many},
	{bug: "a deep directory not journaled", checker: "sync", needs: many},
	{bug: "the thirtieth attribute not journaled", checker: "sync", needs: many},
}

// A manyState counts what was done since the mount.
type manyState struct {
	fsyncs, commits int
	offsets         map[uint64]bool // of writes
}

// note notes an operation.
func (m *manyState) note(o model.Op) {
	switch o.Code {
	case model.Fsync:
		m.fsyncs++
	case model.Syncfs:
		m.commits++
	case model.Write:
		if m.offsets == nil {
			m.offsets = make(map[uint64]bool)
		}
		m.offsets[o.Off] = true
	}
}

// manyUnlogged reports whether the journal lacks an operation, which was performed.
func (f *fake) manyUnlogged(o model.Op) bool {
	switch f.bug {
	case "a name in a directory of 200 not journaled":
		return o.Code == model.Open && f.names(path.Dir(o.Path)) > 200
	case "a write after fifty extents not journaled":
		return o.Code == model.Write && len(f.unseen.many.offsets) > 50
	case "a deep directory not journaled":
		return o.Code == model.Mkdir && strings.Count(o.Path, "/") > 30
	case "the thirtieth attribute not journaled":
		return o.Code == model.Setxattr && len(f.observed().Xattrs(o.Path)) >= 30
	}
	return false
}

// names returns the number of names in a directory.
func (f *fake) names(dir string) (n int) {
	for _, p := range f.observed().Paths() {
		if path.Dir(p) == dir {
			n++
		}
	}
	return n
}
