package checkers

import (
	"context"
	"os"
	"path"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/b3"
	"fsward/explore/exploretest"
	"fsward/explore/model"
)

// An xfstestsBug is a bug of a log of fsync for which xfstests has a test.
type xfstestsBug struct {
	test  string // the regression workload of package b3
	bug   string
	plant func(l *logTree, at syncPoint) logged
	// unaided: the defaults of fsward explore run find it in unseenRuns steps without the workloads of
	// known bugs, too.
	unaided bool
}

var xfstestsBugs = []xfstestsBug{
	{"generic-535", "fsync does nothing after chmod alone", logNoMode, true},
	{"generic-342", "fsync of a new file loses the one renamed from its name", logNoOldName, true},
	{"generic-177", "a second hole is not logged", logOneHole, false},
	{"generic-690", "a renamed symbolic link has no target", logEmptyLink, false},
	{"generic-101", "a file that grows again has its old bytes", logNoShrink, true},
	{"generic-534", "a renamed file has its old size", logNoShrinkBeforeRename, false},
	{"generic-489", "fsync after a write loses the attributes", logNoAttributes, false},
	{"generic-057", "a link loses what fsync of the file wrote", logNoAppend, true},
	{"generic-321", "a moved file has both names", logBothNames, false},
	{"link-unlink-create", "the name of a removed link breaks the log", logBrokenByName, false},
	{"generic-107", "a removed link leaves its directory in use", logStuck, false},
	{"generic-498", "a link to an fsynced file loses its new directory", logNoDirectory, true},
	{"generic-785", "a renamed file loses a new directory beside it", logNoNeighbor, false},
	{"generic-771", "fsync of a removed file breaks the log", logBrokenByOrphan, true},
	{"generic-764", "fsync of a removed file brings it back", logOrphan, true},
	{"generic-640", "a file moved out of a directory that left memory is lost", logNoMove, false},
	{"generic-336", "a removed link loses another file that was moved", logNoOtherMove, false},
}

const punchHole = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE

// right logs what is pending.
func right(at syncPoint) logged { return logged{at.pending, false} }

// instead logs another operation in place of one.
func (at syncPoint) instead(of, o model.Op) logged {
	ops := slices.Clone(at.pending)
	i := slices.Index(ops, of)
	if i >= 0 {
		ops[i] = o
	}
	return logged{ops, i >= 0}
}

func logNoMode(l *logTree, at syncPoint) logged {
	isChmod := func(o model.Op) bool { return o.Code == model.Chmod && o.Path == at.path }
	if log := at.without(isChmod); len(log.ops) == 0 && !l.isFresh(at.inode) {
		return log
	}
	return right(at)
}

func logNoOldName(l *logTree, at syncPoint) logged {
	old, is := l.has(func(c change) bool {
		return c.Code == model.Rename && c.Path == at.path && c.inode != at.inode && !c.fresh
	})
	if !is || !l.isFresh(at.inode) {
		return right(at)
	}
	return at.instead(old.Op, model.Op{Code: model.Unlink, Path: old.Path})
}

func logOneHole(l *logTree, at syncPoint) logged {
	holes, last := 0, change{}
	for _, c := range l.since {
		if c.Code == model.Fallocate && c.Flags == punchHole && c.inode == at.inode && !c.fresh {
			holes, last = holes+1, c
		}
	}
	if holes < 2 {
		return right(at)
	}
	return at.without(func(o model.Op) bool { return o == last.Op })
}

func logEmptyLink(l *logTree, at syncPoint) logged {
	made, is := l.has(func(c change) bool { return c.Code == model.Symlink })
	_, renamed := l.has(func(c change) bool {
		return c.Code == model.Rename && c.inode == made.inode && path.Dir(c.To) == at.path
	})
	if !is || !renamed || !l.synced(at.inode) {
		return right(at)
	}
	empty := made.Op
	empty.To = "?"
	return at.instead(made.Op, empty)
}

// synced reports whether there was an fsync of an inode since the last commit.
func (l *logTree) synced(inode uint64) bool {
	_, is := l.has(func(c change) bool { return c.Code == model.Fsync && c.inode == inode })
	return is
}

// shrunk returns the change that made a file smaller.
func (l *logTree) shrunk(inode uint64) (change, bool) {
	return l.has(func(c change) bool {
		return (c.Code == model.Ftruncate || c.Code == model.Truncate) && c.inode == inode &&
			c.Len < c.size
	})
}

func logNoShrink(l *logTree, at syncPoint) logged {
	cut, is := l.shrunk(at.inode)
	_, grown := l.has(func(c change) bool {
		return (c.Code == model.Ftruncate || c.Code == model.Truncate) && c.inode == at.inode &&
			c.Len > cut.Len
	})
	if !is || !grown || cut.fresh {
		return right(at)
	}
	return at.without(func(o model.Op) bool { return o == cut.Op })
}

