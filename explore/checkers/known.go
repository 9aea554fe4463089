package checkers

import (
	"slices"
	"sync"

	"fsward/explore"
	"fsward/explore/b3"
	"fsward/explore/model"
)

// knownBugs is the group of the workloads of known bugs (b3.Regressions). New bugs resemble old
// ones: a bug of a log tree needs a history of four to six operations, which Cover comes to late,
// because it makes each operation persistent at once.
const knownBugs Group = "known"

// The limits of a workload of a known bug. Three with thousands of names and one with 20 MiB of
// data take longer than all others together: fsward explore b3 runs them.
const (
	maxKnownSteps = 200
	maxKnownData  = 4 << 20 // bytes in one write
)

// regressions reads the workloads of known bugs.
var regressions = sync.OnceValues(func() (out []b3.Workload, err error) {
	list, err := b3.Regressions()
	for _, r := range list {
		w := r.Workload.Complete()
		if len(w) <= maxKnownSteps && !slices.ContainsFunc(w, func(s b3.Step) bool {
			return s.Range.Len > maxKnownData
		}) {
			out = append(out, w)
		}
	}
	return out, err
})

// asked reports whether the first step may run what a group stands for: its tours or workloads.
// With a mount option that makes each operation durable, they ask for nothing that the other steps
// do not. A call that may fail without a cause would leave a file that they use closed.
func (c *Sync) asked(g Group) bool {
	is := slices.Contains(c.Limits.Groups, g) || slices.Contains(c.Limits.Later, g)
	return is && !c.Promises.Sync && !c.Limits.Faults
}

// known returns the workloads that the first step may run: those of known bugs that the file system
// can do, if their group is asked for.
func (c *Sync) known() ([]b3.Workload, error) {
	if !c.asked(knownBugs) {
		return nil, nil
	}
	if c.can == nil {
		all, err := regressions()
		if err != nil {
			return nil, err
		}
		c.can = slices.DeleteFunc(slices.Clone(all), func(w b3.Workload) bool { return !c.succeeds(w) })
	}
	return c.can, nil
}

// succeeds reports whether all operations of a workload succeed in the model. A file system that
// lacks an operation fails it in ways that depend on its mount options and its arguments.
func (c *Sync) succeeds(w b3.Workload) bool {
	trial := newWorkloadRun(&Core{fs: model.New(c.Promises)})
	for _, s := range w {
		if s.Verb == b3.DropCaches {
			continue
		}
		for _, o := range trial.translate(s) {
			if trial.fs.Apply(o).Errno != 0 {
				return false
			}
		}
	}
	return true
}

// run runs a workload, each step of which can be left out. No step follows it.
func (c *Sync) run(e *explore.Env, w b3.Workload) error {
	c.ran = true
	run := newWorkloadRun(&c.Core)
	for _, s := range w {
		requests := 0
		if s.Verb.Persists() {
			requests = 1
		}
		if e.LeavesOut(explore.Part{Site: "a step of a workload", Requests: requests}) {
			continue
		}
		if err := run.step(e, s, true); err != nil {
			return err
		}
	}
	return run.end(e)
}

// Signature returns that of the tree. All of firstSteps have one, because no step follows them.
func (c *Sync) Signature(e *explore.Env) ([]byte, error) {
	if c.ran {
		return []byte("a first step"), nil
	}
	return c.Core.Signature(e)
}
