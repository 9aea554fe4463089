package explore

import "fmt"

// A Checker drives a stack and says what has to hold.
type Checker interface {
	// Init is called when the stack was mounted, pristine: what the checker remembers of it is forgotten.
	Init(e *Env) error
	// Mutate does one step: some choices, and what follows of them. It is called again and again, and says with CheckCrashes…
	// where crashes are to be tried. A *Failure that it returns is an error that was found without a crash.
	Mutate(e *Env) error
	// Check is called for each crash, when the stack was recovered and mounted, and returns a *Failure where what is there may not be.
	// It is called when the Mutate that asked for it has returned, and so goes by what that passed on in the Crash.
	Check(e *Env, c Crash) error
	// Signature returns bytes that are the same for states that need not be told from each other; nil stands for the choices.
	Signature(e *Env) ([]byte, error)
	// Finish is called before the stack is unmounted without a crash.
	Finish(e *Env) error
}

// Plain has the methods of a Checker that are optional. Checkers embed it.
type Plain struct{}

// Init does nothing.
func (Plain) Init(*Env) error { return nil }

// Signature returns nil: each sequence of choices is another state.
func (Plain) Signature(*Env) ([]byte, error) { return nil, nil }

// Finish does nothing.
func (Plain) Finish(*Env) error { return nil }

// Epoch is where between CheckCrashesStart and CheckCrashesEnd a crash was. The zero value is invalid.
type Epoch uint8

// The epochs. A crash that can be had at the start, or at the end, and in between, is one of the start, or of the end.
const (
	Begin     Epoch = 1 + iota // at CheckCrashesStart
	InBetween                  // after it, before CheckCrashesEnd
	End                        // at CheckCrashesEnd; or at CheckCrashesNow
)

func (e Epoch) String() string {
	if e > End {
		e = 0
	}
	return [...]string{"invalid", "begin", "in between", "end"}[e]
}

// A Crash is what Check is told of one.
type Crash struct {
	Epoch Epoch
	// Before and After are what was passed to CheckCrashesStart and CheckCrashesEnd; both are what was passed to CheckCrashesNow.
	Before, After any
}

// A Keyed is passed to CheckCrashes… by checkers that can tell expectations apart: two with the same key are the same. Disks with
// the same contents then are recovered and checked once for each key.
type Keyed interface{ Key() string }

// An Asker is passed to CheckCrashes… by checkers that ask for several things: it names the one that is asked there, such as "fsync".
type Asker interface{ Property() string }

// property is what a checker asks of a crash; "" where it does not say.
func (c Crash) property() string {
	for _, v := range []any{c.After, c.Before} {
		if a, ok := v.(Asker); ok {
			return a.Property()
		}
	}
	return ""
}

// key tells crashes apart that Check may judge differently; ok is false where nobody knows.
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
