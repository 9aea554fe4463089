package explore

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// An interceptor stands between a checker and the machine, in the path of an Env. Each method gets
// a request and next, which passes a request on towards the machine, and returns the answer.
type interceptor interface {
	batch(e *Env, r request, next sendBatch) (agent.Done, error)
	command(e *Env, c agent.Command, next sendCommand) (agent.Exit, error)
	mark(e *Env, text string, next sendMark) error
	// promised surrounds a call that promises durability: Env.Promised.
	promised(e *Env, p promise, next func() error) error
}

type (
	sendBatch   func(r request) (agent.Done, error)
	sendCommand func(c agent.Command) (agent.Exit, error)
	sendMark    func(text string) error
)

// A request is a batch of operations on its way to the machine.
type request struct {
	agent.Batch
	bare bool // no interceptor may add operations, since faults would be injected into them, too
}

// passThrough passes every request on. Interceptors embed it.
type passThrough struct{}

func (passThrough) batch(_ *Env, r request, next sendBatch) (agent.Done, error) { return next(r) }

func (passThrough) command(_ *Env, c agent.Command, next sendCommand) (agent.Exit, error) {
	return next(c)
}

func (passThrough) mark(_ *Env, text string, next sendMark) error { return next(text) }

func (passThrough) promised(_ *Env, _ promise, next func() error) error { return next() }

// interceptors has the interceptors of one Env. A nil field means none of that kind.
type interceptors struct {
	faults   *faultInjector
	mounts   *mountFaultInjector
	process  *processCrasher
	threads  *threadScheduler
	promises *promiseMarker
	coverage *coverageRecorder
	pulse    *pulse
	kernel   bool          // the kernel's choices are explored
	limit    time.Duration // of the journal; 0: DefaultCommandLimit
}

// path lists them from the checker to the machine. The order has these reasons:
//   - a fault injector is first: the operations that it adds are counted, noted and sent as the
//     checker's own;
//   - the process crasher decides which operations remain, before they are noted;
//   - the journal notes the remaining operations, and not those that the explorer adds for itself,
//     and limits their time;
//   - the kernel's choices surround each request that the journal notes;
//   - the scheduler asks which threads ran around a call that makes data durable;
//   - the promise marker comes after these, so that nothing stands between its marks and the call;
//   - the coverage recorder and the pulse add no operation.
//
// Below all of them, a responseLog may take the place of the machine.
func (i interceptors) path() (out []interceptor) {
	if i.faults != nil {
		out = append(out, i.faults)
	}
	if i.mounts != nil {
		out = append(out, i.mounts)
	}
	if i.process != nil {
		out = append(out, i.process)
	}
	out = append(out, journal{limit: cmp.Or(i.limit, DefaultCommandLimit)})
	if i.kernel {
		out = append(out, kernelChooser{})
	}
	if i.threads != nil && len(i.threads.held) > 0 {
		out = append(out, i.threads)
	}
	if i.promises != nil {
		out = append(out, i.promises)
	}
	if i.coverage != nil {
		out = append(out, i.coverage)
	}
	if i.pulse != nil {
		out = append(out, i.pulse)
	}
	return out
}

// remove removes an interceptor from the path.
func (e *Env) remove(i interceptor) {
	e.path = slices.DeleteFunc(e.path, func(other interceptor) bool { return other == i })
}

// sendBatch passes a batch to interceptor i and those after it, and then to the machine.
func (e *Env) sendBatch(i int, r request) (agent.Done, error) {
	if i < len(e.path) {
		return e.path[i].batch(e, r, func(r request) (agent.Done, error) { return e.sendBatch(i+1, r) })
	}
	done, err := e.system.Do(e.ctx, r.Batch)
	e.kernel.add(done.Kernel)
	return done, err
}

func (e *Env) sendCommand(i int, c agent.Command) (agent.Exit, error) {
	if i < len(e.path) {
		next := func(c agent.Command) (agent.Exit, error) { return e.sendCommand(i+1, c) }
		return e.path[i].command(e, c, next)
	}
	exit, err := e.system.Run(e.ctx, c)
	e.kernel.add(exit.Kernel)
	return exit, err
}

func (e *Env) sendMark(i int, text string) error {
	if i < len(e.path) {
		return e.path[i].mark(e, text, func(text string) error { return e.sendMark(i+1, text) })
	}
	return e.system.Mark(e.ctx, text)
}

func (e *Env) sendPromised(i int, p promise, f func() error) error {
	if i < len(e.path) {
		return e.path[i].promised(e, p, func() error { return e.sendPromised(i+1, p, f) })
	}
	return f()
}

// A journal notes operations, commands and marks in readable form. It limits the time of a batch
// and of a command, and reports those that do not end.
type journal struct {
	passThrough
	limit time.Duration
}

func (j journal) batch(e *Env, r request, next sendBatch) (agent.Done, error) {
	r.Timeout = cmp.Or(r.Timeout, j.limit)
	done, err := next(r)
	for i, result := range done.Results {
		e.note(r.Ops[i].String(), result.Errno != 0, result.Errno)
	}
	if err == nil && done.TimedOut {
		err = Failuref("hang", "%v did not end within %v", r.Ops[len(done.Results)], r.Timeout)
	}
	return done, err
}

func (j journal) command(e *Env, c agent.Command, next sendCommand) (agent.Exit, error) {
	c.Timeout = cmp.Or(c.Timeout, j.limit)
	exit, err := next(c)
	line := strings.TrimPrefix(strings.Join(c.Args, " "), "sh -c ")
	e.note(line, exit.Code != 0, exit.Code)
	e.printed.add(line, exit)
	switch {
	case err != nil || !exit.TimedOut:
	case exit.Signal == unix.SIGKILL:
		err = &SlowError{Command: line, Limit: c.Timeout}
	default:
		err = Failuref("hang", "%s did not end within %v, and cannot be killed", line, c.Timeout)
	}
	return exit, err
}

func (journal) mark(e *Env, text string, next sendMark) error {
	if !strings.HasPrefix(text, markStep) {
		e.note(text, false, 0)
	}
	return next(text)
}

// A padded batch has operations of its own, and operations that an interceptor added.
type padded struct {
	ops   []agent.Op
	added []bool // by index in ops
}

// own appends an operation of the batch.
func (p *padded) own(op agent.Op) { p.ops, p.added = append(p.ops, op), append(p.added, false) }

// add appends an added operation.
func (p *padded) add(op agent.Op) { p.ops, p.added = append(p.ops, op), append(p.added, true) }

// strip returns the results of the batch's own operations. It passes the results of added
// operations to take, if take is not nil. It joins err and the errors of added operations that
// failed.
func (p *padded) strip(results []agent.Result, err error,
	take func(op agent.Op, r agent.Result) error) ([]agent.Result, error) {
	var own []agent.Result
	for i, r := range results {
		var wrong error
		switch {
		case !p.added[i]:
			own = append(own, r)
		case r.Errno != 0:
			wrong = fmt.Errorf("%v: %w", p.ops[i], r.Err())
		case take != nil:
			wrong = take(p.ops[i], r)
		}
		if wrong != nil {
			err = errors.Join(err, wrong)
		}
	}
	return own, err
}
