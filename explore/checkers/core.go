// Package checkers contains the checkers that fsward ships. Each one drives a file system through
// all small trees of directories and files, and asks one question of it.
//
// Core is their common part: a model of the file system beside the real one, and the operations
// that can follow. Start reading there, then at Sync, the simplest checker for crashes. Script is
// a checker in a YAML file.
package checkers

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/model"
)

// Limits bound the trees that the checkers make.
type Limits struct {
	Files int // number of names of files and symbolic links; 0: 2; -1: none
	Dirs  int // number of directories below the root; 0: 2; -1: none
	// Far is the offset of a write that leaves a hole before it, in bytes, so that a block map has
	// indirect blocks. 0: 300 KiB.
	Far  uint64
	Name int // length of the longest name that the file system accepts, in bytes; 0: 255
	// Groups adds operations: see Groups.
	Groups []Group
	// Later adds operations that the strategy explore.Cover tries later than the others.
	Later []Group
	// Faults: calls inside the kernel may fail, so that any operation may return an error.
	Faults bool
}

// withDefaults returns the limits with defaults in place of zeros.
func (l Limits) withDefaults() Limits {
	if l.Files == 0 {
		l.Files = 2
	}
	if l.Dirs == 0 {
		l.Dirs = 2
	}
	if l.Name == 0 {
		l.Name = 255
	}
	if l.Far == 0 {
		l.Far = 300 << 10
	}
	return l
}

// A Core is the common part of the checkers, for embedding: a model of the file system, and the
// operations on both.
type Core struct {
	At       string // mount point
	Promises model.Promises
	Limits   Limits
	Watched  bool // each step is followed by a look at the whole tree: see watch

	fs    *model.FS
	lacks shortage
	// did are the operations of the last step that may have had an effect: one that found no space or
	// no inode has none, but for a write.
	did []model.Op
	// torn: a write or a sync failed, so that the content of a file is unknown. No further step is
	// done.
	torn bool
	// ranOut: an operation found no space or no inode.
	ranOut bool
	// faulty: the checker makes the disk fail.
	faulty bool
}

// Init begins with an empty model.
func (c *Core) Init(*explore.Env) error {
	c.Limits, c.torn, c.ranOut, c.faulty = c.Limits.withDefaults(), false, false, false
	c.lacks = shortage{}
	c.fs = model.New(c.Promises)
	return nil
}

// Finish does nothing.
func (c *Core) Finish(*explore.Env) error { return nil }

// Signature returns the signature of the tree and of the trees that a crash may leave.
func (c *Core) Signature(*explore.Env) ([]byte, error) {
	if c.torn {
		return []byte("torn"), nil
	}
	return c.fs.StableSignature(), nil
}

// Features returns the shape of the tree: the numbers of directories, of empty ones, of files and
// of symbolic links, the depth, and the number of names beside the first of each file.
func (c *Core) Features() []string {
	t := c.topology()
	empty, depth := 0, 0
	for _, d := range t.dirs {
		depth = max(depth, strings.Count(strings.TrimSuffix(d, "/"), "/"))
		if t.empty[d] {
			empty++
		}
	}
	return []string{fmt.Sprintf("%d directories, %d empty, depth %d, %d names of files, %d of them "+
		"extra, %d symlinks", len(t.dirs), empty, depth, len(t.files), c.fs.ExtraNames(), len(t.links))}
}

// Step performs operations on the file system, in one batch, and on the model. If the results
// differ, it returns an *explore.Failure.
func (c *Core) Step(e *explore.Env, ops []model.Op) error {
	_, err := c.stepAnd(e, ops, nil)
	return err
}

