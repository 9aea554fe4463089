package crash

import (
	"fmt"
	"slices"
)

// A Recovered is what a recovery did to a disk: mount with its replay of a journal, or fsck.
type Recovered struct {
	// Reads are the numbers of the pages of PageSize bytes that it read, those at least that it read before it had written
	// all of them itself. What it did follows from what they held.
	Reads []uint64
	// Events are what it wrote, as a log over the disk that it found.
	Events []Event
}

// Recover runs a recovery on a disk. It must do the same whenever it reads the same.
type Recover func(disk *State) (Recovered, error)

// RecoveryOptions say how crashes during recovery are gone through.
type RecoveryOptions struct {
	States Options // of the recovery's own writes
	// NoPrune runs the recovery on each state by itself.
	NoPrune bool
}

// RecoveryStats count what was done.
type RecoveryStats struct {
	States  int // in which a crash can leave the disk during the recovery
	Skipped int // of them, those in which nothing that the recovery read has changed: it does the same again
	Known   int // of them, those for which a recovery that ran before read what this one would
	Run     int // recoveries that were run
}

// Recoveries goes through crashes during the recovery from crashes. What a recovery did is remembered by what it read, since
// it does the same where it reads the same (FiSC, section 4). Used by one goroutine, for the states of one log.
type Recoveries struct {
	run     Recover
	options RecoveryOptions
	shapes  []*recoveryShape
	stats   RecoveryStats
}

// A recoveryShape is a set of pages that recoveries read.
type recoveryShape struct {
	pages []uint64
	done  map[Signature]Recovered
}

const (
	maxRecoveryShapes = 64
	maxRecoveries     = 1 << 12 // that are remembered of a set of pages
)

// NewRecoveries uses a recovery.
func NewRecoveries(run Recover, options RecoveryOptions) *Recoveries {
	return &Recoveries{run: run, options: options}
}

// Stats returns what was counted so far.
func (r *Recoveries) Stats() RecoveryStats { return r.stats }

// Each recovers a state, and visits with the result. Then it visits, for each state that a crash during this recovery can
// leave, that state and what the next recovery makes of it. Those for which it makes what the first did are left out, unless
// NoPrune is set. crashed is nil at the first visit. Both are valid during the visit.
func (r *Recoveries) Each(s *State, visit func(crashed, recovered *State) error) error {
	first, err := r.recover(s, s.Page)
	if err != nil {
		return err
	}
	if err := after(s, first, func(done *State) error { return visit(nil, done) }); err != nil {
		return err
	}
	_, err = Each(s, inOrder(first.Events), r.options.States, func(c *State) error {
		r.stats.States++
		if !r.options.NoPrune && !slices.ContainsFunc(first.Reads, func(n uint64) bool { return c.Page(n) != Signature{} }) {
			r.stats.Skipped++
			return nil
		}
		// Signatures of c are against s: with those of s they are against the base that all states have.
		again, err := r.recover(c, func(n uint64) Signature { return c.Page(n).plus(s.Page(n)) })
		if err != nil {
			return err
		}
		return after(c, again, func(done *State) error { return visit(c, done) })
	})
	return err
}

// recover runs the recovery, or finds one that read the same.
func (r *Recoveries) recover(disk *State, page func(number uint64) Signature) (Recovered, error) {
	of := func(pages []uint64) (sum Signature) {
		for _, n := range pages {
			sum = sum.plus(page(n))
		}
		return sum
	}
	if !r.options.NoPrune {
		for _, sh := range r.shapes {
			if done, ok := sh.done[of(sh.pages)]; ok {
				r.stats.Known++
				return done, nil
			}
		}
	}
	r.stats.Run++
	done, err := r.run(disk)
	if err != nil {
		return done, fmt.Errorf("recovering the crash state %s: %w", disk.ID(), err)
	}
	done.Reads = slices.Clone(done.Reads)
	slices.Sort(done.Reads)
	done.Reads = slices.Compact(done.Reads)
	i := slices.IndexFunc(r.shapes, func(sh *recoveryShape) bool { return slices.Equal(sh.pages, done.Reads) })
	if i < 0 {
		if i = len(r.shapes); i >= maxRecoveryShapes {
			r.shapes, i = r.shapes[1:], i-1
		}
		r.shapes = append(r.shapes, &recoveryShape{done.Reads, make(map[Signature]Recovered)})
	}
	if sh := r.shapes[i]; len(sh.done) < maxRecoveries {
		sh.done[of(sh.pages)] = done
	}
	return done, nil
}

// after visits the disk as a recovery leaves it when it has ended.
func after(base Base, done Recovered, visit func(*State) error) error {
	e := New(base, Options{})
	for _, ev := range done.Events {
		if err := e.Add(ev, nil); err != nil {
			return err
		}
	}
	if err := e.Add(Event{Kind: Settled, All: true}, nil); err != nil {
		return err
	}
	return e.Now(visit)
}

// inOrder is a log in memory.
func inOrder(events []Event) Events {
	return func(yield func(Event, error) bool) {
		for _, ev := range events {
			if !yield(ev, nil) {
				return
			}
		}
	}
}
