package explore

import (
	"fmt"
	"slices"
)

// A Choice is one that was taken.
type Choice struct {
	N     uint32 `json:"n"`     // how many there were; not 0
	Value uint32 `json:"value"` // 0 to N-1
	Site  string `json:"site"`  // who asked
}

// maxChoices bounds the choices of one run: a checker that chooses without end is stopped.
const maxChoices = 1 << 16

// A Chooser is an odometer of choices. It returns the values that were loaded, then zeros, and Next goes on to the next sequence in
// order, so that each is taken once:
//
//	for c := new(Chooser); ; {
//		run(c)
//		if !c.Next() {
//			break
//		}
//	}
//
// The zero value is ready. Used by one goroutine.
type Chooser struct {
	loaded []uint32
	want   []Choice // that a replay is held against, if any
	taken  []Choice
	fixed  int // values that Next leaves alone
	err    error
}

// A DivergedError says that a replay did not ask for the choices that were there before: what is checked is not deterministic.
type DivergedError struct {
	At   int // number of the choice, from 0
	Want Choice
	Got  Choice
}

func (e *DivergedError) Error() string {
	return fmt.Sprintf("the replay diverged: choice %d was %d of %d at %s, and now is among %d at %s", e.At, e.Want.Value, e.Want.N, e.Want.Site,
		e.Got.N, e.Got.Site)
}

// Load has the next run begin with these values. Next will not change them.
func (c *Chooser) Load(values []uint32) {
	*c = Chooser{loaded: slices.Clone(values), fixed: len(values)}
}

// Replay has the next run begin with the values of these choices, and holds the bounds and sites against them. Next will not change
// them.
func (c *Chooser) Replay(choices []Choice) {
	c.Load(Values(choices))
	c.want = slices.Clone(choices)
}

// Choose returns the next value: 0 to n-1, and 0 where there is no choice (n at most 1) or after an error. site says who asks.
func (c *Chooser) Choose(n uint32, site string) uint32 {
	if c.err != nil || n <= 1 {
		return 0
	}
	at := len(c.taken)
	got := Choice{N: n, Site: site}
	if at == maxChoices {
		c.err = fmt.Errorf("more than %d choices, the last at %s", maxChoices, site)
		return 0
	}
	if at < len(c.loaded) {
		got.Value = c.loaded[at]
	}
	if at < len(c.want) && (c.want[at].N != n || c.want[at].Site != site) || got.Value >= n {
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

// Taken returns the choices of this run so far.
func (c *Chooser) Taken() []Choice { return slices.Clone(c.taken) }

// Err returns why the run is not what it should be: a *DivergedError, or too many choices. A run that ends before all that was
// loaded was asked for has diverged, too.
func (c *Chooser) Err() error {
	if c.err == nil && len(c.taken) < len(c.want) {
		at := len(c.taken)
		return &DivergedError{At: at, Want: c.want[at], Got: Choice{Site: "the end of the run"}}
	}
	return c.err
}

// Next makes the next sequence the one to run: the last choice that has values left takes the next one, and what was after it is
// taken anew. It returns false after the last one.
func (c *Chooser) Next() bool {
	for i := len(c.taken) - 1; i >= c.fixed; i-- {
		if t := c.taken[i]; t.Value+1 < t.N {
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
