package checkers

import (
	"errors"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/exploretest"
	"fsward/explore/model"
	"fsward/explore/ramdisk"
)

// A logTree is a fake with two ways to make changes persistent, as Btrfs, F2FS and ext4's fast
// commits have: fsync writes only a log of what changed since the last commit, and sync commits
// everything. The bugs of such file systems are in the log: a commit mends what it lacks.
type logTree struct {
	*fake
	plant func(l *logTree, at syncPoint) logged

	all     []model.Op // all changes, as the journal has them
	since   []change   // those since the last commit
	wrong   bool       // the log lacks something since the last commit
	dropped bool       // the caches were dropped since the last commit
}

// A change is an operation since the last commit. An fsync is one, too.
type change struct {
	model.Op
	inode uint64 // that the operation was about
	links uint64 // of it, before
	size  uint64 // of it before, bytes
	fresh bool   // the inode was made since the last commit
}

// A syncPoint is an fsync or msync: its target, and the changes that no log has yet.
type syncPoint struct {
	code    model.Code
	path    string // "": the file has no name
	inode   uint64
	isDir   bool
	pending []model.Op
}

// A logged is what a planted bug makes of an fsync.
type logged struct {
	ops   []model.Op // that are logged
	wrong bool       // they are not those that are pending
}

// The marks that stand in a log for errors of its replay. Apply does nothing for them.
const (
	commitMark  = model.Sync    // what came before is not performed
	brokenMark  = model.Syncfs  // the log cannot be replayed
	stuckMark   = model.Readdir // the directory Path cannot be removed
	errNoReplay = "the log cannot be replayed"
)

// newLogTree returns a logTree with a planted bug.
func newLogTree(s *exploretest.System, plant func(*logTree, syncPoint) logged) *logTree {
	l := &logTree{fake: newFake(s, "", model.Promises{}), plant: plant}
	s.Perform = l.perform
	s.Programs["fake"] = func(s *exploretest.System, c agent.Command) (agent.Exit, error) {
		var err error
		if c.Args[1] == "unmount" {
			err = l.mend(s)
		}
		if err == nil {
			err = l.command(s, c.Args[1])
		}
		if err == nil && c.Args[1] == "mount" {
			err = l.replay(s)
		}
		if err != nil {
			return agent.Exit{Code: 1, Stdout: []byte(err.Error())}, nil //nolint:nilerr // of the program
		}
		return agent.Exit{}, nil
	}
	return l
}

// replay makes the tree from the last commit and the log after it.
func (l *logTree) replay(s *exploretest.System) error {
	l.all, l.since, l.wrong, l.dropped = nil, nil, false, false
	for sector, seq := uint64(1), uint64(1); ; seq++ {
		ops, sectors, ok := l.read(s, sector, seq)
		if !ok {
			break
		}
		if ops[0].Code == commitMark {
			l.all = nil
		}
		l.all, sector = append(l.all, ops...), sector+sectors
	}
	l.fs = model.New(fakePromises)
	for _, o := range l.all {
		if o.Code == brokenMark {
			return errors.New(errNoReplay)
		}
		l.fs.Apply(o)
	}
	l.fs.CloseAll()
	return nil
}

// perform performs a system call, and keeps what it changed.
func (l *logTree) perform(s *exploretest.System, call agent.Op) agent.Result {
	o, known := model.FromCall(fakeAt, call)
	if !known || l.fs == nil {
		return l.fake.perform(s, call)
	}
	switch o.Code {
	case model.Sync, model.Syncfs:
		return l.commitAll(s, call)
	case model.Fsync, model.Fdatasync, model.Msync:
		return l.fsync(s, call, o)
	case model.DropCaches:
		l.dropped = true
	case model.Rmdir:
		stuck := func(m model.Op) bool { return m.Code == stuckMark && m.Path == o.Path }
		if slices.ContainsFunc(l.all, stuck) {
			return agent.Result{Errno: unix.ENOTEMPTY}
		}
	}
	before, was := l.of(o), len(l.pending)
	r := l.fake.perform(s, call)
	if r.Errno != 0 {
		return r
	}
	if o.Code == model.Open && o.Flags&unix.O_TRUNC != 0 && before.inode != 0 {
		l.log(model.Op{Code: model.Ftruncate, Path: o.Path}) // the fake logs no O_TRUNC
	}
	done := slices.Clone(l.pending[min(was, len(l.pending)):])
	if o.Code == model.Write && len(done) == 0 { // O_SYNC has written it
		o.Path, o.Slot = l.path(o.Slot), 0
		done = []model.Op{o}
	}
	for _, o := range done {
		before.Op = o
		if o.Code == model.Open || o.Code == model.Mkdir || o.Code == model.Symlink {
			before.inode, before.fresh = l.inode(o.Path), true
		}
		l.since = append(l.since, before)
		for _, g := range l.logged(o) {
			l.all = append(l.all, withoutPadding(g)...)
		}
	}
	return r
}

