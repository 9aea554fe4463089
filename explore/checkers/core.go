// Package checkers has the checkers that fsward ships: each drives a file system through all small topologies, and asks one question
// of it.
package checkers

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/model"
)

// Limits bound what the checkers make.
type Limits struct {
	Files int // files and symbolic links, by name; 0: 2
	Dirs  int // directories beside the root; 0: 2
	// Far is where a write leaves a hole before it, in bytes, so that a block map has indirect blocks; 0: 300 KiB.
	Far uint64
}

func (l Limits) or() Limits {
	if l.Files == 0 {
		l.Files = 2
	}
	if l.Dirs == 0 {
		l.Dirs = 2
	}
	if l.Far == 0 {
		l.Far = 300 << 10
	}
	return l
}

// Core is what the checkers have in common, and what others can be made of: an abstract file system beside the real one, and the operations that can be done to it.
type Core struct {
	At       string // where the file system is mounted
	Promises model.Promises
	Limits   Limits

	fs   *model.FS
	torn bool // a write failed in its middle: nobody knows what the file has, and nothing more is done
}

// Init begins with an empty file system.
func (c *Core) Init(*explore.Env) error {
	c.Limits, c.torn = c.Limits.or(), false
	c.fs = model.New(c.Promises)
	return nil
}

// Finish does nothing.
func (c *Core) Finish(*explore.Env) error { return nil }

// Signature is that of the topology, and of what of it is on the disk.
func (c *Core) Signature(*explore.Env) ([]byte, error) {
	if c.torn {
		return []byte("torn"), nil
	}
	return c.fs.StableSignature(), nil
}

// Step performs operations, in one batch, here and there. A *Found says where the real file system gives something else.
func (c *Core) Step(e *explore.Env, ops []model.Op) error {
	calls := make([]callOp, len(ops))
	for i, o := range ops {
		calls[i] = o.Call(c.At)
	}
	results, err := e.Try(calls...)
	if err != nil {
		return err
	}
	defer c.fs.CloseAll()
	for i, o := range ops {
		is := model.Result{Errno: results[i].Errno}
		if is.Errno == 0 {
			is.Value, is.Data = results[i].Value, string(results[i].Data)
		}
		if err := c.judge(o, is); err != nil {
			return err
		}
	}
	return nil
}

// resource are errors that any operation may give when the machine cannot: memory, space, the disk. EROFS follows when a file system
// has gone read-only for it.
var resource = []unix.Errno{unix.ENOMEM, unix.ENOSPC, unix.EIO, unix.EDQUOT, unix.EROFS, unix.EUCLEAN, unix.EFAULT}

// judge compares what an operation gave with what it gives in the model, and performs it there if it succeeded.
func (c *Core) judge(o model.Op, is model.Result) error {
	if is.Errno != 0 {
		want := c.fs.Clone().Apply(o)
		if o.Code == model.Write && slices.Contains(resource, is.Errno) {
			c.torn = true
		}
		if want.Errno != is.Errno && !slices.Contains(resource, is.Errno) {
			return explore.Failuref("wrong result", "%v gives %s, and should give %s", o, name(is.Errno), name(want.Errno))
		}
		return nil
	}
	if o.Code == model.Write && is.Value < o.Len { // a short write is no error
		o.Len = is.Value
	}
	if want := c.fs.Apply(o); want != is {
		return explore.Failuref("wrong result", "%v gives %s %d %.40q, and should give %s %d %.40q", o, name(is.Errno), is.Value, is.Data, name(want.Errno),
			want.Value, want.Data)
	}
	return nil
}

func name(e unix.Errno) string {
	if e == 0 {
		return "success"
	}
	return unix.ErrnoName(e)
}

// Synced tells the core that all is on the disk, as after an unmount.
func (c *Core) Synced() { c.fs.Synced() }

// look reads the real file system for a model of it.
func look(e *explore.Env, at string, f *model.FS) (*model.Observed, error) {
	s, err := model.Look(e.Try, at, f)
	return s, found(err)
}

// found makes what a model says one of the explorer's.
func found(err error) error {
	var w *model.Mismatch
	if errors.As(err, &w) {
		return &explore.Failure{Kind: w.Kind, Text: w.Text}
	}
	return err
}

// Same holds the whole real file system against the model.
func (c *Core) Same(e *explore.Env) error {
	s, err := look(e, c.At, c.fs)
	if err != nil {
		return err
	}
	return found(c.fs.Equal(s))
}

// allowed holds what was recovered against what may be there.
func allowed(e *explore.Env, at string, f *model.FS) error {
	s, err := look(e, at, f)
	if err == nil {
		err = found(f.Allowed(s))
	}
	if err != nil {
		return err
	}
	// It may be lost, and is not: nobody promised more of it than of what the recovery leaves.
	if what := s.Unreadable(); what != "" {
		return &explore.Failure{Kind: "unreadable", Property: explore.Recovered, Text: what}
	}
	return nil
}

// choose takes one of several steps.
func choose(e *explore.Env, steps [][]model.Op) []model.Op {
	return steps[e.ChooseAt(uint32(len(steps)), "operation")]
}

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
