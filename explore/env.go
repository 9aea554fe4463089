package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// opTimeout bounds one request of a component or a checker, in the guest. What takes longer hangs.
const opTimeout = time.Minute

// An Env is what a component or a checker can do. When the machine fails that is kept: all that follows fails with the same error,
// and the explorer sees it whatever the checker makes of it. Used by one goroutine.
type Env struct {
	ctx     context.Context
	system  System
	chooser *Chooser
	windows []window
	open    bool // a window has a start and no end yet
	frozen  bool // crashes are being checked: Check must not ask for more
	kernel  []string
	heard   int      // how many of them the session has taken
	did     []string // operations and commands, for people
	fail    *failer  // of the first Try; nil: nothing fails
	account bool     // calls that promise durability are marked in the log
	calls   []promise
	soft    *processCrasher // nil: system calls are not counted
	turns   *turns          // nil: threads run as they like
	err     error
}

// A window is where crashes are to be tried.
type window struct {
	now           bool // start and end are one
	before, after any
	from, to      int // system calls that were done at the start and at the end, where they are counted
}

// NewEnv returns an Env for tests of components and checkers, which the explorer makes itself.
func NewEnv(ctx context.Context, s System, c *Chooser) *Env {
	return &Env{ctx: ctx, system: s, chooser: c}
}

// A CommandError is a command that did not succeed.
type CommandError struct {
	Command string
	Exit    agent.Exit
}

func (e *CommandError) Error() string {
	how := fmt.Sprintf("exit status %d", e.Exit.Code)
	switch {
	case e.Exit.TimedOut:
		how = fmt.Sprintf("did not end within %v", opTimeout)
	case e.Exit.Signal != 0:
		how = "killed by " + e.Exit.Signal.String()
	}
	return fmt.Sprintf("%s: %s: %s", e.Command, how, strings.TrimSpace(string(e.Exit.Stderr)+string(e.Exit.Stdout)))
}

// An OpError is an operation that did not succeed.
type OpError struct {
	Op    agent.Op
	Errno unix.Errno
}

func (e *OpError) Error() string { return fmt.Sprintf("%v: %v", e.Op, e.Errno) }

// Unwrap returns the error number.
func (e *OpError) Unwrap() error { return e.Errno }

// Choose returns one of 0 to n-1. The explorer sees to it that each of them is returned once, after what was chosen before it.
func (e *Env) Choose(n uint32) uint32 {
	site := "unknown"
	if _, file, line, ok := runtime.Caller(1); ok {
		site = fmt.Sprintf("%s:%d", filepath.Base(file), line)
	}
	return e.ChooseAt(n, site)
}

// ChooseAt is Choose, of a caller that says where it is.
func (e *Env) ChooseAt(n uint32, site string) uint32 { return e.chooser.Choose(n, site) }

// Run runs a program. How it ended is no error.
func (e *Env) Run(args ...string) (agent.Exit, error) {
	return e.RunCommand(agent.Command{Args: args, Timeout: opTimeout})
}

// RunCommand runs a program with all that can be said of it.
func (e *Env) RunCommand(c agent.Command) (agent.Exit, error) {
	if e.err != nil || e.ended() {
		return agent.Exit{}, cmp.Or(e.err, errCut)
	}
	run := e.system.Run
	if e.soft != nil {
		run = func(ctx context.Context, c agent.Command) (agent.Exit, error) { return e.soft.run(ctx, e.system, c) }
	}
	exit, err := run(e.ctx, c)
	e.noteKernel(exit.Kernel)
	what := strings.Join(c.Args, " ")
	e.note(strings.TrimPrefix(what, "sh -c "), exit.Code != 0, exit.Code)
	if err == nil && e.ended() {
		return exit, errCut
	}
	return exit, e.failed(err)
}

// Sh runs a line of shell. A *CommandError says that it did not succeed.
func (e *Env) Sh(format string, args ...any) error {
	line := fmt.Sprintf(format, args...)
	exit, err := e.Run("sh", "-c", line)
	if err == nil && (exit.Code != 0 || exit.TimedOut) {
		err = &CommandError{line, exit}
	}
	return err
}

// Try performs operations, all of them, and returns what each gave. Where the explorer has the kernel fail, it is in the first Try of a
// Mutate.
func (e *Env) Try(ops ...agent.Op) ([]agent.Result, error) {
	if e.fail != nil && !e.fail.done {
		results, err := e.batch(agent.Batch{Ops: e.fail.wrap(ops), Timeout: opTimeout})
		if err == nil {
			results, err = e.fail.unwrap(results)
			_ = e.failed(err)
		}
		return results, err
	}
	return e.batch(agent.Batch{Ops: ops, Timeout: opTimeout})
}

