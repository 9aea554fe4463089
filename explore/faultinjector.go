package explore

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"fsward/explore/agent"
	"fsward/explore/ekm"
)

// An InjectedFault is a call inside the kernel that the explorer makes fail: in the first Env.Try
// of a Mutate, or in a command before it.
type InjectedFault struct {
	At    uint32 `json:"at"`    // number of the hit of a choice point, from 0
	Stack uint64 `json:"stack"` // hash of the call stack there
	Site  string `json:"site"`  // the call site
}

// DefaultFailPoints are the choice points at which faults are injected unless Config.FailPoints
// says otherwise: allocations and reads. At the others, the disk fails, for which the rules of RAM
// disks are better suited, or the access to memory of the program.
func DefaultFailPoints() []ekm.Point {
	return []ekm.Point{ekm.Slab, ekm.Page, ekm.BufferRead, ekm.PageRead}
}

// ParseFailPoints returns the points that a text names, separated by commas. "" and "default" name
// DefaultFailPoints; "all" names all points of the kernel.
func ParseFailPoints(text string) (out []ekm.Point, err error) {
	switch text {
	case "", "default":
		return DefaultFailPoints(), nil
	case "all":
		return ekm.Points(), nil
	}
	var names []string
	for _, p := range ekm.Points() {
		names = append(names, strings.ReplaceAll(p.String(), " ", "-"))
	}
	for name := range strings.SplitSeq(text, ",") {
		i := slices.Index(names, name)
		if i < 0 {
			return nil, fmt.Errorf("no calls of the kind %q can fail; there are %s, and all", name,
				strings.Join(names, ", "))
		}
		out = append(out, ekm.Points()[i])
	}
	return out, nil
}

// faultyCalls says which calls fail if faults are injected.
type faultyCalls struct {
	points  []ekm.Point
	threads []uint32 // of the kernel, for the mounted stack
}

// find finds the kernel's threads of the mounted stack.
func (c *faultyCalls) find(e *Env, s Stack) error {
	c.threads = nil
	for _, component := range s.Components() {
		pids, err := component.Threads(e)
		if err != nil {
			return err
		}
		c.threads = append(c.threads, pids...)
	}
	return nil
}

// injector returns a faultInjector with a plan.
func (c *faultyCalls) injector(plan []InjectedFault) *faultInjector {
	return &faultInjector{points: c.points, threads: c.threads, plan: plan}
}

// A faultInjector makes calls inside the kernel fail during the first Try of a Mutate and the
// commands before it, and records which calls could have failed. Hits are numbered over all of
// them.
type faultInjector struct {
	passThrough
	points  []ekm.Point
	threads []uint32 // threads of the kernel whose calls fail, too
	plan    []InjectedFault
	done    bool // the first Try is over
	hits    []agent.Hit
}

// command makes calls fail while a command runs. The kernel's caches are dropped before, so that
// reads reach the disk.
func (f *faultInjector) command(e *Env, c agent.Command, next sendCommand) (agent.Exit, error) {
	if f.done {
		return next(c)
	}
	if _, err := e.ask(agent.DropCaches()); err != nil {
		return agent.Exit{}, err
	}
	c.Faults = &agent.Faults{Points: f.points, At: f.from(len(f.hits)), Threads: f.threads}
	exit, err := next(c)
	if err != nil {
		return exit, err
	}
	hits, err := agent.DecodeHits(exit.Hits)
	if err != nil {
		return exit, err
	}
	return exit, f.add(hits)
}

// from returns the hits that are to fail, numbered from a hit on.
func (f *faultInjector) from(first int) (at []uint32) {
	for _, p := range f.plan {
		if int(p.At) >= first {
			at = append(at, p.At-uint32(first))
		}
	}
	return at
}

// add adds hits. It returns a *DivergedError if one that was planned is another call, or did not
// fail.
func (f *faultInjector) add(hits []agent.Hit) error {
	from := len(f.hits)
	f.hits = append(f.hits, hits...)
	for _, p := range f.plan {
		if at := int(p.At); at >= from && at < len(f.hits) &&
			(f.hits[at].Stack != p.Stack || !f.hits[at].Failed) {
			return p.diverged(f.hits[at].Site)
		}
	}
	return nil
}

// end ends the injection with the step: calls of the commands that follow do not fail. It returns a
// *DivergedError if the step ended before a planned fault. A nil injector has none.
func (f *faultInjector) end() error {
	if f == nil {
		return nil
	}
	f.done = true
	return f.missing()
}

// missing returns a *DivergedError if there was no hit of a planned fault.
func (f *faultInjector) missing() error {
	for _, p := range f.plan {
		if int(p.At) >= len(f.hits) {
			return p.diverged("nothing more")
		}
	}
	return nil
}

// diverged is the error for a fault that did not occur. got is the call site in its place.
func (p InjectedFault) diverged(got string) error {
	want := Choice{N: 2, Value: 1, Site: p.Site}
	return &DivergedError{At: int(p.At), Want: want, Got: Choice{Site: got}}
}

// batch wraps the operations of the first Try. Until then, no interceptor may add operations.
func (f *faultInjector) batch(_ *Env, r request, next sendBatch) (agent.Done, error) {
	if f.done {
		return next(r)
	}
	r.bare = true
	if r.StopAtError { // of Env.Do
		return next(r)
	}
	r.Ops = f.wrap(r.Ops)
	done, err := next(r)
	if err == nil {
		done.Results, err = f.unwrap(done.Results)
	}
	return done, err
}

// wrapped is the number of operations that wrap puts before others.
const wrapped = 2

// wrap puts the operations that start and end the injection around others. The kernel's caches are
// dropped before, so that reads reach the disk.
func (f *faultInjector) wrap(ops []agent.Op) []agent.Op {
	before := []agent.Op{agent.DropCaches(), agent.FailAt(f.points, f.from(len(f.hits)), f.threads...)}
	return slices.Concat(before, ops, []agent.Op{agent.FailEnd()})
}

// unwrap returns the results of the wrapped operations, and keeps the hits. It returns a
// *DivergedError if a planned fault did not occur.
func (f *faultInjector) unwrap(results []agent.Result) ([]agent.Result, error) {
	f.done = true
	last := len(results) - 1
	if last < wrapped {
		return nil, errors.New("injecting faults into the kernel: there is no answer")
	}
	if err := errors.Join(results[0].Err(), results[1].Err(), results[last].Err()); err != nil {
		return nil, fmt.Errorf("injecting faults into the kernel: %w", err)
	}
	hits, err := agent.DecodeHits(results[last].Data)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(f.add(hits), f.missing()); err != nil {
		return nil, err
	}
	return results[wrapped:last], nil
}

// more returns the plans that extend f.plan by one fault: one plan for each further call site that
// was hit after the last fault.
func (f *faultInjector) more() (out [][]InjectedFault) {
	var stacks []uint64
	from := 0
	for _, p := range f.plan {
		stacks, from = append(stacks, p.Stack), int(p.At)+1
	}
	for i := from; i < len(f.hits); i++ {
		h := f.hits[i]
		if slices.Contains(stacks, h.Stack) || !canFail(h) {
			continue
		}
		stacks = append(stacks, h.Stack)
		out = append(out, append(slices.Clone(f.plan), InjectedFault{uint32(i), h.Stack, h.Site}))
	}
	return out
}

// canFail reports whether a hit is made to fail. TOMOYO, which looks at each program that starts,
// makes the kernel panic if an allocation fails before its policy is loaded (tomoyo_warn_oom).
func canFail(h agent.Hit) bool { return !strings.HasPrefix(h.Site, "tomoyo_") }
