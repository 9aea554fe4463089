package mutants

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"fsward/change"
	"fsward/invariants"
)

// A Result is what became of a mutant.
type Result struct {
	*Mutant
	By string `json:"noticed_by"` // "" if nothing noticed it
}

// Run tries every mutant of the rules against subjects, in their order.
func Run(ctx context.Context, schema *change.Schema, files []invariants.File, subjects []*Subject, workers int, log io.Writer) ([]*Result, error) {
	var results []*Result
	for _, m := range Mutants(files) {
		results = append(results, &Result{Mutant: m})
	}
	next := make(chan *Result)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for r := range next {
				by, err := notice(ctx, schema, r.Mutant, relevantFirst(subjects, r.Rule))
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

// bystanders bounds the altered commits that violate other rules than a mutant's: what they can show is a
// false alarm, and the sound commits show most of those.
const bystanders = 40

// relevantFirst moves the subjects that violate a rule to the front, and leaves out most of those that have
// nothing to do with it.
func relevantFirst(subjects []*Subject, rule string) []*Subject {
	others := 0
	out := slices.DeleteFunc(slices.Clone(subjects), func(s *Subject) bool {
		if rule == "" || s.Kind == "" || len(s.want[rule]) > 0 {
			return false
		}
		others++
		return others > bystanders
	})
	slices.SortStableFunc(out, func(a, b *Subject) int { return rank(a, rule) - rank(b, rule) })
	return out
}

func rank(s *Subject, rule string) int {
	if rule != "" && len(s.want[rule]) > 0 {
		return 0
	}
	return 1
}

// Survivors are the mutants that nothing noticed.
func Survivors(results []*Result) []*Result {
	return slices.DeleteFunc(slices.Clone(results), func(r *Result) bool { return r.By != "" })
}
