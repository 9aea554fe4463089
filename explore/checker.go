package explore

import "fmt"

// A Checker drives a stack and states what must hold.
type Checker interface {
	// Init is called after the pristine stack was mounted. The checker resets its own state.
	Init(e *Env) error
	// Mutate does one step: it makes choices and acts on them. The explorer calls it repeatedly.
	// Mutate requests crashes with CheckCrashesNow, CheckCrashesStart and CheckCrashesEnd. It
	// returns a *Failure if it finds a failure without a crash.
	Mutate(e *Env) error
	// Check is called for each crash, after the stack was recovered and mounted. It returns a
	// *Failure if the recovered contents are not allowed. The Mutate that requested the crash has
	// returned by then, so Check must rely on the expectations in the Crash.
	Check(e *Env, c Crash) error
	// Signature returns bytes that identify a state. The explorer visits states with equal
	// signatures once. If it returns nil, the sequence of choices identifies the state.
	Signature(e *Env) ([]byte, error)
	// Finish is called before the stack is unmounted without a crash.
	Finish(e *Env) error
}

// A Featurer is a Checker that describes a state by parts that other states share, such as the
// shape of its tree. The strategy LeastSeen prefers states whose parts are rare.
type Featurer interface {
	// Features returns the parts of the present state, the most important first. It is called after
	// Mutate, and does not use the machine.
	Features() []string
}

// Plain implements the optional methods of a Checker. Checkers embed it.
type Plain struct{}

// Init does nothing.
func (Plain) Init(*Env) error { return nil }

// Signature returns nil: each sequence of choices is another state.
func (Plain) Signature(*Env) ([]byte, error) { return nil, nil }

// Finish does nothing.
func (Plain) Finish(*Env) error { return nil }

// An Epoch is the position of a crash between CheckCrashesStart and CheckCrashesEnd. The zero value
// is invalid.
type Epoch uint8

// The epochs. A crash state that can arise at the start or the end as well as in between has the
// epoch of the start or the end.
const (
	Begin     Epoch = 1 + iota // at CheckCrashesStart
	InBetween                  // after CheckCrashesStart and before CheckCrashesEnd
	End                        // at CheckCrashesEnd or CheckCrashesNow
)

func (e Epoch) String() string {
	if e > End {
		e = 0
	}
	return [...]string{"invalid", "begin", "in between", "end"}[e]
}

// A Crash describes a crash to Check.
type Crash struct {
	Epoch Epoch
	// Before and After are the arguments of CheckCrashesStart and CheckCrashesEnd. For
	// CheckCrashesNow, both are its argument.
	Before, After any

	log func() []Tick // nil: the machine did not crash
}

// Log returns the writes, the flushes and the marks of the last step up to the crash, in their
// order. Crash states with equal contents and equal keys are checked once, so a checker that judges
// by the log has to put what it looks for into its expectations.
func (c Crash) Log() []Tick {
	if c.log == nil {
		return nil
	}
	return c.log()
}

// A Keyed is an expectation with a key. Expectations with equal keys are equal. The explorer
// recovers and checks disks with the same contents once for each key.
type Keyed interface{ Key() string }

// An Asker is an expectation that names the property that it is about, such as "fsync". Checkers of
// several properties use it.
type Asker interface{ Property() string }

// property returns the property that the checker names for a crash; "" if it names none.
func (c Crash) property() string {
	for _, v := range []any{c.After, c.Before} {
		if a, ok := v.(Asker); ok {
			return a.Property()
		}
	}
	return ""
}

// key returns a string that is equal for crashes that Check judges alike. ok is false if an
// expectation has no key.
func (c Crash) key() (key string, ok bool) {
	key = c.Epoch.String()
	for _, v := range []any{c.Before, c.After} {
		switch v := v.(type) {
		case nil:
			key += " -"
		case Keyed:
			key += fmt.Sprintf(" %q", v.Key())
		default:
			return "", false
		}
	}
	return key, true
}