// Do performs operations up to the first that fails, with an *OpError. Slots of files are closed when it returns.
func (e *Env) Do(ops ...agent.Op) ([]agent.Result, error) {
	results, err := e.batch(agent.Batch{Ops: ops, StopAtError: true, Timeout: opTimeout})
	if n := len(results); err == nil && n > 0 && results[n-1].Errno != 0 {
		err = &OpError{ops[n-1], results[n-1].Errno}
	}
	return results, err
}

func (e *Env) batch(b agent.Batch) ([]agent.Result, error) {
	if e.err != nil || e.ended() {
		return nil, cmp.Or(e.err, errCut)
	}
	if e.soft != nil {
		b = e.soft.do(b)
	}
	done, err := e.perform(b)
	e.noteKernel(done.Kernel)
	for i, r := range done.Results {
		e.note(b.Ops[i].String(), r.Errno != 0, r.Errno)
	}
	if err == nil && done.TimedOut {
		err = Failuref("hang", "%v did not end within %v", b.Ops[len(done.Results)], opTimeout)
	}
	if err == nil && e.ended() {
		return nil, errCut
	}
	return done.Results, e.failed(err)
}

// ended tells whether the program of a step was ended: it does no more.
func (e *Env) ended() bool { return e.soft != nil && e.soft.cut }

// Fsync opens a file or a directory, calls fsync(2), and closes it.
func (e *Env) Fsync(path string) error {
	_, err := e.Do(agent.Open(0, path, unix.O_RDONLY, 0), agent.Fsync(0))
	return err
}

// Sync calls sync(2).
func (e *Env) Sync() error {
	_, err := e.Do(agent.Sync())
	return err
}

// ReadFile returns the first MiB of a file.
func (e *Env) ReadFile(path string) ([]byte, error) {
	r, err := e.Do(agent.Open(0, path, unix.O_RDONLY, 0), agent.Read(0, 0, agent.MaxData))
	if err != nil {
		return nil, err
	}
	return r[1].Data, nil
}

// Mark adds a record of the user's own to the log, of 1 to 200 bytes: in what CheckCrashes… makes of it, it tells nothing apart.
func (e *Env) Mark(text string) error { return e.mark(markUser, text) }

// CheckCrashesNow has crashes tried at this moment. expect is passed to Check.
func (e *Env) CheckCrashesNow(expect any) error {
	if err := e.mayCheck(false); err != nil {
		return err
	}
	e.windows = append(e.windows, window{now: true, before: expect, after: expect})
	return e.mark(markNow, fmt.Sprint(len(e.windows)-1))
}

// CheckCrashesStart has crashes tried from this moment on, up to CheckCrashesEnd. before is passed to Check.
func (e *Env) CheckCrashesStart(before any) error {
	if err := e.mayCheck(false); err != nil {
		return err
	}
	e.windows = append(e.windows, window{before: before, from: e.counted()})
	e.open = true
	return e.mark(markStart, fmt.Sprint(len(e.windows)-1))
}

// CheckCrashesEnd ends what CheckCrashesStart began. after is passed to Check.
func (e *Env) CheckCrashesEnd(after any) error {
	if err := e.mayCheck(true); err != nil {
		return err
	}
	w := &e.windows[len(e.windows)-1]
	w.after, w.to = after, e.counted()
	e.open = false
	return e.mark(markEnd, fmt.Sprint(len(e.windows)-1))
}

// counted is how many system calls were done.
func (e *Env) counted() int {
	if e.soft == nil {
		return 0
	}
	return len(e.soft.calls)
}

func (e *Env) mayCheck(open bool) error {
	switch {
	case e.frozen:
		return errors.New("crashes cannot be asked for while one is checked")
	case open && !e.open:
		return errors.New("CheckCrashesEnd without CheckCrashesStart")
	case !open && e.open:
		return errors.New("CheckCrashesStart without CheckCrashesEnd")
	}
	return nil
}

// What the explorer's marks in the log begin with.
const (
	markUser  = "user "
	markStep  = "step " // the last Mutate of a run begins
	markNow   = "now "
	markStart = "start "
	markEnd   = "end "
)

func (e *Env) mark(kind, text string) error {
	if e.err != nil || e.ended() {
		return cmp.Or(e.err, errCut)
	}
	if kind != markStep {
		e.note(kind+text, false, 0)
	}
	return e.failed(e.system.Mark(e.ctx, kind+text))
}

// maxDid bounds what is noted of one Mutate.
const maxDid = 1000

func (e *Env) note(what string, failed bool, how any) {
	if len(e.did) >= maxDid {
		return
	}
	if failed {
		what += fmt.Sprintf(" = %v", how)
	}
	e.did = append(e.did, what)
}

// failed keeps a failure of the machine.
func (e *Env) failed(err error) error {
	if e.err == nil {
		e.err = err
	}
	return err
}

// Err returns how the machine failed, if it did.
func (e *Env) Err() error { return e.err }

func (e *Env) noteKernel(text string) {
	if text != "" {
		e.kernel = append(e.kernel, text)
	}
}
