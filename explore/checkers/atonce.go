package checkers

import (
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/model"
)

// inAnyOrder reports whether a step has two operations at once of which each may take effect first.
// An fsync and a change at the same time are none: the change need not be durable afterwards.
func inAnyOrder(ops []model.Op) bool {
	for i := 1; i < len(ops); i++ {
		if ops[i].AtOnce && ops[i-1].Code != model.Fsync {
			return true
		}
	}
	return false
}

// checkOrders compares the results of a step that is inAnyOrder with those of the model: each pair
// has to give what one operation after the other gives, in one of the two orders. It changes the
// model as the order does that explains all results and the tree.
func (c *Core) checkOrders(e *explore.Env, ops []model.Op, results []agent.Result) error {
	states, space := []*model.FS{c.fs}, spaceOf(e, c.At)
	for i := 0; i < len(ops); i++ {
		pair := results[i : i+1]
		if i+1 < len(ops) && ops[i+1].AtOnce {
			pair = results[i : i+2]
		}
		if states = afterPair(states, ops[i:i+len(pair)], pair); len(states) == 0 {
			return explore.Failuref("wrong result", "%s gives %s, in no order", describe(ops[i:i+len(pair)]),
				namesOf(pair))
		}
		for k, r := range pair {
			if err := c.checkCause(ops[i+k], r.Errno, space); err != nil {
				return err
			}
		}
		i += len(pair) - 1
	}
	c.fs = states[0]
	c.fs.CloseAll()
	if len(states) == 1 {
		return nil
	}
	s, err := look(e, c.At, c.fs)
	if err != nil {
		return err
	}
	for _, f := range states {
		if f.CloseAll(); f.Equal(s) == nil {
			c.fs = f
			break
		}
	}
	return nil
}

// namesOf returns the symbols of the errors of results.
func namesOf(results []agent.Result) string {
	var out []string
	for _, r := range results {
		out = append(out, name(r.Errno))
	}
	return strings.Join(out, " and ")
}

// afterPair returns the states after one operation, or two at once, that explain the results. No
// two of them are equal.
func afterPair(states []*model.FS, ops []model.Op, results []agent.Result) (out []*model.FS) {
	seen := make(map[string]bool)
	for _, f := range states {
		for first := range len(ops) {
			g, fits := f.Clone(), true
			for k := range ops {
				i := (first + k) % len(ops)
				fits = fits && applyAs(g, f, ops, i, results[i])
			}
			if fits && (len(ops) == 1 || !seen[g.Key()]) {
				seen[g.Key()] = true
				out = append(out, g)
			}
		}
	}
	return out
}

// lookupErrors are errors of an operation whose path another process changes after the look-up of
// its directory, so that no order of whole operations need give the same one of them.
var lookupErrors = []unix.Errno{unix.ENOENT, unix.EEXIST, unix.EINVAL, unix.ENOTEMPTY}

// applyAs performs operation i of ops on f, and reports whether that explains a result. before is
// the state before ops.
func applyAs(f, before *model.FS, ops []model.Op, i int, is agent.Result) bool {
	if slices.Contains(resourceErrors, is.Errno) {
		return true
	}
	want := f.Apply(ops[i])
	bothFail := len(ops) > 1 && want.Errno != 0 && slices.Contains(lookupErrors, is.Errno)
	if want.Errno != is.Errno && !bothFail {
		return false
	}
	if ops[i].Code == model.Readdir && want.Errno == 0 && len(ops) > 1 {
		return listsWhatStays(before, ops, i, string(is.Data))
	}
	return is.Errno != 0 || want.Value == is.Value && want.Data == string(is.Data)
}

// listsWhatStays reports whether names, the result of operation i of ops, has each name once that
// the other operation leaves alone. Of a file that is removed or added after opendir, it "is
// unspecified" whether readdir lists it (POSIX, readdir).
func listsWhatStays(before *model.FS, ops []model.Op, i int, names string) bool {
	other := ops[1-i]
	touched := func(s string) bool {
		p := path.Join(ops[i].Path, s)
		return p == other.Path || p == other.To
	}
	split := func(s string) []string {
		return slices.DeleteFunc(strings.Split(strings.TrimSuffix(s, "\x00"), "\x00"),
			func(s string) bool { return s == "" || touched(s) })
	}
	return slices.Equal(split(names), split(before.Clone().Apply(ops[i]).Data))
}

// atOnce returns two operations that two processes perform at the same time, and what follows.
func atOnce(first, second model.Op, then ...model.Op) []model.Op {
	second.AtOnce = true
	return append(step(first, second), then...)
}

// races is how often a step tries two operations at once, if it can undo them.
const races = 10

