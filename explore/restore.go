package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Restoring says how the explorer gets to where a state is.
type Restoring string

// The ways. Where the System makes no checkpoints, all are ByReplay.
const (
	ByCost       Restoring = "auto"       // the one that costs less, by what both have cost so far
	ByReplay     Restoring = "replay"     // pristine disks are mounted, and all choices taken again
	ByCheckpoint Restoring = "checkpoint" // the machine is put back, wherever there is a checkpoint; each state whose children are run gets one
)

// Restorings lists them.
func Restorings() []Restoring { return []Restoring{ByCost, ByReplay, ByCheckpoint} }

// Check says whether there is such a way.
func (r Restoring) Check() error {
	if !slices.Contains(Restorings(), r) {
		return fmt.Errorf("restore %q: there are %v", r, Restorings())
	}
	return nil
}

// maxSavedStates bounds the checkpoints that are kept beside the pristine one: each takes what the machine has of memory.
const maxSavedStates = 4

// A kept checkpoint stands for the choices that led to it: a state below it begins with it, and takes only the choices after it.
type savedState struct {
	steps   [][]Choice
	machine Checkpoint
	answers []answer // of the machine to the checker, on the way
	before  history  // since the pristine disks were mounted
	held    []thread
	used    uint64 // by restorer.clock: when it was used last, or made
}

// A restorer knows what restoring has cost, and keeps checkpoints.
type restorer struct {
	system System
	method Restoring
	saved  []*savedState
	clock  uint64 // counts uses of checkpoints

	saving   ewma // making a checkpoint
	loading  ewma // putting one back
	mounting ewma // pristine disks, and the checker's Init
	step     ewma // one Mutate that is replayed
	// What the next Mutate takes: an emulated machine that was put back is slow for a while.
	afterLoad, afterReplay ewma
	children               ewma // of a state
	parent                 string
	executed               float64 // children of parent so far
}

// ewma is one of durations or counts of which the recent ones count more.
type ewma struct {
	value float64
	known bool
}

func (m *ewma) add(v float64) {
	if !m.known {
		m.value, m.known = v, true
	}
	m.value += (v - m.value) / 8
}

func (m *ewma) since(begin time.Time) { m.add(time.Since(begin).Seconds()) }

// replay is what taking so many steps from pristine disks costs, in seconds.
func (r *restorer) replay(steps int) float64 {
	return r.mounting.value + float64(steps)*r.step.value
}

// load is what putting a checkpoint back costs, with what follows of it. Before the first time it is taken to be what making one does.
func (r *restorer) load(stepsAfter int) float64 {
	cost := r.loading.value
	if !r.loading.known {
		cost = r.saving.value
	}
	if r.afterLoad.known {
		cost += max(0, r.afterLoad.value-r.afterReplay.value)
	}
	return cost + float64(stepsAfter)*r.step.value
}

// nearest returns the checkpoint to begin with; nil if a replay is to be taken.
func (r *restorer) nearest(st *state) *savedState {
	var best *savedState
	for _, k := range r.saved {
		if n := len(k.steps); n <= len(st.Steps) && (best == nil || n > len(best.steps)) && slices.EqualFunc(k.steps, st.Steps[:n], slices.Equal) {
			best = k
		}
	}
	if best == nil || r.method == ByCost && r.load(len(st.Steps)-len(best.steps)) >= r.replay(len(st.Steps)) {
		return nil
	}
	r.use(best)
	return best
}

// worth tells whether a checkpoint of a state is to be made, which was reached from one, or by a replay.
func (r *restorer) worthSaving(st *state, from *savedState) bool {
	if from != nil && len(from.steps) == len(st.Steps) {
		return false
	}
	switch r.method {
	case ByCheckpoint:
		return true
	case ByCost:
		reached := r.replay(len(st.Steps))
		if from != nil {
			reached = r.load(len(st.Steps) - len(from.steps))
		}
		left := r.children.value - r.executed // that are still to come
		return left > 0 && (reached-r.load(0))*left > r.saving.value
	}
	return false
}

// use notes that a checkpoint is used.
func (r *restorer) use(k *savedState) {
	r.clock++
	k.used = r.clock
}

// mutated notes what the last Mutate of an execution took.
func (r *restorer) mutated(e *execution, began time.Time) {
	if e.loaded {
		r.afterLoad.since(began)
	} else {
		r.afterReplay.since(began)
	}
}

// countChild notes that a child of a state is run.
func (r *restorer) countChild(st *state) {
	if key := fmt.Sprint(st.Steps); key != r.parent {
		if r.parent != "" {
			r.children.add(r.executed)
		}
		r.parent, r.executed = key, 0
	}
	r.executed++
}

// keep makes a checkpoint of where the machine is, and gives up the one that was not used for longest.
// If the machine makes none, all states are reached by replay from now on.
func (r *restorer) keep(ctx context.Context, k *savedState) (err error) {
	if len(r.saved) == maxSavedStates {
		oldest := slices.IndexFunc(r.saved, func(k *savedState) bool {
			return !slices.ContainsFunc(r.saved, func(other *savedState) bool { return other.used < k.used })
		})
		if err := r.system.Forget(ctx, r.saved[oldest].machine); err != nil {
			return err
		}
		r.saved = slices.Delete(r.saved, oldest, oldest+1)
	}
	begin := time.Now()
	k.machine, err = r.system.Save(ctx)
	if errors.Is(err, errors.ErrUnsupported) {
		r.method = ByReplay
		return nil
	}
	if err != nil {
		return err
	}
	r.saving.since(begin)
	r.use(k)
	r.saved = append(r.saved, k)
	return nil
}

// forget gives up all checkpoints.
func (r *restorer) forget(ctx context.Context) (err error) {
	for _, k := range r.saved {
		err = errors.Join(err, r.system.Forget(ctx, k.machine))
	}
	r.saved = nil
	return err
}