// stepAnd is Step with further operations at the end of the batch, which change nothing. It returns
// their results.
func (c *Core) stepAnd(e *explore.Env, ops []model.Op, then []agent.Op) ([]agent.Result, error) {
	if !c.Watched || c.faulty || c.Limits.Faults {
		results, err := c.try(e, slices.Concat(c.calls(ops), then))
		if err == nil {
			err = c.checkResults(e, ops, results)
		}
		if err != nil {
			return nil, err
		}
		return results[len(ops):], nil
	}
	look := []agent.Op{agent.Tree(c.At)}
	if n := len(ops); n > 0 && ops[n-1].Code == model.DropCaches {
		look = append(look, c.calls(ops[n-1:])...) // the look fills them again
	}
	results, err := c.try(e, slices.Concat([]agent.Op{agent.Clock()}, c.calls(ops), then, look))
	if err != nil {
		return nil, err
	}
	end := len(results) - len(look)
	clock, tree := results[0], results[end]
	results, moment := results[1:end], c.fs.Moment()
	if err := c.checkResults(e, ops, results); err != nil {
		return nil, err
	}
	return results[len(ops):], c.checkTree(e, tree, moment, int64(clock.Value))
}

// checkResults compares the results of operations with those of the model, and changes the model.
func (c *Core) checkResults(e *explore.Env, ops []model.Op, results []agent.Result) error {
	if c.did = ops; inAnyOrder(ops) {
		return c.checkOrders(e, ops, results)
	}
	defer c.fs.CloseAll()
	c.did = nil
	space := spaceOf(e, c.At)
	for i, o := range ops {
		is := model.Result{Errno: results[i].Errno}
		if is.Errno == 0 {
			is.Value, is.Data = results[i].Value, string(results[i].Data)
		}
		if err := c.checkResult(o, is); err != nil {
			return err
		}
		if is.Errno != unix.ENOSPC || writesBack(o.Code) {
			c.did = append(c.did, o)
		}
		c.lacks.note(o)
		if err := c.checkCause(o, is.Errno, space); err != nil {
			return err
		}
	}
	return nil
}

// try performs calls. It returns the result of each operation, of which one call may have two.
func (c *Core) try(e *explore.Env, calls []agent.Op) (out []agent.Result, err error) {
	results, err := e.Try(calls...)
	if err != nil {
		return nil, err
	}
	for i, r := range results {
		if _, _, both := calls[i].Both(); !both {
			out = append(out, r)
			continue
		}
		first, second, err := agent.BothResults(r.Data)
		if err = errors.Join(r.Err(), err); err != nil {
			return nil, fmt.Errorf("%v: %w", calls[i], err)
		}
		out = append(out, first, second)
	}
	return out, nil
}

// calls returns operations as calls of the agent. Two that are performed at once are one call.
func (c *Core) calls(ops []model.Op) (out []agent.Op) {
	for i, o := range ops {
		call := o.Call(c.At)
		if i > 0 && o.AtOnce {
			last := len(out) - 1
			out[last] = agent.Together(out[last], call)
			continue
		}
		out = append(out, call)
	}
	return out
}

// unmounted records an unmount: everything is durable, and held files are closed.
func (c *Core) unmounted() {
	c.fs.CloseHeld()
	c.fs.Synced()
}

// checkResult compares the result of an operation with that of the model. If the operation
// succeeded, it also changes the model.
func (c *Core) checkResult(o model.Op, is model.Result) error {
	if is.Errno != 0 {
		want := c.fs.Clone().Apply(o)
		isResource := isResourceError(o.Code, is.Errno)
		switch {
		case o.Code == model.Write && is.Errno == unix.ENOSPC && c.lacks.space:
			c.fs.Refused(o)
		case writesBack(o.Code) && isResource && is.Errno != want.Errno:
			c.torn = true
		}
		if want.Errno != is.Errno && !isResource && !isLongTarget(o, is.Errno) &&
			!isLinkLimit(c.fs, o, is.Errno) && !isRefusedMode(c.Promises, o, is.Errno) &&
			!isUnknownIoctl(want.Errno, is.Errno) {
			return explore.Failuref("wrong result", "%v gives %s, and should give %s",
				o, name(is.Errno), name(want.Errno))
		}
		return nil
	}
	if o.Code == model.Write && is.Value < o.Len { // a short write is allowed
		o.Len = is.Value
	}
	if o.Code == model.Fiemap && is.Value > 0 {
		return explore.Failuref("extents", "%s has data at offset %d, and FIEMAP lists no written "+
			"extent there", o.Path, is.Value-1)
	}
	if want := c.fs.Apply(o); want != is {
		return explore.Failuref("wrong result",
			"%v gives %s %d %.40q, and should give %s %d %.40q",
			o, name(is.Errno), is.Value, is.Data, name(want.Errno), want.Value, want.Data)
	}
	return nil
}

