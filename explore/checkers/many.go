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

// A repeater makes repetitions on one file and one directory.
type repeater struct {
	t    *topology
	file string
	dir  string // "" if there is only the root
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
	r := repeater{t: &t, file: t.files[0]}
	out = []repetition{r.syncs(), r.renames(), r.extents()}
	if !t.promises.NoLinks {
		out = append(out, r.links())
	}
	if !t.promises.NoXattrs {
		out = append(out, r.attributes())
	}
	if len(t.dirs) > 1 {
		r.dir = t.dirs[1]
		out = append(out, r.names(), r.deepPath())
	}
	return append(out, r.commits())
}

// repeat runs a repetition. No step follows it.
func (c *Sync) repeat(e *explore.Env, r repetition) error {
	c.ran = true
	if err := c.Step(e, tourBegin(c.Limits)); err != nil {
		return err
	}
	for _, ops := range r.batches() {
		if e.LeavesOut(explore.Part{Site: "repetitions", Requests: 1}) {
			continue
		}
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
func (r *repeater) syncDir(d string) []model.Op {
	if r.t.promises.NoDirFsync {
		return syncAll()
	}
	return opened(d, unix.O_RDONLY, model.Op{Code: model.Fsync})
}

// syncFile returns operations that make the file persistent.
func (r *repeater) syncFile() []model.Op {
	return opened(r.file, unix.O_RDONLY, model.Op{Code: model.Fsync})
}

// syncs writes a file and syncs it, again and again.
func (r *repeater) syncs() repetition {
	return repetition{times: 160, dense: 24, ops: func(i int) []model.Op {
		return step(model.Op{Code: model.Open, Path: r.file, Flags: unix.O_RDWR},
			model.Op{Code: model.Write, Len: small, Seed: 1 + tailSeed + uint64(i)},
			model.Op{Code: model.Fsync}, model.Op{Code: model.Close})
	}}
}

// renames gives a file one name after the other, each of which it makes persistent.
func (r *repeater) renames() repetition {
	return repetition{times: 96, ops: func(i int) []model.Op {
		rename := model.Op{Code: model.Rename, Path: r.file, To: "/" + manyName(i, 0)}
		if i > 0 {
			rename.Path = "/" + manyName(i-1, 0)
		}
		return append(step(rename), r.syncDir("/")...)
	}}
}

// extents writes every other block of a file, and punches these blocks again.
func (r *repeater) extents() repetition {
	const count = 100
	times := 2 * count
	if r.t.promises.NoPunch {
		times = count
	}
	return repetition{times: times, persist: r.syncFile(), ops: func(i int) []model.Op {
		o := model.Op{Code: model.Write, Off: 2 * model.Block * uint64(i), Len: small, Seed: 2}
		if i >= count {
			o = model.Op{Code: model.Fallocate, Off: 2 * model.Block * uint64(scattered(i, count)),
				Len: model.Block, Flags: unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE}
		}
		return opened(r.file, unix.O_RDWR, o)
	}}
}

// links gives a file many names in one directory, and removes them.
func (r *repeater) links() repetition {
	const count = 160
	return repetition{times: 2 * count, persist: r.syncDir("/"), ops: func(i int) []model.Op {
		name := "/" + manyName(scattered(i, count), 0)
		if i >= count {
			return step(model.Op{Code: model.Unlink, Path: name})
		}
		return step(model.Op{Code: model.Link, Path: r.file, To: name})
	}}
}

// attributes sets many extended attributes of a file, and removes them.
func (r *repeater) attributes() repetition {
	const count = 40
	return repetition{times: 2 * count, persist: r.syncFile(), ops: func(i int) []model.Op {
		o := model.Op{Code: model.Removexattr, Path: r.file,
			Name: "user." + manyName(scattered(i, count), 0)}
		if i < count {
			o.Code, o.Value = model.Setxattr, strings.Repeat("v", 50)
		}
		return step(o)
	}}
}

// names makes many files with long names in a directory, and removes them.
func (r *repeater) names() repetition {
	const count = 240
	length := min(r.t.limits.Name, len(longName(0)))
	return repetition{times: 2 * count, persist: r.syncDir(r.dir), ops: func(i int) []model.Op {
		name := path.Join(r.dir, manyName(scattered(i, count), length))
		if i >= count {
			return step(model.Op{Code: model.Unlink, Path: name})
		}
		return step(model.Op{Code: model.Open, Path: name, Flags: unix.O_CREAT | unix.O_EXCL |
			unix.O_WRONLY, Mode: 0o644}, model.Op{Code: model.Close})
	}}
}

// deepPath makes directories, each in the one before, and removes them.
func (r *repeater) deepPath() repetition {
	const depth = 40
	return repetition{times: 2 * depth, persist: syncAll(), ops: func(i int) []model.Op {
		if i < depth {
			return step(model.Op{Code: model.Mkdir, Path: r.dir + strings.Repeat("/d", 1+i), Mode: 0o755})
		}
		return step(model.Op{Code: model.Rmdir, Path: r.dir + strings.Repeat("/d", 2*depth-i)})
	}}
}

// commits makes and removes a directory, each with a syncfs.
func (r *repeater) commits() repetition {
	p := r.t.free("/")
	return repetition{times: 40, ops: func(i int) []model.Op {
		o := model.Op{Code: model.Mkdir, Path: p, Mode: 0o755}
		if i%2 == 1 {
			o.Code = model.Rmdir
		}
		return append(step(o), syncAll()...)
	}}
}
