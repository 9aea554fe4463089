package checkers

import (
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/b3"
	"fsward/explore/model"
)

// Workloads checks one workload of bounded black-box crash testing in each Mutate: after each of
// its persistence points a crash may leave only what the promises of the file system allow. The
// number of the workload is the only choice, so that the identity of a state is its rank: bugs of a
// log tree depend on a history that no signature shows. A persistence point up to which a workload
// is the same as the one before it was tested there, and is not tested again.
//
// After a crash it also compares each object that was ever made persistent and not changed since
// with the run without a crash, and it looks whether names can be made and removed.
type Workloads struct {
	Core
	On Storage
	// Count is the number of workloads, and Workload returns one of them.
	Count    uint32
	Workload func(i uint32) (b3.Workload, error)
	// NoUnmount leaves out the comparison with the tree after a clean unmount.
	NoUnmount bool
}

// Mutate runs a workload from its begin to its end.
func (c *Workloads) Mutate(e *explore.Env) error {
	steps, tested, err := c.steps(e.ChooseAt(c.Count, "rank"))
	if err != nil {
		return err
	}
	run := newWorkloadRun(&c.Core)
	for i, s := range steps {
		if err := run.step(e, s, i >= tested); err != nil {
			return err
		}
	}
	if err := run.end(e); err != nil || c.NoUnmount || c.torn {
		return err
	}
	return c.unmounted(e)
}

// steps returns the steps of a workload, and the number of those with which the workload before it
// begins, too.
func (c *Workloads) steps(i uint32) (steps b3.Workload, shared int, err error) {
	w, err := c.Workload(i)
	if err != nil || i == 0 {
		return w.Complete(), 0, err
	}
	before, err := c.Workload(i - 1)
	steps, before = w.Complete(), before.Complete()
	for shared < min(len(steps), len(before)) && steps[shared] == before[shared] {
		shared++
	}
	return steps, shared, err
}

// unmounted unmounts cleanly, mounts again, and compares the tree with the model.
func (c *Workloads) unmounted(e *explore.Env) error {
	if err := c.On.Unmount(e); err != nil {
		return commandFailure("cannot be unmounted", err)
	}
	c.fs.CloseHeld() // Unmount has closed them
	if err := c.On.Mount(e); err != nil {
		return commandFailure("cannot be mounted again", err)
	}
	return c.Same(e)
}

// Signature returns nil: each workload is a state of its own.
func (c *Workloads) Signature(*explore.Env) ([]byte, error) { return nil, nil }

// Features returns nothing: workloads have no children.
func (c *Workloads) Features() []string { return nil }

// A workloadRun is one run of a workload.
type workloadRun struct {
	*Core
	ops     []model.Op        // that were not performed yet
	slots   map[string]uint32 // of the open names
	dirs    map[string]bool   // names that mkdir made
	kept    *kept
	names   []string        // that the workload used so far, each once
	named   map[string]bool // the same
	written uint64          // number of writes, from which their contents follow
}

func newWorkloadRun(c *Core) *workloadRun {
	return &workloadRun{Core: c, slots: make(map[string]uint32), dirs: make(map[string]bool),
		kept: newKept(), named: make(map[string]bool)}
}

// maxBatch is the number of operations that are performed at once.
const maxBatch = 1000

// step queues a step. After a persistence point it performs all queued ones, and with crash it asks
// for crashes.
func (r *workloadRun) step(e *explore.Env, s b3.Step, crash bool) error {
	s = r.lower(s)
	r.touch(s)
	if s.Verb == b3.DropCaches {
		if _, err := r.flush(e); err != nil {
			return err
		}
		_, err := r.stepAnd(e, []model.Op{{Code: model.DropCaches}}, nil)
		return err
	}
	r.ops = append(r.ops, r.translate(s)...)
	if !s.Verb.Persists() {
		if len(r.ops) < maxBatch {
			return nil
		}
		_, err := r.flush(e)
		return err
	}
	answers, err := r.flush(e, agent.Tree(r.At))
	if err != nil {
		return err
	}
	return r.persisted(e, s, answers[0], crash)
}

