package explore

import (
	"math"
	"slices"

	"fsward/explore/crash"
)

// With the strategy Cover, the children of a state are divided: a scout does each operation once,
// with one way to make it persistent, and the others follow when all scouts of this depth are done.
// An operation is the first choice of a step. How it is made persistent, or not, are the later
// choices, of which the scout takes the first that is not 0.

// Some operations are uncommon (Choice.Common). A scout does these last, when the scouts of its
// depth have done theirs, and with the last way to make them persistent. A step with an uncommon
// operation counts as two, so that what follows it comes later.

// A scout tries few crash states at one moment. Where there are more, its execution is repeated
// with the rest, and then tries as many as any other.

// scoutStates is the number of crash states at one moment above which a scout samples them.
const scoutStates = 8

// crashOptions returns the options for the crash states of an execution. few reports whether it
// forms fewer than others, because it is a scout's. An execution without choices is not repeated.
func (x *explorer) crashOptions(r *execution) (o crash.Options, few bool) {
	o = x.Crash
	last := len(r.steps) - 1
	if few = r.scout && o.Limit > scoutStates && len(r.steps[last]) > 0; few {
		o.Limit = scoutStates
	}
	return o, few
}

// scoutPreference is the value of the choices of a scout behind the first, if they have it.
const scoutPreference = 1

// coverPriority returns the place of a state in the frontier: states with fewer steps come first,
// and of these the scouts, then their uncommon operations, and then the rest. The rest of the
// uncommon operations waits for the scouts of the next depth.
func coverPriority(t traits) uint64 {
	depth := uint64(t.depth + t.uncommon)
	switch {
	case t.rest && t.later:
		return (depth+1)<<2 | 1
	case t.rest:
		return depth<<2 | 2
	case t.later:
		return depth<<2 | 1
	}
	return depth << 2
}

// coverTraits returns the traits of a state that Cover considers.
func (st *state) coverTraits() traits {
	return traits{depth: len(st.Steps), rest: !st.Scout, later: st.Later,
		uncommon: uncommonSteps(st.Steps)}
}

// uncommonSteps returns the number of steps with an uncommon operation.
func uncommonSteps(steps [][]Choice) (n int) {
	for _, choices := range steps {
		if len(choices) > 0 && choices[0].uncommon() {
			n++
		}
	}
	return n
}

// following returns the values of the sequence of choices after this one, with the same first
// values; nil: it was the last.
func following(taken []Choice, fixed int) []uint32 {
	c := Chooser{taken: taken, fixed: fixed}
	if !c.Next() {
		return nil
	}
	return c.loaded
}

// restNext returns next, or the sequence after it if the scout has done it; nil: there is none.
func restNext(rest *state, next []uint32) []uint32 {
	if !rest.Repeat && isSame(next, rest.Scouted) {
		return following(rest.Scouted, 1)
	}
	return next
}

// isSame reports whether a sequence that begins with these values takes these choices: it keeps the
// parts behind them.
func isSame(next []uint32, taken []Choice) bool {
	n := len(next)
	return n <= len(taken) && slices.Equal(next, Values(taken[:n])) &&
		!slices.ContainsFunc(taken[n:], func(c Choice) bool { return !c.Part })
}

// chooseAs prepares the choices of a state's next child.
func (st *state) chooseAs(c *Chooser) {
	c.loaded = st.Next
	if st.Scout {
		c.prefer = scoutPreference
		if st.Later {
			c.prefer = math.MaxUint32
		}
	}
	if st.Scouted != nil {
		c.fixed = 1
	}
}