func logNoShrinkBeforeRename(l *logTree, at syncPoint) logged {
	cut, is := l.shrunk(at.inode)
	_, renamed := l.has(func(c change) bool {
		return c.Code == model.Rename && c.inode == at.inode
	})
	if !is || !renamed || !l.synced(at.inode) {
		return right(at)
	}
	return at.without(func(o model.Op) bool { return o == cut.Op })
}

func logNoAttributes(l *logTree, at syncPoint) logged {
	_, wrote := l.has(func(c change) bool { return c.Code == model.Write && c.inode == at.inode })
	_, set := l.has(func(c change) bool { return c.Code == model.Setxattr && c.inode == at.inode })
	log := right(at)
	if !wrote || set || l.isFresh(at.inode) {
		return log
	}
	for name := range l.fs.Observed().Xattrs(at.path) {
		log = syncPoint{pending: log.ops}.with(
			model.Op{Code: model.Removexattr, Path: at.path, Name: name})
	}
	return log
}

func logNoAppend(l *logTree, at syncPoint) logged {
	link, is := l.has(func(c change) bool { return c.Code == model.Link && c.inode != at.inode })
	wrote, grew := l.has(func(c change) bool {
		return c.Code == model.Write && c.inode == link.inode && c.Off+c.Len > c.size
	})
	if !is || !grew || !l.synced(link.inode) {
		return right(at)
	}
	return at.with(model.Op{Code: model.Ftruncate, Path: link.Path, Len: wrote.size})
}

func logBothNames(l *logTree, at syncPoint) logged {
	moved, is := l.has(func(c change) bool {
		return moves(c.Op) && path.Dir(c.To) == at.path && !c.fresh
	})
	if !is {
		return right(at)
	}
	return at.instead(moved.Op, model.Op{Code: model.Link, Path: moved.Path, To: moved.To})
}

func logBrokenByName(l *logTree, at syncPoint) logged {
	_, is := l.has(func(c change) bool {
		return c.Code == model.Unlink && c.Path == at.path && c.links > 1 && !c.fresh
	})
	if !is || !l.isFresh(at.inode) {
		return right(at)
	}
	return at.with(model.Op{Code: brokenMark})
}

func logStuck(l *logTree, at syncPoint) logged {
	gone, is := l.has(func(c change) bool {
		return c.Code == model.Unlink && c.inode == at.inode && c.links > 1 && !c.fresh
	})
	if !is {
		return right(at)
	}
	return at.with(model.Op{Code: stuckMark, Path: path.Dir(gone.Path)})
}

func logNoDirectory(l *logTree, at syncPoint) logged {
	link, is := l.has(func(c change) bool { return c.Code == model.Link && at.above(c.To) })
	if !is || !l.synced(link.inode) || !l.isFresh(at.inode) {
		return right(at)
	}
	var names []string
	l.fs.Walk(func(p string, _ model.Kind, _ bool) { names = append(names, p) })
	slices.Sort(names)
	log := right(at)
	for _, p := range slices.Backward(names) {
		remove := model.Op{Code: model.Unlink, Path: p}
		if kind, _ := l.fs.Observed().Kind(p); kind == model.Dir {
			remove.Code = model.Rmdir
		}
		if p == at.path || at.above(p) {
			log = syncPoint{pending: log.ops}.with(remove)
		}
	}
	return log
}

func logNoNeighbor(l *logTree, at syncPoint) logged {
	renamed, is := l.has(func(c change) bool {
		return c.Code == model.Rename && path.Dir(c.Path) == at.path && path.Dir(c.To) == at.path &&
			!c.fresh
	})
	if !is || !l.synced(renamed.inode) {
		return right(at)
	}
	return at.without(func(o model.Op) bool { return o.Code == model.Mkdir && at.above(o.Path) })
}

// orphans returns the inodes that were fsynced after they had lost their last name.
func (l *logTree) orphans() (inodes []uint64) {
	gone := make(map[uint64]bool)
	for _, c := range l.since {
		switch {
		case c.Code == model.Unlink && c.links == 1:
			gone[c.inode] = true
		case c.Code == model.Fsync && gone[c.inode]:
			inodes = append(inodes, c.inode)
		}
	}
	return inodes
}

func logBrokenByOrphan(l *logTree, at syncPoint) logged {
	if len(l.orphans()) == 0 || at.isDir || at.path == "" {
		return right(at)
	}
	return at.with(model.Op{Code: brokenMark})
}

func logOrphan(l *logTree, at syncPoint) logged {
	gone, _ := l.has(func(c change) bool { return c.Code == model.Unlink && c.inode == at.inode })
	if at.path != "" {
		return right(at)
	}
	return at.without(func(o model.Op) bool { return o == gone.Op })
}

func logNoMove(l *logTree, at syncPoint) logged {
	moved, is := l.has(func(c change) bool { return moves(c.Op) && !c.fresh })
	from := path.Dir(moved.Path)
	if !is || !l.dropped || at.isDir || !l.synced(l.inode(from)) || path.Dir(at.path) == from {
		return right(at)
	}
	return at.instead(moved.Op, model.Op{Code: model.Unlink, Path: moved.Path})
}

