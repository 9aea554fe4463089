package checkers

import (
	"errors"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/model"
)

// checkTree compares the tree after a step with the model: names, kinds, links, modes, owners,
// sizes, checksums and times, and that holes have no data. It is read in the batch of the step, so
// that it takes no round trip. moment is that before the step, and clock the kernel's time then.
func (c *Core) checkTree(e *explore.Env, tree agent.Result, moment int, clock int64) error {
	switch {
	case c.torn, tree.Errno == unix.EOVERFLOW, tree.Errno == unix.ETIMEDOUT:
		return nil
	case tree.Errno != 0:
		return explore.Failuref("unreadable", "the tree cannot be read: %v", tree.Errno)
	}
	entries, err := agent.DecodeTree(tree.Data)
	if err != nil {
		return err
	}
	s, err := model.Observe(entries, c.Promises.Own...)
	if err != nil {
		return explore.Failuref("unreadable", "%v", err)
	}
	if err := model.DataInHole(entries); err != nil {
		return asFailure(err)
	}
	if !c.fs.Agrees(s) {
		again, err := look(e, c.At, c.fs)
		if err != nil {
			return err
		}
		if err := errors.Join(c.fs.Equal(again), s.Reread(again)); err != nil {
			return asFailure(err)
		}
	}
	return asFailure(c.fs.CheckTimes(s, moment, clock))
}
