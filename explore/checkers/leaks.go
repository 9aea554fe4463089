package checkers

import (
	"slices"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/ekm"
	"fsward/explore/model"
)

// Leaks checks that using, mounting and unmounting leaves no memory in the kernel. It repeats an
// operation, or mounts and unmounts, in several rounds, and measures the memory after each. It is a
// leak if a count grows steadily, by one for 16 repetitions in most rounds, and by more than it
// varies when nothing is done.
type Leaks struct {
	Core
	On Storage
	// Failures makes one allocation in each repetition fail.
	Failures bool
	Cycles   int // mounts in a round; 0: 20
}

// Crashless says that the checker requests no crashes.
func (*Leaks) Crashless() {}

// UsesModule reports whether allocations fail.
func (c *Leaks) UsesModule() bool { return c.Failures }

const (
	repeats       = 64 // of an operation in a round
	failedRepeats = 32 // of an operation in which an allocation fails, which takes longer
	failedSites   = 12 // allocations of an operation that fail, one in each execution
	perLoss       = 16 // repetitions for which one object may be lost without a report
)

// Init loads the module fsw_ekm if allocations fail.
func (c *Leaks) Init(e *explore.Env) error {
	if c.UsesModule() {
		if err := loadEKM(e); err != nil {
			return err
		}
	}
	return c.Core.Init(e)
}

// Mutate does one operation. Then it repeats the operation, or mounts and unmounts.
func (c *Leaks) Mutate(e *explore.Env) error {
	if c.torn {
		return nil
	}
	before := c.topology()
	ops := c.choose(e)
	if c.Failures {
		return c.leakOfFailure(e, ops, before.undo(ops))
	}
	if err := c.Step(e, ops); err != nil {
		return err
	}
	if e.ChooseAt(2, "what is repeated") == 1 {
		return c.leakOfMounts(e, ops)
	}
	all := slices.Repeat(slices.Concat(before.undo(ops), ops), repeats)
	round := func() error {
		err := c.Step(e, all)
		c.fs.Synced() // the measurement that follows calls sync
		return err
	}
	if err := round(); err != nil { // objects that are allocated once are no leak
		return err
	}
	leak, err := findLeak(e, repeats/perLoss, round)
	if err != nil {
		return err
	}
	if leak != "" {
		return explore.Failuref("leak", "rounds of %d times %s leave in the kernel: %s",
			repeats, describe(ops), leak)
	}
	return c.Same(e)
}

// leakOfMounts mounts and unmounts after an operation.
func (c *Leaks) leakOfMounts(e *explore.Env, ops []model.Op) error {
	if c.Cycles == 0 {
		c.Cycles = 20
	}
	if err := c.remount(e, 3); err != nil { // for objects that are allocated once
		return err
	}
	leak, err := findLeak(e, max(1, c.Cycles/perLoss), func() error { return c.remount(e, c.Cycles) })
	if err != nil {
		return err
	}
	if leak != "" {
		return explore.Failuref("leak", "rounds of %d mounts after %s leave in the kernel: %s",
			c.Cycles, describe(ops), leak)
	}
	return c.Same(e)
}

// leakOfFailure repeats an operation in which one allocation fails. The content of the file system
// is unknown afterwards, so no step follows.
func (c *Leaks) leakOfFailure(e *explore.Env, ops, undo []model.Op) error {
	nth := e.ChooseAt(failedSites, "allocation that fails")
	cycle := slices.Concat(
		[]agent.Op{agent.FailAt([]ekm.Point{ekm.Slab}, []uint32{nth})}, c.calls(ops),
		[]agent.Op{agent.FailEnd()}, c.calls(undo))
	c.torn = true
	results, err := e.Try(cycle...)
	if err != nil {
		return err
	}
	end := results[1+len(ops)]
	hits, err := agent.DecodeHits(end.Data)
	if end.Errno != 0 || err != nil {
		return explore.Failuref("leak", "the failure cannot be injected: %v, %v", end.Errno, err)
	}
	if int(nth) >= len(hits) {
		return nil // the operation allocates less often
	}
	all := slices.Repeat(cycle, failedRepeats)
	leak, err := findLeak(e, failedRepeats/perLoss, func() error {
		_, err := e.Try(all...)
		return err
	})
	if err != nil || leak == "" {
		return err
	}
	return explore.Failuref("leak", "rounds of %d times %s, with the allocation at %s failing, "+
		"leave in the kernel: %s", failedRepeats, describe(ops), hits[nth].Site, leak)
}

// undo returns operations after which a step from this tree can be done again. It returns none for
// a step that can be repeated as it is.
func (t *topology) undo(ops []model.Op) []model.Op {
	create := func(p string) []model.Op {
		_, dir := t.empty[p]
		switch {
		case dir:
			return step(model.Op{Code: model.Mkdir, Path: p, Mode: 0o755})
		case slices.Contains(t.links, p):
			return step(model.Op{Code: model.Symlink, Path: p, To: "nowhere"})
		}
		const flags = unix.O_CREAT | unix.O_EXCL | unix.O_WRONLY
		return step(model.Op{Code: model.Open, Path: p, Flags: flags, Mode: 0o644},
			model.Op{Code: model.Close})
	}
	switch o := ops[0]; o.Code {
	case model.Mkdir:
		return step(model.Op{Code: model.Rmdir, Path: o.Path})
	case model.Symlink:
		return step(model.Op{Code: model.Unlink, Path: o.Path})
	case model.Link:
		return step(model.Op{Code: model.Unlink, Path: o.To})
	case model.Unlink, model.Rmdir:
		return create(o.Path)
	case model.Open:
		if o.Flags&unix.O_CREAT != 0 {
			return step(model.Op{Code: model.Unlink, Path: o.Path})
		}
	case model.Rename:
		if _, over := t.empty[o.To]; over || slices.Contains(slices.Concat(t.files, t.links), o.To) {
			return create(o.Path)
		}
		return step(model.Op{Code: model.Rename, Path: o.To, To: o.Path})
	}
	return nil
}

// remount unmounts, mounts and reads the whole tree, a number of times.
func (c *Leaks) remount(e *explore.Env, times int) error {
	for range times {
		if err := c.On.Unmount(e); err != nil {
			return commandFailure("cannot be unmounted", err)
		}
		if err := c.On.Mount(e); err != nil {
			return commandFailure("cannot be mounted again", err)
		}
		c.unmounted()
		if _, err := look(e, c.At, c.fs); err != nil {
			return err
		}
	}
	return nil
}

// Check does nothing: the checker tries no crashes.
func (c *Leaks) Check(*explore.Env, explore.Crash) error { return nil }
