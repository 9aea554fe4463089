package explore

import "slices"

// With the strategy Cover, the children of a state are divided: a scout does each operation once,
// with one way to make it persistent, and the others follow when all scouts of this depth are done.
// An operation is the first choice of a step. How it is made persistent, or not, are the later
// choices, of which the scout takes the first that is not 0.

// scoutPreference is the value of the choices of a scout behind the first, if they have it.
const scoutPreference = 1

// coverPriority returns the place of a state in the frontier: states with fewer steps come first,
// and of these the scouts.
func coverPriority(t traits) uint64 {
	p := uint64(t.depth) << 1
	if t.rest {
		p++
	}
	return p
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
	if len(next) == len(rest.Scouted) && slices.Equal(next, Values(rest.Scouted)) {
		return following(rest.Scouted, 1)
	}
	return next
}

// chooseAs prepares the choices of a state's next child.
func (st *state) chooseAs(c *Chooser) {
	c.loaded = st.Next
	if st.Scout {
		c.prefer = scoutPreference
	}
	if st.Scouted != nil {
		c.fixed = 1
	}
}