func logNoOtherMove(l *logTree, at syncPoint) logged {
	_, is := l.has(func(c change) bool {
		return c.Code == model.Unlink && c.inode == at.inode && c.links > 1 && !c.fresh
	})
	moved, other := l.has(func(c change) bool {
		return moves(c.Op) && c.inode != at.inode && !c.fresh
	})
	if !is || !other {
		return right(at)
	}
	return at.instead(moved.Op, model.Op{Code: model.Unlink, Path: moved.Path})
}

// explores looks for the bug with the defaults of fsward explore run.
func (b xfstestsBug) explores(t *testing.T, most uint64,
	later []Group) (e *explore.Error, runs uint64) {
	t.Helper()
	s := exploretest.New()
	l := newLogTree(s, b.plant)
	c, err := New("sync", l, fakePromises, Limits{Later: later})
	if err != nil {
		t.Fatal(err)
	}
	sum := b.run(t, explore.Config{System: s, Stack: explore.Stack{Top: l, Checker: c},
		Strategy: explore.Cover, Inspect: true, Runs: most})
	if len(sum.Errors) > 0 {
		e = &sum.Errors[0]
	}
	return e, sum.Runs
}

// run runs the explorer until its first error.
func (xfstestsBug) run(t *testing.T, cfg explore.Config) explore.Summary {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "fsward-xfstests-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cfg.Dir = dir
	cfg.OnEvent = func(e explore.Event) {
		if e.Event == "error" {
			cancel()
		}
	}
	sum, err := explore.Run(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// btrfsPromises are the promises of Btrfs (explore/component/fs/btrfs.yaml).
var btrfsPromises = model.Promises{FsyncNames: true, FsyncEntries: true, AtomicRename: true,
	Data: model.Zeros, Features: fakePromises.Features}

// regresses runs a regression workload, with the promises of a file system.
func (b xfstestsBug) regresses(t *testing.T, p model.Promises) explore.Summary {
	t.Helper()
	list, err := b3.Regressions()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(r b3.Regression) bool { return r.Name == b.test })
	if i < 0 {
		t.Fatalf("there is no workload %s", b.test)
	}
	s := exploretest.New()
	l := newLogTree(s, b.plant)
	return b.run(t, explore.Config{System: s, Strategy: explore.BreadthFirst, Depth: 1,
		Restore: explore.ByReplay, Stack: explore.Stack{Top: l, Checker: &Workloads{
			Core: Core{At: fakeAt, Promises: p}, On: l, Count: 1, NoUnmount: true,
			Workload: func(uint32) (b3.Workload, error) { return list[i].Workload, nil },
		}}})
}

// TestXfstestsRegressions checks that each regression workload finds its bug, and nothing in a log
// without bugs. Btrfs does not promise that fsync of a file keeps the removal of its name.
func TestXfstestsRegressions(t *testing.T) {
	for _, b := range xfstestsBugs {
		t.Run(b.test, func(t *testing.T) {
			if sum := b.regresses(t, fakePromises); len(sum.Errors) == 0 {
				t.Errorf("%s: not found: %+v", b.bug, sum)
			}
			sum := b.regresses(t, btrfsPromises)
			if found := len(sum.Errors) > 0; found != (b.test != "generic-764") {
				t.Errorf("%s: with the promises of Btrfs: found %t: %+v", b.bug, found, sum)
			}
			b.plant = func(_ *logTree, at syncPoint) logged { return right(at) }
			if sum := b.regresses(t, btrfsPromises); len(sum.Errors) > 0 {
				t.Errorf("found without a bug: %+v", sum.Errors[0])
			}
		})
	}
}

// TestXfstestsBugs looks for each bug with the defaults of fsward explore run. With
// $FSWARD_XFSTESTS, the number of steps, it searches without the workloads of known bugs instead.
// It logs a table of docs/results/unseen.md.
func TestXfstestsBugs(t *testing.T) {
	most, later := uint64(unseenRuns), LaterGroups()
	longer, _ := strconv.ParseUint(os.Getenv("FSWARD_XFSTESTS"), 10, 64)
	if longer > 0 {
		most = max(most, longer)
		later = slices.DeleteFunc(later, func(g Group) bool { return g == knownBugs })
	}
	for _, b := range xfstestsBugs {
		t.Run(b.test, func(t *testing.T) {
			t.Parallel()
			e, runs := b.explores(t, most, later)
			want := b.unaided || longer == 0
			if found := e != nil && runs <= unseenRuns; found != want {
				t.Errorf("found %t in %d steps: %+v", found, runs, e)
			}
			kind, steps := "–", "–"
			if e != nil {
				kind, steps = e.Kind, strconv.FormatUint(runs, 10)
			}
			t.Logf("| %s | %s | %s | %s |", b.test, b.bug, kind, steps)
		})
	}
}
