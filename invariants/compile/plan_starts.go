package compile

// starts records which changes start the plan, both for a transaction in memory and for a stream.
// If some path does not begin with a change, the plan runs once.
type starts struct {
	layout  *layout
	explain *explainer

	triggered bool          // the current path has a change that starts it
	triggers  []*changeGoal // the changes that begin paths
	id        int           // 1 + the register with the id of the change that starts the path; 0: none
	grouped   bool          // many such changes may have one id
	begun     bool          // the current path begins with one of them
	lone      bool          // some path does not begin with one

	// For a stream, where a change of an object that the text names also begins a path:
	streamTriggers []*changeGoal
	streamBegun    bool
	streamLone     bool
	remote         int // changes so far that the state cannot answer if everything is new
}

// endPath records how the path that ends here began.
func (st *starts) endPath() {
	st.lone = st.lone || !st.begun
	st.streamLone = st.streamLone || !st.streamBegun
}

// takeTriggers tells the changes that start the plan whether their records come batch by batch, and
// returns the lists of these records. If some path does not begin with a change, the plan runs once
// and goes through whole lists.
func (st *starts) takeTriggers() (starts []int) {
	for _, g := range st.triggers {
		if g.isTrigger = !st.lone; g.isTrigger {
			g.starting = st.layout.triggers.declare(g.spec)
			starts = append(starts, g.starting)
		} else {
			g.list = st.layout.whole.declare(g.spec)
		}
	}
	return starts
}

// takeParts is takeTriggers for a stream.
func (st *starts) takeParts() (starts []int) {
	for _, g := range st.streamTriggers {
		switch {
		case !st.streamLone:
			g.begins, g.starting = true, st.layout.triggers.declare(g.spec)
			starts = append(starts, g.starting)
		case !g.ofObject(st.layout.interner.vocabulary):
			st.layout.hold(g.list)
		}
	}
	return starts
}
