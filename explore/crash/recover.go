package crash

import (
	"fmt"
	"slices"
)

// A Recovered holds the reads and writes of a recovery on a disk. A recovery is a mount that
// replays a journal, or fsck.
type Recovered struct {
	// Reads are the numbers of the pages that the recovery read. Pages that it read only after it had
	// written the whole of them may be left out. The contents of these pages determine what it did.
	Reads []uint64
	// Events are its writes, as a log over the disk that it began with.
	Events []Event
}

// Recover runs a recovery on a disk. It must be deterministic: it does the same if it reads the
// same.
type Recover func(disk *State) (Recovered, error)

// RecoveryOptions say how crashes during recovery are explored.
type RecoveryOptions struct {
	States Options // of the writes of the recovery
	// NoPrune runs the recovery on each state.
	NoPrune bool
}

// RecoveryStats count what Recoveries did.
type RecoveryStats struct {
	States  int // states that a crash during recovery can leave
	Skipped int // of these states, those that change no page that the recovery read
	Known   int // recoveries that were not run, because an earlier one had read the same
	Run     int // recoveries that were run
}

// Recoveries explores crashes during the recovery from crashes. It remembers what a recovery did by
// what the recovery read, because a recovery that reads the same does the same (FiSC, section 4).
// It is for one goroutine and the states of one log.
type Recoveries struct {
	run     Recover
	options RecoveryOptions
	sets    []*readSet
	stats   RecoveryStats
}

// A readSet is a set of pages that recoveries read, with the results by the contents of the pages.
type readSet struct {
	pages []uint64
	done  map[Signature]Recovered
}

const (
	maxReadSets   = 64
	maxRecoveries = 1 << 12 // results that are remembered of one set of pages
)

// NewRecoveries returns Recoveries that recover with run.
func NewRecoveries(run Recover, options RecoveryOptions) *Recoveries {
	return &Recoveries{run: run, options: options}
}

// Stats returns the counts so far.
func (r *Recoveries) Stats() RecoveryStats { return r.stats }

// Each recovers a state and visits the result, with crashed nil. Then, for each state that a crash
// during this recovery can leave, it recovers again and visits that state with the result. It
// leaves out a state for which the second recovery does what the first did, unless NoPrune is set.
// Both arguments are valid until visit returns.
func (r *Recoveries) Each(s *State, visit func(crashed, recovered *State) error) error {
	first, err := r.recover(s, s.Page)
	if err != nil {
		return err
	}
	err = afterRecovery(s, first, func(done *State) error { return visit(nil, done) })
	if err != nil {
		return err
	}
	_, err = Each(s, inOrder(first.Events), r.options.States, func(c *State) error {
		r.stats.States++
		changed := func(n uint64) bool { return c.Page(n) != Signature{} }
		if !r.options.NoPrune && !slices.ContainsFunc(first.Reads, changed) {
			r.stats.Skipped++
			return nil
		}
		// Signatures of c are against s. With those of s added, they are against the common base.
		again, err := r.recover(c, func(n uint64) Signature { return c.Page(n).Plus(s.Page(n)) })
		if err != nil {
			return err
		}
		return afterRecovery(c, again, func(done *State) error { return visit(c, done) })
	})
	return err
}

// recover returns the result of an earlier recovery that read the same, or runs the recovery.
func (r *Recoveries) recover(disk *State, page func(number uint64) Signature) (Recovered, error) {
	contents := func(pages []uint64) (sum Signature) {
		for _, n := range pages {
			sum = sum.Plus(page(n))
		}
		return sum
	}
	if !r.options.NoPrune {
		for _, set := range r.sets {
			if done, ok := set.done[contents(set.pages)]; ok {
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
	i := slices.IndexFunc(r.sets, func(set *readSet) bool {
		return slices.Equal(set.pages, done.Reads)
	})
	if i < 0 {
		if i = len(r.sets); i >= maxReadSets {
			r.sets, i = r.sets[1:], i-1
		}
		r.sets = append(r.sets, &readSet{done.Reads, make(map[Signature]Recovered)})
	}
	if set := r.sets[i]; len(set.done) < maxRecoveries {
		set.done[contents(set.pages)] = done
	}
	return done, nil
}

// afterRecovery visits the disk that a recovery leaves when it has ended and all is durable. Blocks
// that it has only marked dirty are not on that disk.
func afterRecovery(base Base, done Recovered, visit func(*State) error) error {
	e := New(base, Options{})
	for _, ev := range done.Events {
		if ev.Kind == Dirtied {
			continue
		}
		if err := e.Add(ev, nil); err != nil {
			return err
		}
	}
	if err := e.Add(Event{Kind: Settled, All: true}, nil); err != nil {
		return err
	}
	return e.Now(visit)
}

// inOrder returns a log of events in memory.
func inOrder(events []Event) Events {
	return func(yield func(Event, error) bool) {
		for _, ev := range events {
			if !yield(ev, nil) {
				return
			}
		}
	}
}