// lower returns a step with names as the file system has them. It notes which were directories.
func (r *workloadRun) lower(s b3.Step) b3.Step {
	if !r.Promises.NoCapitals {
		return s
	}
	names := s.Names()
	for _, name := range names {
		if lower := strings.ToLower(name); b3.IsDirectory(name) {
			r.dirs[lower] = true
		}
	}
	s.Name = strings.ToLower(s.Name)
	if len(names) > 1 {
		s.To = strings.ToLower(s.To)
	}
	return s
}

// end performs what is still queued. Files that are only to be closed are left to the unmount.
func (r *workloadRun) end(e *explore.Env) error {
	if !slices.ContainsFunc(r.ops, func(o model.Op) bool { return o.Code != model.Close }) {
		return nil
	}
	_, err := r.flush(e)
	return err
}

// flush performs the queued operations in one batch, and after them others that change nothing,
// whose answers it returns.
func (r *workloadRun) flush(e *explore.Env, then ...agent.Op) ([]agent.Result, error) {
	ops := r.ops
	r.ops = nil
	if len(ops)+len(then) == 0 {
		return nil, nil
	}
	return r.stepAnd(e, ops, then)
}

// persisted notes what a persistence point has made persistent. tree is the answer to agent.Tree
// after it. With crash, it asks for crashes.
func (r *workloadRun) persisted(e *explore.Env, s b3.Step, tree agent.Result, crash bool) error {
	if r.torn {
		return nil
	}
	if err := r.keep(e, s, tree); err != nil || !crash {
		return err
	}
	property := s.Verb.String()
	return e.CheckCrashesNow(&workloadState{durableState: durableState{r.fs.Clone(), property},
		kept: maps.Clone(r.kept.entries), names: slices.Clone(r.names), full: r.ranOut})
}

// attribute is the extended attribute of setxattr and removexattr.
const attribute = "user.fsward"

// translate returns the operations of a step.
func (r *workloadRun) translate(s b3.Step) []model.Op {
	op := model.Op{Slot: r.slots[s.Name], Off: s.Range.Off, Len: s.Range.Len}
	switch s.Verb {
	case b3.Creat, b3.Open:
		op = r.open(s)
	case b3.Close:
		delete(r.slots, s.Name)
		op = model.Op{Code: model.Close, Slot: op.Slot}
	case b3.Write:
		return r.writes(model.Write, op)
	case b3.Dwrite:
		return r.writes(model.Dwrite, op)
	case b3.Mmapstore:
		return r.mapped(op)
	case b3.Mmapwrite:
		ops := r.mapped(op)
		op.Code = model.Msync
		return append(ops, op)
	case b3.Msync:
		op.Code = model.Msync
	case b3.SyncFileRange:
		op.Code, op.Flags = model.SyncFileRange, unix.SYNC_FILE_RANGE_WAIT_BEFORE|
			unix.SYNC_FILE_RANGE_WRITE|unix.SYNC_FILE_RANGE_WAIT_AFTER
	case b3.Clone:
		op = model.Op{Code: model.Clone, Slot: r.slots[s.To], Off: s.Len, From: op.Slot,
			FromOff: s.Range.Off, Len: s.Range.Len}
	case b3.Falloc:
		op.Code, op.Flags = model.Fallocate, int(s.Mode.Bits())
	case b3.Fsync:
		op = model.Op{Code: model.Fsync, Slot: op.Slot}
	case b3.Fdatasync:
		op = model.Op{Code: model.Fdatasync, Slot: op.Slot}
	case b3.Sync:
		op = model.Op{Code: model.Sync}
	case b3.Mkdir, b3.Subvolume:
		r.dirs[s.Name] = true
		op = byPath(s)
	default:
		op = byPath(s)
	}
	return []model.Op{op}
}

// write makes an operation one that writes data which the workload has not written before.
func (r *workloadRun) write(code model.Code, op model.Op) model.Op {
	r.written++
	op.Code, op.Seed = code, r.written
	return op
}

