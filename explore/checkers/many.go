package checkers

import (
	"fmt"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/model"
)

// many is the group of the repetitions.
const many Group = "many"

// A repetition performs one kind of operation many times in one step. With much of something a file
// system stores it in another way, a log wraps, and the twentieth call may differ from the first.
type repetition struct {
	times int                    // how often
	ops   func(i int) []model.Op // operations of repetition i, from 0
	// persist makes what came before persistent, before each request for crashes.
	persist []model.Op
	// dense is the number of first repetitions of which each is followed by crashes.
	dense int
}

// momentsOf is the number of moments, at equal distances, at which a repetition asks for crashes.
const momentsOf = 8

// isFollowed reports whether crashes follow the first n repetitions.
func (r *repetition) isFollowed(n int) bool {
	return n <= r.dense || n%max(1, r.times/momentsOf) == 0 || n == r.times
}

// repetitions returns the repetitions that the first step may run. They begin as tours do.
func (c *Sync) repetitions() (out []repetition) {
	if !c.asked(many) || c.Limits.Files < 1 {
		return nil
	}
	t := c.fresh().topology()
	out = []repetition{t.manySyncs(), t.manyRenames(), t.manyExtents()}
	if !t.promises.NoLinks {
		out = append(out, t.manyLinks())
	}
	if !t.promises.NoXattrs {
		out = append(out, t.manyAttributes())
	}
	if len(t.dirs) > 1 {
		out = append(out, t.manyNames(), t.deepPath())
	}
	return append(out, t.manyCommits())
}

// repeat runs a repetition. No step follows it.
func (c *Sync) repeat(e *explore.Env, r repetition) error {
	c.ran = true
	if err := c.Step(e, tourBegin(c.Limits)); err != nil {
		return err
	}
	for _, ops := range r.batches() {
		if err := c.Step(e, ops); err != nil || c.torn {
			return err
		}
		after := durableState{c.fs.Clone(), durableBy(c.Promises, ops)}
		if err := e.CheckCrashesNow(after); err != nil {
			return err
		}
	}
	return nil
}

// batches returns all operations, those before each request for crashes in one list.
func (r *repetition) batches() (out [][]model.Op) {
	var ops []model.Op
	for i := range r.times {
		ops = append(ops, r.ops(i)...)
		if r.isFollowed(i + 1) {
			out = append(out, append(ops, r.persist...))
			ops = nil
		}
	}
	return out
}

// manyName returns a name of n bytes, or of 4 if n is less.
func manyName(i, n int) string {
	name := fmt.Sprintf("m%03d", i)
	return name + strings.Repeat("m", max(0, n-len(name)))
}

// scattered returns a number below n for each i, another one for each i from n to 2n-1. 37 divides
// no number of repetitions.
func scattered(i, n int) int { return i * 37 % n }

// syncAll returns operations that make everything persistent.
func syncAll() []model.Op { return opened("/", unix.O_RDONLY, model.Op{Code: model.Syncfs}) }

// syncDir returns operations that make the names in a directory persistent.
func (t *topology) syncDir(d string) []model.Op {
	if t.promises.NoDirFsync {
		return syncAll()
	}
	return opened(d, unix.O_RDONLY, model.Op{Code: model.Fsync})
}

// syncFile returns operations that make the first file persistent.
func (t *topology) syncFile() []model.Op {
	return opened(t.files[0], unix.O_RDONLY, model.Op{Code: model.Fsync})
}

// manySyncs writes a file and syncs it, again and again.
func (t *topology) manySyncs() repetition {
	return repetition{times: 160, dense: 24, ops: func(i int) []model.Op {
		return step(model.Op{Code: model.Open, Path: t.files[0], Flags: unix.O_RDWR},
			model.Op{Code: model.Write, Len: small, Seed: 1 + tailSeed + uint64(i)},
			model.Op{Code: model.Fsync}, model.Op{Code: model.Close})
	}}
}

// manyRenames gives a file one name after the other, each of which it makes persistent.
func (t *topology) manyRenames() repetition {
	return repetition{times: 96, ops: func(i int) []model.Op {
		rename := model.Op{Code: model.Rename, Path: t.files[0], To: "/" + manyName(i, 0)}
		if i > 0 {
			rename.Path = "/" + manyName(i-1, 0)
		}
		return append(step(rename), t.syncDir("/")...)
	}}
}

// manyExtents writes every other block of a file, and punches these blocks again.
func (t *topology) manyExtents() repetition {
	const count = 100
	times := 2 * count
	if t.promises.NoPunch {
		times = count
	}
	return repetition{times: times, persist: t.syncFile(), ops: func(i int) []model.Op {
		o := model.Op{Code: model.Write, Off: 2 * model.Block * uint64(i), Len: small, Seed: 2}
		if i >= count {
			o = model.Op{Code: model.Fallocate, Off: 2 * model.Block * uint64(scattered(i, count)),
				Len: model.Block, Flags: unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE}
		}
		return opened(t.files[0], unix.O_RDWR, o)
	}}
}

// manyLinks gives a file many names in one directory, and removes them.
func (t *topology) manyLinks() repetition {
	const count = 160
	return repetition{times: 2 * count, persist: t.syncDir("/"), ops: func(i int) []model.Op {
		name := "/" + manyName(scattered(i, count), 0)
		if i >= count {
			return step(model.Op{Code: model.Unlink, Path: name})
		}
		return step(model.Op{Code: model.Link, Path: t.files[0], To: name})
	}}
}

// manyAttributes sets many extended attributes of a file, and removes them.
func (t *topology) manyAttributes() repetition {
	const count = 40
	return repetition{times: 2 * count, persist: t.syncFile(), ops: func(i int) []model.Op {
		o := model.Op{Code: model.Removexattr, Path: t.files[0],
			Name: "user." + manyName(scattered(i, count), 0)}
		if i < count {
			o.Code, o.Value = model.Setxattr, strings.Repeat("v", 50)
		}
		return step(o)
	}}
}

// manyNames makes many files with long names in a directory, and removes them.
func (t *topology) manyNames() repetition {
	const count = 240
	d, length := t.dirs[1], min(t.limits.Name, len(longName(0)))
	return repetition{times: 2 * count, persist: t.syncDir(d), ops: func(i int) []model.Op {
		name := path.Join(d, manyName(scattered(i, count), length))
		if i >= count {
			return step(model.Op{Code: model.Unlink, Path: name})
		}
		return step(model.Op{Code: model.Open, Path: name, Flags: unix.O_CREAT | unix.O_EXCL |
			unix.O_WRONLY, Mode: 0o644}, model.Op{Code: model.Close})
	}}
}

// deepPath makes directories, each in the one before, and removes them.
func (t *topology) deepPath() repetition {
	const depth = 40
	top := t.dirs[1]
	return repetition{times: 2 * depth, persist: syncAll(), ops: func(i int) []model.Op {
		if i < depth {
			return step(model.Op{Code: model.Mkdir, Path: top + strings.Repeat("/d", 1+i), Mode: 0o755})
		}
		return step(model.Op{Code: model.Rmdir, Path: top + strings.Repeat("/d", 2*depth-i)})
	}}
}

// manyCommits makes and removes a directory, each with a syncfs.
func (t *topology) manyCommits() repetition {
	p := t.free("/")
	return repetition{times: 40, ops: func(i int) []model.Op {
		o := model.Op{Code: model.Mkdir, Path: p, Mode: 0o755}
		if i%2 == 1 {
			o.Code = model.Rmdir
		}
		return append(step(o), syncAll()...)
	}}
}
