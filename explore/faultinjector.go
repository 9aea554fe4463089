package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"fsward/explore/agent"
	"fsward/explore/ekm"
)

// An InjectedFault is a call inside the kernel that is made to fail, in the first Env.Try of a Mutate.
type InjectedFault struct {
	At    uint32 `json:"at"`    // number of the hit of a choice point, from 0
	Stack uint64 `json:"stack"` // hash of the call stack there
	Site  string `json:"site"`
}

// failPoints are those at which the explorer has the kernel fail: memory and reads. What else fsw_ekm knows fails disks, which RAM disks do
// better, or how the agent's own memory is reached.
var failPoints = []ekm.Point{ekm.Slab, ekm.BufferRead, ekm.PageRead}

// loadEKM loads the module, if something needs it.
func (s *session) loadEKM(ctx context.Context) error {
	if !s.failing && s.turns.wait == 0 && s.dirty.system == nil {
		return nil
	}
	if err := NewEnv(ctx, s.system, new(Chooser)).Sh("grep -q '^fsw_ekm ' /proc/modules || insmod /fsward/fsw_ekm.ko"); err != nil {
		return fmt.Errorf("the module fsw_ekm cannot be loaded: %w", err)
	}
	return nil
}

// failer fails the first Try of a Mutate, and says what could have failed.
type failer struct {
	plan []InjectedFault
	done bool
	hits []agent.Hit
}

// wrap puts the plan around operations.
func (f *failer) wrap(ops []agent.Op) []agent.Op {
	at := make([]uint32, len(f.plan))
	for i, p := range f.plan {
		at[i] = p.At
	}
	return slices.Concat([]agent.Op{agent.FailAt(failPoints, at)}, ops, []agent.Op{agent.FailEnd()})
}

// unwrap takes the results of operations out of those of what wrap made, and keeps the hits.
func (f *failer) unwrap(results []agent.Result) ([]agent.Result, error) {
	f.done = true
	last := len(results) - 1
	if last < 1 {
		return nil, errors.New("failing in the kernel: there is no answer")
	}
	if err := errors.Join(results[0].Err(), results[last].Err()); err != nil {
		return nil, fmt.Errorf("failing in the kernel: %w", err)
	}
	hits, err := agent.DecodeHits(results[last].Data)
	if err != nil {
		return nil, err
	}
	f.hits = hits
	for _, p := range f.plan {
		if int(p.At) >= len(hits) || hits[p.At].Stack != p.Stack || !hits[p.At].Failed {
			got := "nothing more"
			if int(p.At) < len(hits) {
				got = hits[p.At].Site
			}
			return nil, &DivergedError{At: int(p.At), Want: Choice{N: 2, Value: 1, Site: p.Site}, Got: Choice{Site: got}}
		}
	}
	return results[1:last], nil
}

// more returns the plans that follow: one more failure, at each call site after the last that has failed.
func (f *failer) more() (out [][]InjectedFault) {
	var stacks []uint64
	from := 0
	for _, p := range f.plan {
		stacks, from = append(stacks, p.Stack), int(p.At)+1
	}
	for i := from; i < len(f.hits); i++ {
		h := f.hits[i]
		if slices.Contains(stacks, h.Stack) {
			continue
		}
		stacks = append(stacks, h.Stack)
		out = append(out, append(slices.Clone(f.plan), InjectedFault{uint32(i), h.Stack, h.Site}))
	}
	return out
}
