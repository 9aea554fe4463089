package explore

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// opTimeout bounds the duration of one request of the explorer itself. A request that takes longer
// hangs.
const opTimeout = time.Minute

// maxNotes bounds the lines of Env.did.
const maxNotes = 1000

// An Env gives a component or a checker access to the machine. It keeps the first error of the
// machine: every later request fails with the same error, and the explorer sees it even if the
// checker ignores it. An Env is used by one goroutine.
type Env struct {
	ctx     context.Context
	system  System
	chooser *Chooser
	path    []interceptor // from the checker to the machine
	windows crashWindows
	kernel  kernelLog
	printed printLog

	commands commandCount // of the checker

	tree treeMemo // the tree that was read last

	surprises []*Failure
	did       []string // operations, commands and marks, in readable form
	err       error    // the first error of the machine
}

// NewEnv returns an Env whose only interceptor is the journal. The explorer uses it outside the
// last step of an execution, and tests use it for components and checkers.
func NewEnv(ctx context.Context, s System, c *Chooser) *Env {
	return newEnv(ctx, s, c, interceptors{})
}

func newEnv(ctx context.Context, s System, c *Chooser, i interceptors) *Env {
	return &Env{ctx: ctx, system: s, chooser: c, path: i.path()}
}

// A CommandError is a command that did not succeed.
type CommandError struct {
	Command string
	Exit    agent.Exit
}

func (e *CommandError) Error() string {
	how := fmt.Sprintf("exit status %d", e.Exit.Code)
	if e.Exit.Signal != 0 {
		how = "killed by " + e.Exit.Signal.String()
	}
	output := strings.TrimSpace(string(e.Exit.Stderr) + string(e.Exit.Stdout))
	return fmt.Sprintf("%s: %s: %s", e.Command, how, output)
}

// An OpError is an operation that did not succeed.
type OpError struct {
	Op    agent.Op
	Errno unix.Errno
}

func (e *OpError) Error() string { return fmt.Sprintf("%v: %v", e.Op, e.Errno) }

// Unwrap returns the error number.
func (e *OpError) Unwrap() error { return e.Errno }

// Choose returns a value from 0 to n-1. The explorer arranges that, after the same earlier choices,
// it returns each of them once. The site of the choice is the caller's line.
func (e *Env) Choose(n uint32) uint32 {
	site := "unknown"
	if _, file, line, ok := runtime.Caller(1); ok {
		site = fmt.Sprintf("%s:%d", filepath.Base(file), line)
	}
	return e.ChooseAt(n, site)
}

// ChooseAt is Choose for a caller that names its own site.
func (e *Env) ChooseAt(n uint32, site string) uint32 { return e.chooser.Choose(n, site) }

// ChooseCommon is ChooseAt among alternatives of which the first common ones are more promising.
// The strategy Cover tries the others later.
func (e *Env) ChooseCommon(n, common uint32, site string) uint32 {
	return e.chooser.choose(Choice{N: n, Site: site, Common: common})
}

// LeavesOut reports whether to leave out the next part of a step. An exploration leaves out a
// separate part that has failed, and no other one. The error that a step shows is reported without
// the parts that do not matter for it.
func (e *Env) LeavesOut(p Part) bool {
	if e.chooser.choose(Choice{N: 2, Site: p.Site, Part: true, Separate: p.Separate}) == 0 {
		return false
	}
	e.windows.leaveOut(p.Requests)
	return true
}

// Run runs a program. An exit status other than 0 is not an error.
func (e *Env) Run(args ...string) (agent.Exit, error) {
	return e.RunCommand(agent.Command{Args: args})
}

// RunCommand runs a program with the options of an agent.Command. Without a Timeout, the limit is
// Config.CommandLimit. It returns a *SlowError if the program exceeds the limit.
func (e *Env) RunCommand(c agent.Command) (agent.Exit, error) {
	if e.err != nil {
		return agent.Exit{}, e.err
	}
	e.tree = treeMemo{}
	exit, err := e.sendCommand(0, c)
	return exit, e.failed(err)
}

// Sh runs a line of shell. It returns a *CommandError if the line fails.
func (e *Env) Sh(format string, args ...any) error {
	line := fmt.Sprintf(format, args...)
	exit, err := e.Run("sh", "-c", line)
	if err == nil && exit.Code != 0 {
		err = &CommandError{line, exit}
	}
	return err
}

// Try performs all operations, even after one that fails, and returns the result of each. The
// explorer injects its faults into the first Try of a Mutate.
func (e *Env) Try(ops ...agent.Op) ([]agent.Result, error) {
	if r := e.tree.find(ops); r != nil && e.err == nil && e.windows.closed { // after a recovery
		return r, nil
	}
	results, err := e.batch(agent.Batch{Ops: ops})
	if err == nil {
		e.tree.keep(ops, results)
	}
	return results, err
}

// Do performs operations up to the first that fails, for which it returns an *OpError. At the end
// it closes the files in all slots.
func (e *Env) Do(ops ...agent.Op) ([]agent.Result, error) {
	results, err := e.batch(agent.Batch{Ops: ops, StopAtError: true})
	if n := len(results); err == nil && n > 0 && results[n-1].Errno != 0 {
		err = &OpError{ops[n-1], results[n-1].Errno}
	}
	return results, err
}

func (e *Env) batch(b agent.Batch) ([]agent.Result, error) {
	if e.err != nil {
		return nil, e.err
	}
	e.tree.before(b.Ops)
	done, err := e.sendBatch(0, request{Batch: b})
	return done.Results, e.failed(err)
}

// ask makes the machine perform operations that must all succeed. No interceptor sees them.
func (e *Env) ask(ops ...agent.Op) ([]agent.Result, error) {
	b := agent.Batch{Ops: ops, StopAtError: true, Timeout: opTimeout}
	done, err := e.sendBatch(len(e.path), request{Batch: b})
	if err == nil {
		err = agent.CheckResults(ops, done.Results, opTimeout)
	}
	return done.Results, e.failed(err)
}

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

// ReadFile returns the first agent.MaxData bytes of a file.
func (e *Env) ReadFile(path string) ([]byte, error) {
	r, err := e.Do(agent.Open(0, path, unix.O_RDONLY, 0), agent.Read(0, 0, agent.MaxData))
	if err != nil {
		return nil, err
	}
	return r[1].Data, nil
}

// failed keeps the first error of the machine, and returns err. errProgramEnded is not an error of
// the machine.
func (e *Env) failed(err error) error {
	//nolint:errorlint // an interceptor returns errProgramEnded unwrapped
	if e.err == nil && err != errProgramEnded {
		e.err = err
	}
	return err
}

// Err returns the first error of the machine; nil if it has not failed.
func (e *Env) Err() error { return e.err }

// note adds a line to e.did. With failed, it appends the result how.
func (e *Env) note(line string, failed bool, how any) {
	if len(e.did) >= maxNotes {
		return
	}
	if failed {
		line += fmt.Sprintf(" = %v", how)
	}
	e.did = append(e.did, line)
}

// A kernelLog has the texts that the kernel logged while an Env was used.
type kernelLog struct {
	texts []string
	taken int // the number of texts that take has returned
}

func (k *kernelLog) add(text string) {
	if text != "" {
		k.texts = append(k.texts, text)
	}
}

// take returns the texts since its last call.
func (k *kernelLog) take() []string {
	fresh := k.texts[k.taken:]
	k.taken = len(k.texts)
	return fresh
}
