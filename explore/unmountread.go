package explore

import (
	"context"
	"slices"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// An unmountThenRead is a System that reads a file with the batch that unmounts the top of the
// stack, and answers a reading of this file from the result. So both take one round trip.
type unmountThenRead struct {
	System
	top, file string
	read      []agent.Result // of the file; nil: it was not read, or something else was done since
}

// Do performs a batch.
func (u *unmountThenRead) Do(ctx context.Context, b agent.Batch) (agent.Done, error) {
	reading := []agent.Op{agent.Open(0, u.file, unix.O_RDONLY, 0), agent.Read(0, 0, agent.MaxData)}
	same := func(ops ...agent.Op) bool {
		return slices.EqualFunc(b.Ops, ops, func(o, p agent.Op) bool { return readKey(o) == readKey(p) })
	}
	if known := u.read; known != nil && same(reading...) {
		return agent.Done{Results: known}, nil
	}
	u.read = nil
	if u.top == "" || !same(agent.Unmount(u.top, 0)) {
		return u.System.Do(ctx, b)
	}
	b.Ops, b.StopAtError = slices.Concat(b.Ops, reading), true
	done, err := u.System.Do(ctx, b)
	if len(done.Results) == len(b.Ops) && done.Results[2].Errno == 0 {
		u.read = done.Results[1:]
	}
	done.Results = done.Results[:min(1, len(done.Results))]
	done.TimedOut = done.TimedOut && len(done.Results) == 0
	return done, err
}

// Run runs a command.
func (u *unmountThenRead) Run(ctx context.Context, c agent.Command) (agent.Exit, error) {
	u.read = nil
	return u.System.Run(ctx, c)
}
