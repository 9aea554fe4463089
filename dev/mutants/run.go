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

// A Result is a mutant with the subject that noticed it.
type Result struct {
	*Mutant
	By string // name of the subject, or the text of errInvalid; "" if the mutant survived
}

// ByCommit reports whether a commit noticed the mutant. No unit test did then, since Run tries unit
// tests first.
func (r *Result) ByCommit() bool {
	return r.By != "" && r.By != errInvalid.Error() && !strings.Contains(r.By, caseSuffix)
}

// Run checks each mutant with the subjects and returns the results in the order of the mutants. It
// prints its progress to log.
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
	printed := time.Now()
	for i, r := range results {
		if time.Since(printed) > 10*time.Second {
			printed = time.Now()
			fmt.Fprintf(log, "%d of %d mutants\n", i, len(results))
		}
		next <- r
	}
	close(next)
	wg.Wait()
	return results, errors.Join(errs...)
}

// maxUnrelated is the maximum number of altered commits that a mutant is checked with although they
// violate only other rules. They can reveal only a false alarm of the mutant, and the sound commits
// reveal most of these.
const maxUnrelated = 40

// relevantFirst orders subjects: unit tests before commits, and within both, subjects that violate
// a rule of the mutant before others. It omits altered commits beyond maxUnrelated.
func relevantFirst(subjects []*Subject, m *Mutant) []*Subject {
	unrelated := 0
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
		unrelated++
		return unrelated > maxUnrelated
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

// Survivors returns the mutants that no subject noticed.
func Survivors(results []*Result) []*Result {
	return slices.DeleteFunc(slices.Clone(results), func(r *Result) bool { return r.By != "" })
}
