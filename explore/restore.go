package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"fsward/explore/agent"
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

// maxKept bounds the checkpoints that are kept beside the pristine one: each takes what the machine has of memory.
const maxKept = 4

// A kept checkpoint stands for the choices that led to it: a state below it begins with it, and takes only the choices after it.
type kept struct {
	steps     [][]Choice
	machine   Checkpoint
	responses responseLog
	before    history // since the pristine disks were mounted
	held      []thread
	used      uint64 // when it was last used, or made
}

// restorer knows what restoring has cost, and keeps checkpoints.
type restorer struct {
	way   Restoring
	kept  []*kept
	turns uint64

	saving   ewma // making a checkpoint
	loading  ewma // putting one back
	mounting ewma // pristine disks, and the checker's Init
	step     ewma // one Mutate that is replayed
	// What the next Mutate takes: an emulated machine that was put back is slow for a while.
	afterLoad, afterReplay ewma
	children               ewma // of a state
	parent                 string
	born                   float64 // children of parent so far
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
func (r *restorer) nearest(st *state) *kept {
	var best *kept
	for _, k := range r.kept {
		if n := len(k.steps); n <= len(st.Steps) && (best == nil || n > len(best.steps)) && slices.EqualFunc(k.steps, st.Steps[:n], slices.Equal) {
			best = k
		}
	}
	if best == nil || r.way == ByCost && r.load(len(st.Steps)-len(best.steps)) >= r.replay(len(st.Steps)) {
		return nil
	}
	r.turns++
	best.used = r.turns
	return best
}

// worth tells whether a checkpoint of a state is to be made, which was reached from one, or by a replay.
func (r *restorer) worth(st *state, from *kept) bool {
	if from != nil && len(from.steps) == len(st.Steps) {
		return false
	}
	switch r.way {
	case ByCheckpoint:
		return true
	case ByCost:
		reached := r.replay(len(st.Steps))
		if from != nil {
			reached = r.load(len(st.Steps) - len(from.steps))
		}
		left := r.children.value - r.born // that are still to come
		return left > 0 && (reached-r.load(0))*left > r.saving.value
	}
	return false
}

// countChild notes that a child of a state is run.
func (r *restorer) countChild(st *state) {
	if key := fmt.Sprint(st.Steps); key != r.parent {
		if r.parent != "" {
			r.children.add(r.born)
		}
		r.parent, r.born = key, 0
	}
	r.born++
}

// checkpoint makes one of where the machine is, and gives up the one that was not used for longest.
func (s *session) checkpoint(ctx context.Context, st *state, r *execution, t responseLog) error {
	var now history
	var err error
	if now.records, err = s.system.Records(ctx); err == nil {
		now.blocks, err = s.dirty.take(ctx)
	}
	if err != nil {
		return err
	}
	r.before = r.before.and(now)
	c := &s.restorer
	if len(c.kept) == maxKept {
		i := 0
		for j, k := range c.kept {
			if k.used < c.kept[i].used {
				i = j
			}
		}
		if err := s.system.Forget(ctx, c.kept[i].machine); err != nil {
			return err
		}
		c.kept = slices.Delete(c.kept, i, i+1)
	}
	begin := time.Now()
	machine, err := s.system.Save(ctx)
	if errors.Is(err, errors.ErrUnsupported) {
		c.way = ByReplay
		return nil
	}
	if err != nil {
		return err
	}
	c.saving.since(begin)
	c.turns++
	c.kept = append(c.kept, &kept{steps: slices.Clone(st.Steps), machine: machine, responses: t.clone(), before: r.before,
		held: s.turns.held, used: c.turns})
	return nil
}

// forget gives all checkpoints up.
func (s *session) forget(ctx context.Context) (err error) {
	for _, k := range s.restorer.kept {
		err = errors.Join(err, s.system.Forget(ctx, k.machine))
	}
	s.restorer.kept = nil
	return err
}

// reach brings machine and checker to where a state is, and returns the Env of the last step. keeps: a checkpoint may be used, or made.
func (s *session) reach(ctx context.Context, st *state, r *execution, keeps bool) (e *Env, err error) {
	var from *kept
	if keeps = keeps && s.saved != nil && s.restorer.way != ByReplay; keeps {
		s.restorer.countChild(st)
		from = s.restorer.nearest(st)
	}
	t := responseLog{System: s.system}
	if from == nil {
		e, err = s.reachMounted(ctx, &t)
	} else {
		begin := time.Now()
		if err := s.system.Load(ctx, from.machine); err != nil {
			return nil, fmt.Errorf("the machine cannot be put back: %w", err)
		}
		s.up, s.dead, s.logging, s.logged, s.dirty.on, s.dirty.some = true, false, true, true, s.dirty.system != nil, s.dirty.system != nil
		s.heard, r.loaded = nil, true
		r.before = from.before
		s.turns.held, s.turns.unscheduled = from.held, make(map[uint32]bool)
		t.answers, t.play = slices.Clone(from.responses.answers), true
		e, err = s.reachInit(ctx, &t)
		s.restorer.loading.since(begin)
	}
	for i, step := range st.Steps {
		if err != nil {
			return nil, err
		}
		begin := time.Now()
		t.play = from != nil && i < len(from.steps)
		e, err = s.replayStep(ctx, &t, i, step, st, r)
		if !t.play {
			s.restorer.step.since(begin)
		}
	}
	t.play = false // what is asked from now on is asked of the machine
	if err == nil && keeps && s.restorer.worth(st, from) {
		err = s.checkpoint(ctx, st, r, t)
	}
	return e, err
}

// reachMounted mounts pristine disks.
func (s *session) reachMounted(ctx context.Context, t *responseLog) (e *Env, err error) {
	begin := time.Now()
	if _, err := s.down(ctx); err != nil {
		return nil, err
	}
	s.heard = nil
	if err := s.load(ctx, nil); err != nil {
		return nil, err
	}
	if err := errors.Join(s.log(ctx, true), s.dirty.log(ctx, s.disks, true)); err != nil {
		return nil, err
	}
	if err := s.guarding.begin(ctx); err != nil {
		return nil, err
	}
	e = NewEnv(ctx, s.system, new(Chooser))
	if f := s.mount(e, nil); f != nil || fatal(e) != nil {
		return nil, s.diverged(e, f, "mounting the pristine disks")
	}
	if err := s.holdThreads(e); err != nil {
		if e.Err() == nil {
			return nil, err
		}
		return nil, s.diverged(e, s.judged(e, "", err), "holding threads")
	}
	e, err = s.reachInit(ctx, t)
	s.restorer.mounting.since(begin)
	return e, err
}

func (s *session) reachInit(ctx context.Context, t *responseLog) (*Env, error) {
	e := NewEnv(ctx, t, new(Chooser))
	if err := s.stack.Checker.Init(e); err != nil || e.Err() != nil {
		return nil, s.diverged(e, s.judged(e, "init failed", err), "the checker's Init")
	}
	return e, nil
}

// replayStep has the checker do a step as it was done before.
func (s *session) replayStep(ctx context.Context, t *responseLog, i int, step []Choice, st *state, r *execution) (*Env, error) {
	e := NewEnv(ctx, t, new(Chooser))
	e.chooser.Replay(step)
	idle, err := s.turn(e)
	if idle != "" {
		return nil, divergedTurn(idle)
	}
	if err == nil {
		err = s.stack.Checker.Mutate(e)
	}
	r.did = append(r.did, e.did)
	if f := s.judged(e, "mutate failed", err); f != nil || fatal(e) != nil {
		return nil, s.diverged(e, f, fmt.Sprintf("step %d of %d", i+1, len(st.Steps)))
	}
	if err := e.chooser.Err(); err != nil {
		return nil, fmt.Errorf("step %d of %d: %w", i+1, len(st.Steps), err)
	}
	return e, nil
}

// A tape is a System that keeps what the machine answered, and plays that to a checker which is to be where it was, without the machine.
type responseLog struct {
	System
	answers []answer
	next    int // that is played
	play    bool
}

// An answer of a machine.
type answer struct {
	asked string
	exit  agent.Exit
	done  agent.Done
}

func (t *responseLog) clone() responseLog {
	return responseLog{answers: slices.Clip(slices.Clone(t.answers))}
}

// again returns the next answer, or asks for it and keeps it.
func (t *responseLog) again(asked string, ask func() (answer, error)) (answer, error) {
	if !t.play {
		a, err := ask()
		a.asked = asked
		t.answers, t.next = append(t.answers, a), t.next+1
		return a, err
	}
	if t.next == len(t.answers) || t.answers[t.next].asked != asked {
		want := "nothing more"
		if t.next < len(t.answers) {
			want = t.answers[t.next].asked
		}
		return answer{}, &DivergedError{At: t.next, Want: Choice{N: 1, Site: want}, Got: Choice{N: 1, Site: asked}}
	}
	t.next++
	return t.answers[t.next-1], nil
}

// Run is that of System.
func (t *responseLog) Run(ctx context.Context, c agent.Command) (agent.Exit, error) {
	a, err := t.again(fmt.Sprint(c.Args, c.Env), func() (a answer, err error) { a.exit, err = t.System.Run(ctx, c); return a, err })
	return a.exit, err
}

// Do is that of System.
func (t *responseLog) Do(ctx context.Context, b agent.Batch) (agent.Done, error) {
	a, err := t.again(fmt.Sprint(b.Ops), func() (a answer, err error) { a.done, err = t.System.Do(ctx, b); return a, err })
	return a.done, err
}

// Mark is that of System.
func (t *responseLog) Mark(ctx context.Context, text string) error {
	_, err := t.again("mark "+text, func() (answer, error) { return answer{}, t.System.Mark(ctx, text) })
	return err
}
