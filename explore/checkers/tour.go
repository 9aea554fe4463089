package checkers

import (
	"fmt"
	"path"
	"slices"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/model"
)

// tours is the group of the tours. A tour performs each kind of operation of a set, one after the
// other, makes each persistent, and asks for crashes. There is a tour of the basic operations on
// names, one of those on contents, and one of each of LaterGroups. Alone, most of these operations
// come after all that create a file, and each needs an execution of its own.
const tours Group = "tours"

// The number of steps after which a tour ends. Each that fills the disk writes all of its blocks,
// with data=journal of ext3 twice, and the log of the RAM disks has to hold what a tour writes.
const (
	maxTour        = 16
	maxFillingTour = 1
)

// A tour is a set of operations, of which the steps skip to skip+most-1 are performed.
type tour struct {
	steps      func(t *topology) [][]model.Op // the steps that it can do next
	skip, most int
}

// tours returns the tours that the first step may run.
func (c *Sync) tours() (out []tour) {
	if !c.asked(tours) {
		return nil
	}
	out = []tour{{(*topology).nameSteps, 0, maxTour}, {(*topology).contentSteps, 0, maxTour}}
	begin := c.fresh()
	for _, g := range LaterGroups() {
		t := tour{func(t *topology) [][]model.Op { return t.groupSteps([]Group{g}) }, 0, maxTour}
		if g == fullDisk {
			t.most = maxFillingTour
		}
		done := make(map[string]bool)
		for ; t.next(begin, done) != nil; t.skip += t.most {
			out = append(out, t)
			for range t.most - 1 {
				t.next(begin, done)
			}
		}
	}
	return out
}

// tourBegin returns the operations with which a tour begins: they make a file with contents and,
// if the limits allow one, a directory.
func tourBegin(l Limits) []model.Op {
	const flags = unix.O_CREAT | unix.O_EXCL | unix.O_RDWR
	ops := step(model.Op{Code: model.Open, Path: "/na", Flags: flags, Mode: 0o644},
		model.Op{Code: model.Write, Len: large, Seed: 1}, model.Op{Code: model.Close})
	if l.Dirs > 0 {
		ops = append(ops, model.Op{Code: model.Mkdir, Path: "/nb", Mode: 0o755})
	}
	return ops
}

// fresh returns a core with the tree with which a tour begins.
func (c *Core) fresh() *Core {
	f := &Core{Promises: c.Promises, Limits: c.Limits, fs: model.New(c.Promises)}
	if c.Limits.Files > 0 {
		f.assume(tourBegin(c.Limits))
	}
	return f
}

// tour runs a tour. bySync makes each of its steps persistent by sync(2), which leaves nothing for
// a log of fsync to do, and which opens no file. No step follows a tour. Each of its steps can be
// left out; the others stay as they are. One that fails does not hide what follows it.
func (c *Sync) tour(e *explore.Env, t tour, bySync bool) error {
	c.ran = true
	if c.Limits.Files > 0 {
		if err := c.Step(e, tourBegin(c.Limits)); err != nil {
			return err
		}
	}
	done := make(map[string]bool)
	plan := &c.Core // with all parts, also those that are left out
	for range t.skip {
		t.next(plan, done)
	}
	for range t.most {
		ops := t.next(plan, done)
		if ops == nil || c.torn {
			return nil
		}
		persist := persisting(plan, ops, bySync)
		leavesOut := e.LeavesOut(explore.Part{Site: "a part of a tour", Requests: 1, Separate: true})
		if leavesOut && plan == &c.Core {
			plan = &Core{Promises: c.Promises, Limits: c.Limits, fs: c.fs.Clone()}
		}
		if !leavesOut {
			if err := c.stepAndCrash(e, atEnd(c.fs, ops), persist); err != nil {
				return err
			}
		}
		if plan != &c.Core {
			plan.assume(slices.Concat(ops, persist))
		}
	}
	return nil
}

// atEnd returns a step whose appends begin at the present end of their file. Without a part that
// was left out the file may have another size than in the plan. A direct append that would then not
// begin at a block is no part of it.
func atEnd(fs *model.FS, ops []model.Op) (out []model.Op) {
	end, appending := uint64(0), false
	for _, o := range ops {
		writes := o.Code == model.Write || o.Code == model.Dwrite
		switch {
		case o.Code == model.Open:
			end, _ = fs.Size(o.Path)
			appending = o.Flags&unix.O_APPEND != 0
		case writes && appending && o.Code == model.Dwrite && end%model.Block != 0:
			continue
		case writes && appending:
			o.Off, end = end, end+o.Len
		}
		out = append(out, o)
	}
	return out
}

// assume follows operations that are not performed.
func (c *Core) assume(ops []model.Op) {
	for _, o := range ops {
		c.fs.Apply(o)
	}
	c.fs.CloseAll()
}

// next returns the first step of a kind that is not done yet, and notes that it is done: one that
// removes a name only if there is no other.
func (t tour) next(c *Core, done map[string]bool) (next []model.Op) {
	now, tree := c.topology(), c.fs.Observed()
	kind := ""
	for _, ops := range t.steps(&now) {
		k := kindOf(tree, ops)
		if removing := removes(tree, ops[0]); !done[k] && (next == nil || !removing) {
			if next, kind = ops, k; !removing {
				break
			}
		}
	}
	done[kind] = true
	return next
}

// removes reports whether an operation removes a name.
func removes(tree *model.Observed, o model.Op) bool {
	_, over := tree.Kind(o.To)
	switch o.Code {
	case model.Unlink, model.Rmdir, model.DeleteSubvolume:
		return true
	}
	return o.Code == model.Rename && over
}

// persisting returns the operations after a step of a tour that make it persistent: by sync(2), or
// as a scout does with an uncommon operation. nil: the step does so itself.
func persisting(plan *Core, ops []model.Op, bySync bool) []model.Op {
	if forced(ops) {
		return nil
	}
	syncs := plan.syncs(ops)
	if bySync {
		return syncs[0]
	}
	return syncs[len(syncs)-1]
}

// stepAndCrash performs a step of a tour, makes it persistent, and asks for crashes.
func (c *Sync) stepAndCrash(e *explore.Env, ops, persist []model.Op) error {
	if err := c.Step(e, ops); err != nil {
		return err
	}
	if persist != nil {
		if err := c.Step(e, persist); err != nil {
			return err
		}
		ops = persist
	}
	return e.CheckCrashesNow(durableState{c.fs.Clone(), durableBy(c.Promises, ops)})
}

// kindOf returns a text that is equal for steps that differ only in names of the same kind, places
// and contents.
func kindOf(tree *model.Observed, ops []model.Op) string {
	kinds := slices.Clone(ops)
	for i := range kinds {
		o := &kinds[i]
		within := path.Dir(o.Path) == path.Dir(o.To)
		from, _ := tree.Kind(o.Path)
		to, over := tree.Kind(o.To)
		o.Path, o.To = fmt.Sprint(from), fmt.Sprint(to, over, within)
		o.Off, o.Seed = 0, 0
	}
	return fmt.Sprintf("%+v", kinds)
}
