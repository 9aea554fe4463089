package checkers

import (
	"errors"
	"slices"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/b3"
	"fsward/explore/model"
)

// Sync checks that data that was forced to the disk is there after a crash. Data is forced by
// sync(2), syncfs(2), fsync(2), by fdatasync(2) with fsync of the directories, by writes through
// O_SYNC and O_DSYNC, and by the mount options sync and dirsync (EXPLODE 7.3).
type Sync struct {
	Core
	durable *durableState // what the last step made durable; nil: nothing
	begun   bool          // a step was done
	ran     bool          // it ran one of firstSteps
	can     []b3.Workload // what known has found; nil: it was not called
}

var _ explore.LogReader = (*Sync)(nil)

// Init begins with an empty model.
func (c *Sync) Init(e *explore.Env) error {
	c.durable, c.begun, c.ran = nil, false, false
	return c.Core.Init(e)
}

// Mutate does one operation. It then forces its effect to the disk in one of the possible ways, or
// does not. The first step may do one of firstSteps instead.
func (c *Sync) Mutate(e *explore.Env) error {
	if c.ran {
		return nil
	}
	c.durable = nil
	var begins firstSteps
	if !c.begun {
		var err error
		if begins, err = c.firstSteps(); err != nil {
			return err
		}
	}
	c.begun = true
	ops, other := c.chooseOr(e, len(begins.early), len(begins.late))
	switch late := other - len(begins.early); {
	case ops != nil:
	case late < 0:
		return begins.early[other](e)
	default:
		return begins.late[late](e)
	}
	if err := c.Step(e, ops); err != nil {
		return err
	}
	var syncs [][]model.Op
	if !c.Promises.Sync && !forced(ops) { // with -o sync only the mount option is tested
		syncs = c.syncs(ops)
	}
	if how := e.ChooseAt(uint32(len(syncs)+1), "sync"); how > 0 {
		if err := c.Step(e, syncs[how-1]); err != nil {
			return err
		}
		ops = syncs[how-1]
	}
	property := durableBy(c.Promises, ops)
	if property == "" {
		return nil
	}
	c.durable = &durableState{c.fs.Clone(), property}
	return e.Mark(stepEnd)
}

// firstSteps are what the first step may do beside one operation: early ones after the common
// operations, and late ones after all. No step follows them.
type firstSteps struct{ early, late []func(*explore.Env) error }

// firstSteps returns the tours, workloads of known bugs and repetitions that are asked for.
func (c *Sync) firstSteps() (out firstSteps, err error) {
	known, err := c.known()
	if err != nil {
		return out, err
	}
	var bySync []func(*explore.Env) error
	for _, t := range c.tours() {
		out.early = append(out.early, func(e *explore.Env) error { return c.tour(e, t, false) })
		bySync = append(bySync, func(e *explore.Env) error { return c.tour(e, t, true) })
	}
	for _, w := range known {
		out.late = append(out.late, func(e *explore.Env) error { return c.run(e, w) })
	}
	out.late = append(out.late, bySync...)
	for _, r := range c.repetitions() {
		out.late = append(out.late, func(e *explore.Env) error { return c.repeat(e, r) })
	}
	return out, nil
}

// stepEnd is the mark at the end of a step that made something durable.
const stepEnd = "the step ends"

// Crashes asks for crashes when the last call that made something durable has returned or, with a
// mount option that does, when the step has ended.
func (c *Sync) Crashes(log []explore.Tick) ([]explore.LogCrash, error) {
	if c.durable == nil {
		return nil, nil
	}
	ended := func(t explore.Tick) bool { return t.Mark == stepEnd }
	returned := func(t explore.Tick) bool { return t.Returned }
	at := slices.IndexFunc(log, ended)
	if c.durable.property != bySyncMount && slices.ContainsFunc(log, returned) {
		for at = len(log) - 1; !returned(log[at]); at-- {
		}
	}
	if at < 0 {
		return nil, errors.New("the log has no end of the step")
	}
	return []explore.LogCrash{{After: log[at].Record, Expect: *c.durable}}, nil
}

// forced reports whether the last call of a step, or each write through its descriptor, makes
// durable what the step did. Another call after it would hide that it does not.
func forced(ops []model.Op) bool {
	last := ops[len(ops)-1]
	if last.Code == model.Close && len(ops) > 1 {
		last = ops[len(ops)-2]
	}
	switch last.Code {
	case model.Fsync, model.Fdatasync, model.Msync:
		return true
	case model.Write, model.Dwrite, model.Dwrites:
		return ops[0].Code == model.Open && ops[0].Flags&unix.O_DSYNC != 0 ||
			slices.ContainsFunc(ops, makesSynchronous)
	}
	return false
}

// makesSynchronous reports whether an operation makes each later write to a file synchronous.
func makesSynchronous(o model.Op) bool {
	return o.Code == model.Setflags && o.Flags&agent.Synchronous != 0
}

// bySyncMount is the property of a mount option that makes each operation durable.
const bySyncMount = "mount -o sync"

// A durableState is the state expected after a crash, with the call or mount option that made it
// durable.
type durableState struct {
	*model.FS
	property string
}

// Property returns the call or mount option that made the state durable.
func (s durableState) Property() string { return s.property }

// durableBy returns the call or mount option that makes a step durable when it returns, or "".
func durableBy(p model.Promises, ops []model.Op) string {
	if p.Sync {
		return bySyncMount
	}
	for _, o := range ops {
		switch o.Code {
		case model.Sync:
			return "sync"
		case model.Syncfs:
			return "syncfs"
		case model.Msync:
			return "msync"
		case model.Fsync:
			return "fsync"
		case model.Fdatasync:
			return "fdatasync"
		}
	}
	switch flags := ops[0].Flags; {
	case ops[0].Code == model.Open && flags&unix.O_SYNC == unix.O_SYNC:
		return "O_SYNC"
	case ops[0].Code == model.Open && flags&unix.O_DSYNC != 0:
		return "O_DSYNC"
	case slices.ContainsFunc(ops, makesSynchronous):
		return "chattr +S"
	case p.Dirsync:
		return "mount -o dirsync"
	}
	return ""
}

// Check checks the recovered tree.
func (c *Sync) Check(e *explore.Env, crash explore.Crash) error {
	if w, is := crash.After.(*workloadState); is {
		return c.checkWorkload(e, w)
	}
	return checkAllowed(e, c.At, crash.After.(durableState).FS)
}
