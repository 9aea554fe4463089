package spec

import (
	"errors"
	"fmt"
	"math"

	"fsward/explore"
	"fsward/explore/b3"
	"fsward/explore/checkers"
	"fsward/explore/component"
)

// Workloads are the workloads of a run: a part of a set, or a list.
type Workloads struct {
	Set     string `json:"set,omitempty"`      // name, or path of a file
	SetText string `json:"set_text,omitempty"` // of the file; "": Set is a name
	Version string `json:"version,omitempty"`  // of the set; "": any
	From    uint64 `json:"from,omitempty"`     // the first rank
	To      uint64 `json:"to,omitempty"`       // the last rank
	// Texts are the workloads in place of a set.
	Texts []string `json:"texts,omitempty"`
	// NoUnmount leaves out the comparison with the tree after a clean unmount.
	NoUnmount bool `json:"no_unmount,omitempty"`
}

// Name returns the number of a workload that users know: its rank, or its place in the list from 0.
func (w *Workloads) Name(i uint32) uint64 { return w.From + uint64(i) }

// Load checks the workloads. It returns their number and a function that returns each of them, from
// 0 on.
func (w *Workloads) Load() (count uint32, at func(i uint32) (b3.Workload, error), err error) {
	if len(w.Texts) > 0 {
		var list []b3.Workload
		for i, text := range w.Texts {
			one, err := b3.Parse(text)
			if err != nil {
				return 0, nil, fmt.Errorf("workload %d: %w", i+1, err)
			}
			list = append(list, one)
		}
		return uint32(len(list)), func(i uint32) (b3.Workload, error) { return list[i], nil }, nil
	}
	s, err := w.set()
	if err != nil {
		return 0, nil, err
	}
	switch {
	case w.Version != "" && w.Version != s.Version():
		return 0, nil, fmt.Errorf("the set %s has version %s, and the run was made with version %s: "+
			"its ranks mean other workloads now", w.Set, s.Version(), w.Version)
	case w.From > w.To:
		return 0, nil, fmt.Errorf("the range %d-%d: its first rank is greater than its last", w.From,
			w.To)
	case w.To >= s.Count():
		return 0, nil, fmt.Errorf("the range %d-%d: the set %s has the ranks 0 to %d", w.From, w.To,
			s.Name, s.Count()-1)
	case w.To-w.From >= math.MaxUint32:
		return 0, nil, errors.New("one run has at most 4294967295 workloads")
	}
	w.Version = s.Version()
	return uint32(w.To - w.From + 1), func(i uint32) (b3.Workload, error) {
		return s.At(w.From + uint64(i))
	}, nil
}

// set returns the set. A run keeps the text of one from a file, so that it can be replayed on
// another machine.
func (w *Workloads) set() (*b3.Set, error) {
	if w.SetText == "" {
		return b3.Load(w.Set)
	}
	return b3.DecodeNamed(w.Set, []byte(w.SetText))
}

// checker returns the checker that runs the workloads.
func (w *Workloads) checker(top *component.Component) (explore.Checker, error) {
	count, at, err := w.Load()
	if err != nil {
		return nil, err
	}
	core := checkers.Core{At: top.Path(), Promises: top.Promises}
	return &checkers.Workloads{Core: core, On: top, Count: count, Workload: at,
		NoUnmount: w.NoUnmount}, nil
}
