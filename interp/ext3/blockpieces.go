package ext3

import (
	"cmp"
	"math"
	"slices"
)

// cut returns parts of the runs, in the order of their blocks and of compare. Two pieces have all
// blocks in common or none, so that rules can join them by their first blocks. Each piece is as
// long as possible. There are at most as many pieces as pointers and bits. cut passes their number
// to hold before it makes them, and ends with the error of hold.
func (r *blockRuns) cut(hold func(pieces int) error) (pieces []blockRun, err error) {
	r.join()
	n := 0
	err = r.sweep(func(open []blockRun, _, _ uint64) error {
		n += len(open)
		return hold(n)
	})
	if err != nil {
		return nil, err
	}
	pieces = make([]blockRun, 0, n)
	err = r.sweep(func(open []blockRun, from, to uint64) error {
		at := len(pieces)
		for _, b := range open {
			pieces = append(pieces, b.part(from, to))
		}
		slices.SortFunc(pieces[at:], blockRun.compare)
		return nil
	})
	return pieces, err
}

// join joins runs that continue each other, and sorts the runs of each kind by their first blocks.
func (r *blockRuns) join() {
	for how, runs := range r.runs {
		slices.SortFunc(runs, func(a, b blockRun) int {
			return cmp.Or(cmp.Compare(a.of, b.of), cmp.Compare(a.pos, b.pos),
				cmp.Compare(a.first, b.first))
		})
		joined := runs[:0]
		for _, b := range runs {
			joined = extend(joined, b)
		}
		slices.SortStableFunc(joined, func(a, b blockRun) int { return cmp.Compare(a.first, b.first) })
		r.runs[how] = joined
	}
	slices.Sort(r.xattr)
}

// sweep calls visit for each range of blocks in which no run begins or ends, and that is not
// partly an extended attribute block, with the runs that are open there.
func (r *blockRuns) sweep(visit func(open []blockRun, from, to uint64) error) error {
	s := runSweep{blockRuns: *r}
	for at := uint64(0); ; {
		s.moveTo(at)
		next := s.edge(at)
		if next == math.MaxUint64 {
			return nil
		}
		if len(s.open) > 0 {
			if err := visit(s.open, at, next); err != nil {
				return err
			}
		}
		at = next
	}
}

// A runSweep goes through sorted runs in the order of their blocks. It holds the runs that have not
// begun.
type runSweep struct {
	blockRuns
	open []blockRun
}

// moveTo opens the runs that begin with a block and closes those that end before it.
func (s *runSweep) moveTo(block uint64) {
	s.open = slices.DeleteFunc(s.open, func(b blockRun) bool { return b.end() <= block })
	for how := range s.runs {
		for len(s.runs[how]) > 0 && uint64(s.runs[how][0].first) == block {
			s.open, s.runs[how] = append(s.open, s.runs[how][0]), s.runs[how][1:]
		}
	}
	for len(s.xattr) > 0 && uint64(s.xattr[0]) < block {
		s.xattr = s.xattr[1:]
	}
}

// edge returns the next block after one where a run begins, a run has ended, or an extended
// attribute block begins or has ended; math.MaxUint64 if there is none.
func (s *runSweep) edge(block uint64) (next uint64) {
	next = math.MaxUint64
	for _, runs := range s.runs {
		if len(runs) > 0 {
			next = min(next, uint64(runs[0].first))
		}
	}
	for _, b := range s.open {
		next = min(next, b.end())
	}
	if len(s.xattr) > 0 {
		x := uint64(s.xattr[0])
		if x == block {
			x++
		}
		next = min(next, x)
	}
	return next
}