// writesBack reports whether an operation writes data, its own or what earlier operations wrote. If
// it fails, that data may be lost: "data written to it may have been lost" (fsync(2), EIO).
func writesBack(c model.Code) bool {
	switch c {
	case model.Write, model.Dwrite, model.Dwrites, model.Mmapwrite, model.Msync,
		model.SyncFileRange, model.Fallocate,
		model.Clone, model.Dedupe, model.Fsync, model.Fdatasync, model.Syncfs, model.Sync:
		return true
	}
	return false
}

// name returns the symbol of an error number.
func name(e unix.Errno) string {
	if e == 0 {
		return "success"
	}
	return unix.ErrnoName(e)
}

// Synced makes everything in the model durable, as after an unmount.
func (c *Core) Synced() { c.fs.Synced() }

// look reads the tree of the real file system for a comparison with f.
func look(e *explore.Env, at string, f *model.FS) (*model.Observed, error) {
	s, err := model.Look(e.Try, at, f)
	return s, asFailure(err)
}

// asFailure converts a mismatch to a failure, and returns other errors unchanged.
func asFailure(err error) error {
	var m *model.Mismatch
	if errors.As(err, &m) {
		return &explore.Failure{Kind: m.Kind, Text: m.Text}
	}
	return err
}

// Same compares the whole file system with the model.
func (c *Core) Same(e *explore.Env) error {
	s, err := look(e, c.At, c.fs)
	if err != nil {
		return err
	}
	return asFailure(c.fs.Equal(s))
}

// checkAllowed checks that a crash in the state f may leave the tree of the file system mounted at
// at.
func checkAllowed(e *explore.Env, at string, f *model.FS) error {
	s, err := look(e, at, f)
	if err == nil {
		err = asFailure(f.Allowed(s))
	}
	if err != nil {
		return err
	}
	// The unreadable file could have been lost, so no promise about data is broken. But recovery
	// must not leave names of unreadable files.
	if text := s.Unreadable(); text != "" {
		return &explore.Failure{Kind: "unreadable", Property: explore.Recovered, Text: text}
	}
	for _, surprise := range f.Surprises(s) {
		e.Surprise(surprise.Kind, "", surprise.Text)
	}
	return nil
}

// choose returns one of the Steps, or of more that are as common.
func (c *Core) choose(e *explore.Env, more ...[]model.Op) []model.Op {
	ops, _ := c.chooseOr(e, 0, 0, more...)
	return ops
}

// chooseOr is choose among others as well, which are less common: early ones, and late ones after
// the Steps of Limits.Later. If it chooses one of these, it returns nil and its number, from 0.
func (c *Core) chooseOr(e *explore.Env, early, late int,
	more ...[]model.Op) (ops []model.Op, other int) {
	steps, common := c.Steps()
	steps = slices.Insert(steps, common, more...)
	common += len(more)
	n := len(steps) + early + late
	bound := common
	if bound == n {
		bound = 0
	}
	i := int(e.ChooseCommon(uint32(n), uint32(bound), "operation"))
	switch {
	case i < common:
		return steps[i], 0
	case i < common+early:
		return nil, i - common
	case i < len(steps)+early:
		return steps[i-early], 0
	}
	return nil, i - len(steps)
}

// describe returns operations as text.
func describe(ops []model.Op) string {
	s := ""
	for i, o := range ops {
		if i > 0 {
			s += "; "
		}
		s += fmt.Sprint(o)
	}
	return s
}
