package explore

import (
	"context"
	"errors"
)

// Most recovered crash states are only read. A few are inspected: they are recovered once more, the
// checker uses what is there, and each Verifier of the stack verifies the result. This shows what
// no reading shows: a directory that cannot be removed, and blocks that are free and in use.

// inspectionSite is the site of the choice of an inspection, which is the first one of its
// recovery.
const inspectionSite = "the recovered storage is used and verified"

// The first crash states of new shapes are inspected, and later as many as a share of the
// recoveries: an fsck takes as long as several of them.
const (
	firstInspections     = 10
	recoveriesInspection = 25
)

// A User is a Checker that can use what was recovered after a crash, as a program would that runs
// on. Only errors of the storage are failures. Whatever it leaves is lost.
type User interface {
	Checker
	Use(e *Env) error
}

// chooseInspection makes a recovery be followed by an inspection.
func chooseInspection() *Chooser {
	c := new(Chooser)
	c.Replay([]Choice{{N: 2, Value: 1, Site: inspectionSite}})
	return c
}

// inspects reports whether the first of these choices is that of an inspection.
func inspects(choices []Choice) bool {
	return len(choices) > 0 && choices[0].Site == inspectionSite
}

// takeInspection takes the choice of an inspection if it is the next one. It reports whether it
// is.
func takeInspection(c *Chooser) bool {
	is := inspects(c.want)
	if is {
		c.Choose(2, inspectionSite)
	}
	return is
}

// use lets the checker use the recovered storage.
func (t *target) use(e *Env) *Failure {
	u, ok := t.stack.Checker.(User)
	if !ok {
		return nil
	}
	return t.failure(e, "cannot be used", u.Use(e)).withProperty(Recovered)
}

// wantsInspection reports whether the next crash state of the execution is to be inspected.
func (by *examiner) wantsInspection() bool {
	x := by.x
	due := x.totals.Inspected < firstInspections+x.totals.Recovered/recoveriesInspection
	return by.exploring && by.shape != "" && by.recovering == nil && due && !x.inspected[by.shape]
}

// inspect inspects a crash state that has shown no failure, if it is its turn.
func (by *examiner) inspect(ctx context.Context, c crashCase) (*badDisk, error) {
	if !by.wantsInspection() {
		return nil, nil
	}
	by.x.inspected[by.shape] = true
	by.x.totals.Inspected++
	bad, _, err := by.recover(ctx, c, chooseInspection())
	var diverged *DivergedError
	if errors.As(err, &diverged) {
		by.x.noteDiverged(err, 0)
		return nil, nil
	}
	if bad != nil && bad.Surprise {
		bad = nil // the recovery before this one has shown it
	}
	return bad, err
}
