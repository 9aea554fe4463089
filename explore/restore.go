package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// A Restoring is a method to reach a state again.
type Restoring string

// The methods. If the System makes no checkpoints, all of them act as ByReplay.
const (
	ByCost   Restoring = "auto"   // the method that costs less, by the costs of both so far
	ByReplay Restoring = "replay" // mounts the pristine disks, and takes all choices again
	// ByCheckpoint loads the nearest checkpoint, and makes one of each state whose children are
	// executed.
	ByCheckpoint Restoring = "checkpoint"
)

// Restorings returns all methods.
func Restorings() []Restoring { return []Restoring{ByCost, ByReplay, ByCheckpoint} }

// Check returns an error if the method is unknown.
func (r Restoring) Check() error {
	if !slices.Contains(Restorings(), r) {
		return fmt.Errorf("restore %q: there are %v", r, Restorings())
	}
	return nil
}

// maxSavedStates bounds the checkpoints beside the pristine one. Each takes as much memory as the
// machine has.
const maxSavedStates = 4

// A savedState is a state with a checkpoint. A descendant of it can begin with the checkpoint, so
// that only the later choices are taken again.
type savedState struct {
	setup   []Choice
	mounted int // number of the choices before Init
	variant int // index of the variant of the disks
	steps   [][]Choice
	faults  [][]InjectedFault
	machine Checkpoint
	answers []answer // the machine's answers to the checker, from Init on
	before  history  // since the pristine disks were mounted
	held    []thread

	kernelThreads []uint32
	used          uint64 // restorer.clock at its last use, or when it was made
}

// A restorer measures the costs of both methods, and keeps checkpoints.
type restorer struct {
	system System
	method Restoring
	saved  []*savedState
	clock  uint64 // counts uses of checkpoints

	// Costs, in seconds.
	saving   ewma // making a checkpoint
	loading  ewma // loading a checkpoint
	mounting ewma // mounting the pristine disks, with the checker's Init
	step     ewma // replaying one Mutate
	// The Mutate after a load, and after a replay: an emulated machine is slow for a while after a
	// load.
	afterLoad, afterReplay ewma

	children ewma    // number of children of a state
	parent   string  // the steps of the state whose children are executed now
	executed float64 // number of children of parent that were executed
}

// An ewma is an exponentially weighted moving average, with weight 1/8 for each new value.
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

// replay returns the cost of replaying steps from the pristine disks, in seconds.
func (r *restorer) replay(steps int) float64 {
	return r.mounting.value + float64(steps)*r.step.value
}

// load returns the cost of loading a checkpoint and replaying the steps after it, in seconds. Until
// the first load, it assumes the cost of making a checkpoint.
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

// nearest returns the checkpoint to begin with; nil: the state is reached by replay.
func (r *restorer) nearest(st *state) *savedState {
	var best *savedState
	for _, k := range r.saved {
		n := len(k.steps)
		if n > len(st.Steps) || best != nil && n <= len(best.steps) {
			continue
		}
		if slices.Equal(k.setup, st.Setup) && slices.EqualFunc(k.steps, st.Steps[:n], slices.Equal) &&
			slices.EqualFunc(k.faults, st.Faults[:min(n, len(st.Faults))], slices.Equal) {
			best = k
		}
	}
	if best == nil {
		return nil
	}
	n := len(st.Steps)
	if r.method == ByCost && r.load(n-len(best.steps)) >= r.replay(n) {
		return nil
	}
	r.use(best)
	return best
}

// worthSaving reports whether to make a checkpoint of a state. from is the checkpoint from which
// the state was reached; nil: it was reached by replay.
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
		left := r.children.value - r.executed // children that are still to come
		return left > 0 && (reached-r.load(0))*left > r.saving.value
	}
	return false
}

// use records a use of a checkpoint.
func (r *restorer) use(k *savedState) {
	r.clock++
	k.used = r.clock
}

// mutated records the duration of the last Mutate of an execution.
func (r *restorer) mutated(e *execution, began time.Time) {
	if e.loaded {
		r.afterLoad.since(began)
	} else {
		r.afterReplay.since(began)
	}
}

// countChild counts an executed child of a state.
func (r *restorer) countChild(st *state) {
	if key := fmt.Sprint(st.Setup, st.Steps, st.Faults); key != r.parent {
		if r.parent != "" {
			r.children.add(r.executed)
		}
		r.parent, r.executed = key, 0
	}
	r.executed++
}

// keep makes a checkpoint of the machine, and drops the least recently used one if there are too
// many. If the machine makes no checkpoints, all states are reached by replay from now on.
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

// forget drops all checkpoints.
func (r *restorer) forget(ctx context.Context) (err error) {
	for _, k := range r.saved {
		err = errors.Join(err, r.system.Forget(ctx, k.machine))
	}
	r.saved = nil
	return err
}