// withoutPadding returns operations of a record without the data that writes need in it.
func withoutPadding(ops []model.Op) []model.Op {
	ops = slices.Clone(ops)
	for i := range ops {
		if ops[i].Code == model.Write {
			ops[i].Value = ""
		}
	}
	return ops
}

// of returns what an operation is about, before it.
func (l *logTree) of(o model.Op) (c change) {
	p := o.Path
	if c.inode = l.inode(p); p == "" {
		c.inode = l.inodes[o.Slot]
	}
	for _, e := range l.fs.Observed().Entries() {
		if e.Inode == c.inode {
			c.links, c.size = e.Links, e.Size
		}
	}
	c.fresh = l.isFresh(c.inode)
	return c
}

// isFresh reports whether an inode was made since the last commit.
func (l *logTree) isFresh(inode uint64) bool {
	return slices.ContainsFunc(l.since, func(c change) bool { return c.fresh && c.inode == inode })
}

// fsync writes the log, with the planted bug.
func (l *logTree) fsync(s *exploretest.System, call agent.Op, o model.Op) agent.Result {
	at := syncPoint{code: o.Code, path: l.path(o.Slot), inode: l.inodes[o.Slot],
		pending: slices.Clone(l.pending)}
	kind, _ := l.fs.Observed().Kind(at.path)
	at.isDir = kind == model.Dir
	if log := l.plant(l, at); log.wrong {
		l.pending, l.wrong = log.ops, true
	}
	l.since = append(l.since, change{Op: o, inode: at.inode})
	return l.fake.perform(s, call)
}

// commitAll makes everything persistent.
func (l *logTree) commitAll(s *exploretest.System, call agent.Op) agent.Result {
	if err := l.mend(s); err != nil {
		return agent.Result{Errno: unix.EIO}
	}
	l.since, l.dropped = nil, false
	return l.fake.perform(s, call)
}

// mend writes the whole tree if the log is wrong, as a commit.
func (l *logTree) mend(s *exploretest.System) error {
	if !l.wrong {
		return nil
	}
	data := record(l.seq, append([]model.Op{{Code: commitMark}}, l.all...))
	for off := 0; off < len(data); off += ramdisk.SectorSize {
		if err := l.submit(s, l.next, data[off:off+ramdisk.SectorSize]); err != nil {
			return err
		}
		l.next++
	}
	l.seq++
	l.pending, l.wrong = nil, false
	return nil
}

// has reports whether a change since the last commit is as wanted, and returns the last one.
func (l *logTree) has(want func(c change) bool) (c change, ok bool) {
	for _, c := range slices.Backward(l.since) {
		if want(c) {
			return c, true
		}
	}
	return change{}, false
}

// without returns the pending operations but those that are as unwanted.
func (at syncPoint) without(unwanted func(o model.Op) bool) logged {
	ops := slices.DeleteFunc(slices.Clone(at.pending), unwanted)
	return logged{ops, len(ops) != len(at.pending)}
}

// with returns the pending operations and one more.
func (at syncPoint) with(o model.Op) logged {
	return logged{append(slices.Clone(at.pending), o), true}
}

// above reports whether the target of the fsync is a directory with a path below it.
func (at syncPoint) above(p string) bool {
	return at.isDir && p != at.path && strings.HasPrefix(p, strings.TrimSuffix(at.path, "/")+"/")
}

// moves reports whether an operation moves a name to another directory.
func moves(o model.Op) bool {
	return o.Code == model.Rename && path.Dir(o.Path) != path.Dir(o.To)
}
