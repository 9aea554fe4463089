package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fsward/explore/ekm"
)

// A target is the stack on the machine, with the state of both.
type target struct {
	stack   Stack
	system  System
	threads *threadScheduler
	// kernelChoices is Config.KernelChoices.
	kernelChoices bool
	kernelChecks  ekm.Checks    // Config.KernelChecks
	limit         time.Duration // Config.CommandLimit
	mounted       bool          // the stack is mounted
	dead          bool          // the machine has failed, or it is in an unknown state
	// mounts are those without the stack, as in /proc/self/mounts; nil: not known.
	mounts []string
	kernel []string // the kernel's log since the last execution or recovery began
	// What commands printed since then, and printLog.complaint.
	printed   []string
	complaint string
}

// choosing returns an Env that takes choices.
func (t *target) choosing(ctx context.Context, s System, choices *Chooser) *Env {
	return newEnv(ctx, s, choices, interceptors{kernel: t.kernelChoices, limit: t.limit})
}

// env returns an Env without choices.
func (t *target) env(ctx context.Context) *Env { return t.envOver(ctx, t.system) }

// envOver returns an Env without choices whose requests go through s.
func (t *target) envOver(ctx context.Context, s System) *Env {
	return newEnv(ctx, s, new(Chooser), interceptors{limit: t.limit})
}

// make makes the stack, and mounts and unmounts it once. So the changes of the first mount are not
// part of each replay, and a stack that cannot be mounted is an error here.
func (t *target) make(e *Env) error {
	initAndMount := func(c Component) error { return errors.Join(c.Init(e), c.Mount(e)) }
	if err := t.stack.up(initAndMount); err != nil {
		return withKernel(fmt.Errorf("cannot make the stack: %w", err), e.kernel.take())
	}
	if err := t.stack.down(func(c Component) error { return c.Unmount(e) }); err != nil {
		return fmt.Errorf("cannot unmount the stack: %w", err)
	}
	return nil
}

// mount mounts the stack. After a crash, heal recovers each component first; nil: there was no
// crash.
func (t *target) mount(e *Env, heal func(e *Env, c Component) error) *Failure {
	t.mounted = true
	if heal != nil {
		if err := t.stack.up(func(c Component) error { return heal(e, c) }); err != nil {
			return t.failure(e, "recovery failed", err)
		}
	}
	if err := t.stack.up(func(c Component) error { return c.Mount(e) }); err != nil {
		return t.failure(e, "mount failed", err)
	}
	return t.failure(e, "", nil)
}

// unmount unmounts the stack. With verify, it runs each Verifier before the children of the
// component are unmounted.
func (t *target) unmount(e *Env, verify bool) (*Failure, error) {
	if !t.mounted || t.dead {
		return nil, nil
	}
	t.mounted = false
	var wrong error
	err := t.threads.release(e)
	if err == nil {
		err = t.stack.down(func(c Component) error {
			if err := c.Unmount(e); err != nil {
				return err
			}
			if v, ok := c.(Verifier); ok && verify && wrong == nil {
				wrong = v.Verify(e)
			}
			return nil
		})
	}
	f := t.failure(e, "unmount failed", err)
	if f != nil {
		t.dead = true
	} else if wrong != nil {
		f = t.failure(e, "not repaired", wrong)
	}
	return f, fatal(e)
}

// finish unmounts the stack without a crash.
func (t *target) finish(ctx context.Context) (*Failure, error) {
	if t.dead || !t.mounted {
		return nil, nil
	}
	e := t.env(ctx)
	err := t.stack.Checker.Finish(e)
	if f := t.failure(e, "finish failed", err); f != nil || fatal(e) != nil {
		return f, fatal(e)
	}
	last := &unmountThenRead{System: t.system, top: t.stack.Top.Path(), file: mountsFile}
	if len(t.stack.Components()) > 1 {
		last.top = "" // it would be read between two unmounts
	}
	if f, err := t.unmount(t.envOver(ctx, last), false); err != nil || f != nil {
		return f, err
	}
	return t.mountLeft(ctx, last)
}

// mountsFile has a line for each mount.
const mountsFile = "/proc/self/mounts"

// mountLines returns the lines of /proc/self/mounts; nil on a machine without /proc.
func mountLines(e *Env) ([]string, error) {
	text, err := e.ReadFile(mountsFile)
	if err != nil {
		return nil, e.Err()
	}
	return slices.Collect(strings.Lines(string(text))), nil
}

// mountLeft returns a failure if a mount is left although the stack was unmounted. s reads the list
// of mounts.
func (t *target) mountLeft(ctx context.Context, s System) (*Failure, error) {
	if t.mounts == nil || t.dead {
		return nil, nil
	}
	e := t.envOver(ctx, s)
	now, err := mountLines(e)
	if err != nil {
		return t.failure(e, "", err), fatal(e)
	}
	before := slices.Clone(t.mounts)
	for _, line := range now {
		if i := slices.Index(before, line); i >= 0 {
			before = slices.Delete(before, i, i+1) // lines can repeat, since mounts can be stacked
		} else {
			t.dead = true // the mount keeps the disk busy
			text := "the stack was unmounted, but this mount is left: " + line
			return &Failure{Kind: "mount left", Text: text}, nil
		}
	}
	return nil, nil
}

// forgetTexts begins an execution or a recovery.
func (t *target) forgetTexts() { t.kernel, t.printed, t.complaint = nil, nil, "" }

// restored records that the machine was restored to a state in which the stack was mounted or not.
func (t *target) restored(mounted bool) { t.dead, t.mounted = false, mounted }

// available returns the bytes of the machine's memory that are free or can be freed (MemAvailable,
// proc(5)). A leak in the kernel lowers the number. 0: it is not known.
func (t *target) available(ctx context.Context) (uint64, error) {
	if t.dead {
		return 0, nil
	}
	e := t.env(ctx)
	text, err := e.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, fatal(e)
	}
	return parseAvailable(string(text)), nil
}

// parseAvailable returns the bytes of MemAvailable in the text of /proc/meminfo; 0 if it has no
// such line.
func parseAvailable(meminfo string) uint64 {
	for line := range strings.Lines(meminfo) {
		var kib uint64
		if n, _ := fmt.Sscanf(line, "MemAvailable: %d kB", &kib); n == 1 {
			return kib << 10
		}
	}
	return 0
}
