package explore

import (
	"fmt"
	"slices"
)

// A Choice is a choice that was taken.
type Choice struct {
	N     uint32 `json:"n"`     // number of alternatives, not 0
	Value uint32 `json:"value"` // 0 to N-1
	Site  string `json:"site"`  // the choice point
	// Common is the number of the first alternatives if the others are uncommon, which the strategy
	// Cover tries later; 0: all are common.
	Common uint32 `json:"common,omitempty"`
	// Part is set if the choice is whether a part of a step is left out: 0 keeps it. Only a minimizer
	// takes 1.
	Part bool `json:"part,omitempty"`
	// Separate is that of the Part.
	Separate bool `json:"separate,omitempty"`
}

// uncommon reports whether the choice took an uncommon alternative.
func (c Choice) uncommon() bool { return c.Common > 0 && c.Value >= c.Common }

// maxChoices bounds the choices of one run, so that an endless checker is stopped.
const maxChoices = 1 << 16

// A Chooser enumerates sequences of choices in lexicographic order. In a run, Choose returns the
// loaded values and then zeros. Next advances to the next sequence, so that each is taken once:
//
//	for c := new(Chooser); ; {
//		run(c)
//		if !c.Next() {
//			break
//		}
//	}
//
// The zero value is ready to use. A Chooser is used by one goroutine.
type Chooser struct {
	loaded []uint32
	want   []Choice // the choices that a replay must meet; nil: not a replay
	taken  []Choice
	fixed  int    // the number of first values that Next does not change
	prefer uint32 // a choice behind the loaded ones takes this value, or its greatest one
	err    error
}

// A DivergedError means that a replay met other choices than the recorded run, so that the storage
// or the checker is not deterministic.
type DivergedError struct {
	At   int // number of the choice, from 0
	Want Choice
	Got  Choice
}

func (e *DivergedError) Error() string {
	return fmt.Sprintf("the replay diverged: choice %d was %d of %d at %s, and now is among %d at %s",
		e.At, e.Want.Value, e.Want.N, e.Want.Site, e.Got.N, e.Got.Site)
}

// Load makes the next run begin with these values. Next will not change them.
func (c *Chooser) Load(values []uint32) {
	*c = Chooser{loaded: slices.Clone(values), fixed: len(values)}
}

// Replay makes the next run begin with the values of these choices. The run diverges if their
// bounds or sites differ. Next will not change the values.
func (c *Chooser) Replay(choices []Choice) {
	c.Load(Values(choices))
	c.want = slices.Clone(choices)
}

// Choose returns the next value, 0 to n-1. It returns 0 if n is at most 1, which is no choice, and
// after an error. site names the choice point.
func (c *Chooser) Choose(n uint32, site string) uint32 {
	return c.choose(Choice{N: n, Site: site})
}

// choose is Choose of a choice whose value is not known yet.
func (c *Chooser) choose(got Choice) uint32 {
	n, site := got.N, got.Site
	if c.err != nil || n <= 1 {
		return 0
	}
	at := len(c.taken)
	got.Value = 0
	if at == maxChoices {
		c.err = fmt.Errorf("more than %d choices, the last at %s", maxChoices, site)
		return 0
	}
	switch {
	case at < len(c.loaded):
		got.Value = c.loaded[at]
	case at > 0 && !got.Part:
		got.Value = min(c.prefer, n-1)
	}
	differs := at < len(c.want) && (c.want[at].N != n || c.want[at].Site != site)
	if differs || got.Value >= n {
		want := Choice{N: got.Value + 1, Value: got.Value, Site: "a place that was not recorded"}
		if at < len(c.want) {
			want = c.want[at]
		}
		c.err = &DivergedError{At: at, Want: want, Got: got}
		return 0
	}
	c.taken = append(c.taken, got)
	return got.Value
}

// repeat takes choices that an earlier run took at the same place, without that place. A replay
// that wants others diverges.
func (c *Chooser) repeat(choices []Choice) {
	prefer := c.prefer
	c.prefer = 0 // as upcoming says
	defer func() { c.prefer = prefer }()
	for _, x := range choices {
		c.choose(Choice{N: x.N, Site: x.Site, Part: x.Part, Separate: x.Separate})
	}
}

// upcoming returns the values that the next choices take. Later ones are zeros.
func (c *Chooser) upcoming() []uint32 { return c.loaded[min(len(c.taken), len(c.loaded)):] }

// Taken returns the choices of this run so far.
func (c *Chooser) Taken() []Choice { return slices.Clone(c.taken) }

// Err returns the error of the run: a *DivergedError, or an error about too many choices. A replay
// that ended before its last choice has diverged, too.
func (c *Chooser) Err() error {
	if c.err == nil && len(c.taken) < len(c.want) {
		at := len(c.taken)
		return &DivergedError{At: at, Want: c.want[at], Got: Choice{Site: "the end of the run"}}
	}
	return c.err
}

// Next prepares the next sequence: the last choice with values left takes its next value, and the
// choices after it start again from 0. It leaves out no part. It returns false after the last
// sequence.
func (c *Chooser) Next() bool {
	for i := len(c.taken) - 1; i >= c.fixed; i-- {
		if t := c.taken[i]; t.Value+1 < t.N && !t.Part {
			c.loaded = append(Values(c.taken[:i]), t.Value+1)
			c.want, c.taken, c.err = nil, nil, nil
			return true
		}
	}
	return false
}

// Values returns the values of choices.
func Values(choices []Choice) []uint32 {
	out := make([]uint32, len(choices))
	for i, c := range choices {
		out[i] = c.Value
	}
	return out
}
