package explore

// A Part is a part of a step without which the step means something, too.
type Part struct {
	Site     string // names the part
	Requests int    // crashes that it requests
	// Separate means that the parts after it do not need it. A step ends where it fails, so that what
	// follows is not examined. It is then executed once more without the separate part that failed.
	Separate bool
}

// maxLeftOut bounds the parts without which a step is executed again: where each part fails, they
// are a waste of time.
const maxLeftOut = 4

// withoutPart returns the child of st that repeats the step of a failure without the part that
// failed, if there is one. f may be nil.
func (f *failureContext) withoutPart(st *state) []*state {
	if f == nil {
		return nil
	}
	next := f.withoutFailed(len(st.Steps))
	if next == nil {
		return nil
	}
	return []*state{{Setup: st.Setup, Steps: st.Steps, Faults: st.Faults, Sig: st.Sig, Next: next,
		Scout: st.Scout, Without: true}}
}

// withoutFailed returns the choices of a step without its separate part that failed; nil: there is
// none, or too many are left out already.
func (f *failureContext) withoutFailed(step int) []uint32 {
	if len(f.steps) <= step {
		return nil // the setup failed
	}
	taken := f.steps[step]
	end := len(taken) // of the choices before the failure; without a crash, it ended the step
	if f.disk != nil {
		end = f.windows[f.disk.Window].choices
	}
	failed, left := -1, 0
	for i, c := range taken {
		switch {
		case c.Separate && c.Value > 0:
			left++
		case c.Separate && i < end:
			failed = i
		}
	}
	if failed < 0 || left >= maxLeftOut {
		return nil
	}
	next := Values(taken)
	next[failed] = 1
	return next
}