// raced returns a step that performs operations again and again.
func raced(ops []model.Op) []model.Op { return slices.Repeat(ops, races) }

// A pairing makes steps in which two processes change or list the same names.
type pairing struct {
	t    *topology
	free string // a free name in the root
}

// together returns steps in which two processes act at the same time: one syncs a file or a
// directory and the other one changes it, or both change or list the same names.
func (t *topology) together() (out [][]model.Op) {
	fsync, pairs := model.Op{Code: model.Fsync}, pairing{t, t.free("/")}
	for _, p := range t.files {
		open := model.Op{Code: model.Open, Path: p, Flags: unix.O_RDWR}
		for _, o := range []model.Op{
			{Code: model.Write, Len: large, Seed: 2}, {Code: model.Ftruncate},
			{Code: model.Rename, Path: p, To: pairs.free}, {Code: model.Unlink, Path: p},
		} {
			out = append(out, append(append(step(open), atOnce(fsync, o)...), model.Op{Code: model.Close}))
		}
		out = append(out, pairs.ofFile(p)...)
	}
	if len(t.dirs)-1 < t.limits.Dirs {
		mkdir := model.Op{Code: model.Mkdir, Path: pairs.free, Mode: 0o755}
		out = append(out, raced(atOnce(mkdir, mkdir, model.Op{Code: model.Rmdir, Path: mkdir.Path})))
	}
	for _, d := range t.dirs[1:] {
		out = append(out, pairs.ofDir(d)...)
	}
	return out
}

// ofFile returns steps in which two processes rename, link or remove the file p.
func (s *pairing) ofFile(p string) (out [][]model.Op) {
	t, x, y := s.t, s.free, s.free+"y"
	unlink := model.Op{Code: model.Unlink, Path: p}
	rename := func(from, to string) model.Op {
		return model.Op{Code: model.Rename, Path: from, To: to}
	}
	out = append(out, raced(atOnce(rename(p, x), rename(p, y), rename(x, p), rename(y, p))),
		atOnce(rename(p, x), unlink), atOnce(unlink, unlink))
	if len(t.files)+len(t.links) < t.limits.Files && !t.promises.NoLinks {
		link := model.Op{Code: model.Link, Path: p, To: x}
		out = append(out, raced(atOnce(link, link, model.Op{Code: model.Unlink, Path: x})),
			atOnce(link, unlink), atOnce(link, rename(p, x)))
	}
	for _, q := range t.files {
		if q != p {
			out = append(out, atOnce(rename(p, q), rename(q, p)), atOnce(rename(p, q),
				model.Op{Code: model.Unlink, Path: q}))
		}
	}
	return out
}

// ofDir returns steps in which two processes move or remove directory d, make a name in it, or
// list it.
func (s *pairing) ofDir(d string) (out [][]model.Op) {
	t, x, in := s.t, s.free, s.t.free(d)
	mkdir := model.Op{Code: model.Mkdir, Path: in, Mode: 0o755}
	away := model.Op{Code: model.Rename, Path: d, To: x}
	rmdir := func(p string) model.Op { return model.Op{Code: model.Rmdir, Path: p} }
	out = append(out, raced(atOnce(away, mkdir, rmdir(path.Join(x, path.Base(in))), rmdir(in),
		model.Op{Code: model.Rename, Path: x, To: d})), listedAtOnce(d, in))
	if t.empty[d] {
		out = append(out, atOnce(rmdir(d), mkdir), atOnce(rmdir(d), rmdir(d)))
	}
	for _, other := range t.dirs[1:] {
		if !below(other, d) && !below(d, other) && d < other {
			to := t.free(other)
			out = append(out, raced(atOnce(model.Op{Code: model.Rename, Path: d, To: to},
				model.Op{Code: model.Rename, Path: other, To: in},
				model.Op{Code: model.Rename, Path: to, To: d},
				model.Op{Code: model.Rename, Path: in, To: other})))
		}
	}
	return out
}

// listedAtOnce returns a step that lists directory d while its free name in is made, renamed and
// removed. Another name stays.
func listedAtOnce(d, in string) []model.Op {
	list := model.Op{Code: model.Readdir, Path: d}
	mkdir := model.Op{Code: model.Mkdir, Path: in, Mode: 0o755}
	stays, away := mkdir, model.Op{Code: model.Rename, Path: in, To: in + "x"}
	stays.Path += "y"
	back := model.Op{Code: model.Rename, Path: away.To, To: in}
	rmdir := model.Op{Code: model.Rmdir, Path: in}
	return slices.Concat(step(stays), raced(slices.Concat(atOnce(list, mkdir), atOnce(list, away),
		atOnce(list, back), atOnce(list, rmdir))), step(model.Op{Code: model.Rmdir, Path: stays.Path}))
}
