package compile

// starts knows which changes start the plan: of a transaction that is held in memory, and of a stream. Where a path
// does not begin with one, the plan is run once.
type starts struct {
	machine *machine
	explain *explainer

	triggered bool          // the present path has a change that starts it
	triggers  []*changeGoal // that begin paths
	begun     bool          // the present path begins with one of them
	lone      bool          // a path does not

	// Of a stream, where a change of an object that the text names begins a path as well:
	streamTriggers []*changeGoal
	streamBegun    bool
	streamLone     bool
	remote         int // changes emitted so far that the state does not answer where everything is new
}

// endPath notes what the path that ends here began with.
func (st *starts) endPath() {
	st.lone = st.lone || !st.begun
	st.streamLone = st.streamLone || !st.streamBegun
}

// takeTriggers tells the changes that start the plan whether their records come part by part, and returns the lists
// of these. Where a path does not begin with a change, the plan is run once, and goes through whole lists.
func (st *starts) takeTriggers() (starts []int) {
	m := st.machine
	for _, g := range st.triggers {
		if g.isTrigger = !st.lone; g.isTrigger {
			g.starting = m.triggers.declare(g.spec)
			starts = append(starts, g.starting)
		} else {
			g.list = m.lists.whole.declare(g.spec)
		}
	}
	return starts
}

// takeParts is takeTurns for a stream.
func (st *starts) takeParts() (starts []int) {
	for _, g := range st.streamTriggers {
		switch {
		case !st.streamLone:
			g.begins, g.starting = true, st.machine.triggers.declare(g.spec)
			starts = append(starts, g.starting)
		case !g.wantsOld() && !g.ofObject(st.machine.vocabulary):
			st.machine.lists.hold(g.list)
		}
	}
	return starts
}
