package mutants

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"fsward/change"
)

// A Result is the fate of a mutant.
type Result struct {
	*Mutant
	By string // the subject that noticed it; "" if none did
}

// ByCommit reports whether a commit noticed the mutant and no unit test did, since unit tests are
// asked first.
func (r *Result) ByCommit() bool {
	return r.By != "" && r.By != errInvalid.Error() && !strings.Contains(r.By, caseSuffix)
}

// Run checks mutants with subjects, in their order.
func Run(ctx context.Context, schema *change.Schema, mutants []*Mutant, subjects []*Subject,
	workers int, log io.Writer) ([]*Result, error) {
	var results []*Result
	for _, m := range mutants {
		results = append(results, &Result{Mutant: m})
	}
	next := make(chan *Result)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for r := range next {
				by, err := notice(ctx, schema, r.Mutant, relevantFirst(subjects, r.Mutant))
				if errors.Is(err, errInvalid) {
					by, err = err.Error(), nil
				}
				r.By = by
				errs[w] = errors.Join(errs[w], err)
			}
		})
	}
	spoken := time.Now()
	for i, r := range results {
		if time.Since(spoken) > 10*time.Second {
			spoken = time.Now()
			fmt.Fprintf(log, "%d of %d mutants\n", i, len(results))
		}
		next <- r
	}
	close(next)
	wg.Wait()
	return results, errors.Join(errs...)
}

// bystanders bounds the altered commits that violate other rules than a mutant's. They can show
// only a false alarm, and the sound commits show most of those.
const bystanders = 40

// relevantFirst orders unit tests before commits, and among both those first that violate a rule of
// a mutant. It omits most commits that do not concern the mutant.
func relevantFirst(subjects []*Subject, m *Mutant) []*Subject {
	others := 0
	rank := func(s *Subject) int {
		if slices.ContainsFunc(m.rules, func(rule string) bool { return len(s.want[rule]) > 0 }) {
			return 0
		}
		return 1
	}
	out := slices.DeleteFunc(slices.Clone(subjects), func(s *Subject) bool {
		if s.Kind == "" || rank(s) == 0 {
			return false
		}
		others++
		return others > bystanders
	})
	order := func(s *Subject) int {
		if strings.HasSuffix(s.Name, caseSuffix) {
			return rank(s)
		}
		return 2 + rank(s)
	}
	slices.SortStableFunc(out, func(a, b *Subject) int { return order(a) - order(b) })
	return out
}

// Survivors returns the mutants that nothing noticed.
func Survivors(results []*Result) []*Result {
	return slices.DeleteFunc(slices.Clone(results), func(r *Result) bool { return r.By != "" })
}