// mapped returns a write through a mapping. A mapping does not make a file larger, so the last byte
// is written first.
func (r *workloadRun) mapped(op model.Op) []model.Op {
	last := op
	last.Off, last.Len = op.Off+op.Len-1, 1
	return append([]model.Op{r.write(model.Write, last)}, r.writes(model.Mmapwrite, op)...)
}

// writes returns a write as calls that the agent takes.
func (r *workloadRun) writes(code model.Code, op model.Op) (ops []model.Op) {
	for op.Len > agent.MaxData {
		piece := op
		piece.Len = agent.MaxData
		ops = append(ops, r.write(code, piece))
		op.Off, op.Len = op.Off+piece.Len, op.Len-piece.Len
	}
	return append(ops, r.write(code, op))
}

// byPath returns the operation of a step that uses no open file.
func byPath(s b3.Step) model.Op {
	p, to := path.Join("/", s.Name), path.Join("/", s.To)
	switch s.Verb {
	case b3.Mkdir:
		return model.Op{Code: model.Mkdir, Path: p, Mode: 0o755}
	case b3.Subvolume:
		return model.Op{Code: model.Subvolume, Path: p}
	case b3.Snapshot:
		return model.Op{Code: model.Snapshot, Path: p, To: to}
	case b3.DeleteSubvolume:
		return model.Op{Code: model.DeleteSubvolume, Path: p}
	case b3.Rmdir:
		return model.Op{Code: model.Rmdir, Path: p}
	case b3.Unlink, b3.Remove, b3.Orphan:
		return model.Op{Code: model.Unlink, Path: p}
	case b3.Link:
		return model.Op{Code: model.Link, Path: p, To: to}
	case b3.Rename:
		return model.Op{Code: model.Rename, Path: p, To: to}
	case b3.Exchange:
		return model.Op{Code: model.Rename, Path: p, To: to, Flags: unix.RENAME_EXCHANGE}
	case b3.Mknod:
		return model.Op{Code: model.Mknod, Path: p, Mode: unix.S_IFIFO | 0o644}
	case b3.Symlink:
		return model.Op{Code: model.Symlink, Path: p, To: s.To}
	case b3.Truncate:
		return model.Op{Code: model.Truncate, Path: p, Len: s.Len}
	case b3.Chmod:
		return model.Op{Code: model.Chmod, Path: p, Mode: s.Perm}
	case b3.Chattr:
		return model.Op{Code: model.Setflags, Path: p, Flags: int(s.FlagBits())}
	case b3.Setxattr:
		return model.Op{Code: model.Setxattr, Path: p, Name: s.Attribute(), Value: "1"}
	case b3.Removexattr:
		return model.Op{Code: model.Removexattr, Path: p, Name: s.Attribute()}
	}
	return model.Op{} // translate has the other verbs
}

// A workload has no more files open than the agent holds from one batch to the next.
const _ = uint(agent.MaxSlots - agent.FirstHeld - b3.MaxOpen)

// open returns the operation that opens a file or a directory, and gives it a slot: one of those
// that stay open from one batch to the next.
func (r *workloadRun) open(s b3.Step) model.Op {
	slot := uint32(agent.FirstHeld)
	for slices.Contains(slices.Collect(maps.Values(r.slots)), slot) {
		slot++
	}
	r.slots[s.Name] = slot
	if s.Verb == b3.Creat {
		return model.Op{Code: model.Open, Slot: slot, Path: "/" + s.Name, Mode: 0o644,
			Flags: unix.O_RDWR | unix.O_CREAT | unix.O_EXCL}
	}
	o := model.Op{Code: model.Open, Slot: slot, Path: "/" + strings.TrimPrefix(s.Name, "/"),
		Flags: unix.O_RDWR}
	if r.dirs[s.Name] || b3.IsDirectory(s.Name) {
		o.Flags = unix.O_RDONLY
	}
	return o
}
