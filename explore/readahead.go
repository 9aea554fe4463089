package explore

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// maxAhead bounds the reads that are sent ahead.
const maxAhead = 512

// lookCodes are the operations that only read a tree.
var lookCodes = []agent.Code{agent.Tree("").Code, agent.Stat("").Code, agent.Readdir("").Code,
	agent.Readlink("").Code, agent.Listxattr("").Code, agent.Getxattr("", "").Code}

// A readAhead is a System on which a crash state is recovered. A round trip to an emulated guest
// takes longer than most reads, and a checker reads much the same after each recovery. So the
// readAhead appends to the mount the reads that the last recovery asked for, and answers them from
// memory as long as nothing else was done. It answers no read that was not done after the mount.
type readAhead struct {
	System
	top     string                  // path at which the top of the stack is mounted
	reads   []agent.Op              // to do after the mount
	answers map[string]agent.Result // of reads; nil: they are not valid
	asked   []agent.Op              // the reads of this recovery
}

// next returns a readAhead for the next recovery, which reads what this one has asked for. The
// first one, after a nil readAhead, reads the tree.
func (a *readAhead) next(s System, top string) *readAhead {
	n := &readAhead{System: s, top: top}
	switch {
	case a == nil:
		n.reads = []agent.Op{agent.Tree(top)}
	case len(a.asked) == 0:
		n.reads = a.reads
	default:
		n.reads = a.asked
	}
	return n
}

// readKey identifies an operation with its arguments.
func readKey(o agent.Op) string {
	slot, numbers, texts, data := o.Fields()
	return fmt.Sprintf("%d %d %d %q %q", o.Code, slot, numbers, texts, data)
}

// isLook reports whether an operation only reads a tree.
func isLook(o agent.Op) bool { return slices.Contains(lookCodes, o.Code) }

// Run runs a command, which may change the tree.
func (a *readAhead) Run(ctx context.Context, c agent.Command) (agent.Exit, error) {
	a.answers = nil
	return a.System.Run(ctx, c)
}

// Do answers reads that were done ahead, and performs all other batches.
func (a *readAhead) Do(ctx context.Context, b agent.Batch) (agent.Done, error) {
	if slices.ContainsFunc(b.Ops, func(o agent.Op) bool { return !isLook(o) }) {
		a.answers = nil
		if len(b.Ops) == 1 && b.Ops[0].Code == mountCode {
			if _, _, texts, _ := b.Ops[0].Fields(); texts[1] == a.top {
				return a.mount(ctx, b)
			}
		}
		return a.System.Do(ctx, b)
	}
	for _, o := range b.Ops {
		if !slices.ContainsFunc(a.asked, func(p agent.Op) bool { return readKey(o) == readKey(p) }) &&
			len(a.asked) < maxAhead {
			a.asked = append(a.asked, o)
		}
	}
	var known agent.Done
	for _, o := range b.Ops {
		r, ok := a.answers[readKey(o)]
		if !ok {
			return a.System.Do(ctx, b)
		}
		known.Results = append(known.Results, r)
		if r.Errno != 0 && b.StopAtError {
			break
		}
	}
	return known, nil
}

// mount performs a batch that mounts the top of the stack, and the reads after it.
func (a *readAhead) mount(ctx context.Context, b agent.Batch) (agent.Done, error) {
	own := len(b.Ops)
	b.Ops, b.StopAtError = slices.Concat(b.Ops, a.reads), false
	done, err := a.System.Do(ctx, b)
	if err != nil || len(done.Results) < own {
		return done, err
	}
	if done.Results[0].Errno == 0 {
		a.answers = make(map[string]agent.Result)
		for i, r := range done.Results[own:] {
			// The data of all answers has one bound, so that a read alone may succeed.
			if r.Errno != unix.EOVERFLOW {
				a.answers[readKey(b.Ops[own+i])] = r
			}
		}
	}
	done.Results, done.TimedOut = done.Results[:own], false
	return done, nil
}
