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
//
// If the last recovery did nothing but these reads between its mount and its unmount, the unmount
// is appended, too. If this recovery then asks for something else, the crash state is put in and
// mounted again, so that the request meets the disks as they are right after the recovery.
type readAhead struct {
	System
	top     string                      // path at which the top of the stack is mounted
	reload  func(context.Context) error // puts the crash state in again
	reads   []agent.Op                  // to do after the mount
	answers map[string]agent.Result     // of reads; nil: they are not valid
	seen    transcript                  // of this recovery since its last mount
	looked  bool                        // something was read
	spoiled bool                        // a command or another mount came after that
	asked   []agent.Op                  // the reads of this recovery, each once
	keys    map[string]bool             // of asked
	whole   bool                        // the last recovery sent nothing but its mount
	phase   recoveryPhase
	missed  bool          // something that was not sent with the mount was asked before the unmount
	mounted agent.Batch   // the batch that mounted
	left    *agent.Result // of the unmount that was sent ahead, until it is asked; nil: none was
}

// A recoveryPhase says how far a recovery is.
type recoveryPhase int

const (
	beforeMount recoveryPhase = iota // nothing was sent
	afterMount                       // something was sent
	afterUnmount
)

// next returns a readAhead for the next recovery, which reads what this one has asked for. The
// first one, after a nil readAhead, reads the tree.
func (a *readAhead) next(s System, top string, reload func(context.Context) error) *readAhead {
	n := &readAhead{System: s, top: top, reload: reload, keys: make(map[string]bool)}
	n.whole = a != nil && a.phase == afterUnmount && !a.missed
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
	a.act()
	if err := a.miss(ctx); err != nil {
		return agent.Exit{}, err
	}
	return a.System.Run(ctx, c)
}

// Do answers reads and an unmount that were done ahead, and performs all other batches.
func (a *readAhead) Do(ctx context.Context, b agent.Batch) (agent.Done, error) {
	switch {
	case !slices.ContainsFunc(b.Ops, func(o agent.Op) bool { return !isLook(o) }):
		return a.look(ctx, b)
	case len(b.Ops) == 1 && readKey(b.Ops[0]) == readKey(a.unmount()) && a.phase == afterMount:
		return a.end(ctx, b)
	case len(b.Ops) == 1 && b.Ops[0].Code == mountCode && a.left == nil:
		if _, _, texts, _ := b.Ops[0].Fields(); texts[1] == a.top {
			return a.mount(ctx, b)
		}
	}
	if err := a.miss(ctx); err != nil {
		return agent.Done{}, err
	}
	done, err := a.System.Do(ctx, b)
	a.seen.add(b.Ops, done.Results)
	return done, err
}

// act notes that something is done whose results no transcript has.
func (a *readAhead) act() {
	a.spoiled = a.spoiled || a.looked
	a.seen = transcript{}
}

// told returns the answers that the recovery got since its mount; nil: it did something else, too.
func (a *readAhead) told() map[transcriptKey]agent.Result {
	if a == nil || a.spoiled {
		return nil
	}
	return a.seen.answers
}

// unmount returns the operation that unmounts the top of the stack.
func (a *readAhead) unmount() agent.Op { return agent.Unmount(a.top, 0) }

// look performs a batch of reads, or answers it from memory.
func (a *readAhead) look(ctx context.Context, b agent.Batch) (known agent.Done, err error) {
	a.looked = true
	keys := make([]string, len(b.Ops))
	for i, o := range b.Ops {
		keys[i] = readKey(o)
		if !a.keys[keys[i]] && len(a.asked) < maxAhead {
			a.keys[keys[i]] = true
			a.asked = append(a.asked, o)
		}
	}
	for _, key := range keys {
		r, ok := a.answers[key]
		if !ok {
			valid := a.answers // a read leaves them as they are
			if err := a.miss(ctx); err != nil {
				return agent.Done{}, err
			}
			a.answers = valid
			done, err := a.System.Do(ctx, b)
			a.learn(b.Ops, done.Results)
			return done, err
		}
		known.Results = append(known.Results, r)
		if r.Errno != 0 && b.StopAtError {
			break
		}
	}
	return known, nil
}

// miss prepares for a request that was not sent ahead. If the unmount was, it puts the crash state
// in and mounts it again. It returns a *DivergedError if that mount fails.
func (a *readAhead) miss(ctx context.Context) error {
	undo := a.left != nil
	a.answers, a.left = nil, nil
	if a.phase != afterUnmount {
		a.phase, a.missed = afterMount, true
	}
	if !undo {
		return nil
	}
	if err := a.reload(ctx); err != nil {
		return err
	}
	done, err := a.System.Do(ctx, a.mounted)
	if err != nil {
		return err
	}
	if err := agent.CheckResults(a.mounted.Ops, done.Results, a.mounted.Timeout); err != nil {
		want := Choice{N: 1, Site: "the same crash state mounted again"}
		return &DivergedError{Want: want, Got: Choice{Site: err.Error()}}
	}
	return nil
}

// end performs the unmount, unless it was done ahead.
func (a *readAhead) end(ctx context.Context, b agent.Batch) (agent.Done, error) {
	a.act()
	r := a.left
	a.answers, a.left, a.phase = nil, nil, afterUnmount
	if r == nil {
		return a.System.Do(ctx, b)
	}
	return agent.Done{Results: []agent.Result{*r}}, nil
}

// mount performs a batch that mounts the top of the stack, the reads after it, and the unmount if
// the last recovery needed nothing else.
func (a *readAhead) mount(ctx context.Context, b agent.Batch) (agent.Done, error) {
	a.act()
	a.mounted, a.answers = b, nil
	early := a.whole && a.phase == beforeMount
	if a.phase == beforeMount {
		a.phase = afterMount
	}
	b.Ops, b.StopAtError = slices.Concat(b.Ops, a.reads), false
	if early {
		b.Ops = append(b.Ops, a.unmount())
	}
	done, err := a.System.Do(ctx, b)
	if err != nil || len(done.Results) == 0 {
		return done, err
	}
	if done.Results[0].Errno == 0 {
		a.keep(b.Ops[1:], done.Results[1:], early)
	}
	done.Results, done.TimedOut = done.Results[:1], false
	return done, nil
}

// keep remembers the results of the operations after the mount. The last one is the unmount, if it
// was sent early.
func (a *readAhead) keep(ops []agent.Op, results []agent.Result, early bool) {
	if early && len(results) == len(ops) {
		last := len(results) - 1
		a.left, results = &results[last], results[:last]
	}
	a.answers = make(map[string]agent.Result)
	a.learn(ops, results)
}

// learn remembers the results of reads.
func (a *readAhead) learn(ops []agent.Op, results []agent.Result) {
	a.seen.add(ops, results)
	for i, r := range results {
		// The data of all answers has one bound, so that a read alone may succeed.
		if a.answers != nil && r.Errno != unix.EOVERFLOW {
			a.answers[readKey(ops[i])] = r
		}
	}
}
