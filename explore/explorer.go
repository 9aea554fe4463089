package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// explorer is a run.
type explorer struct {
	Config
	store   *store
	session *session
	totals  Totals
	asked   map[string]uint64
	errors  []Error
	began   time.Time
	before  float64   // seconds of earlier parts of the run
	told    time.Time // of the last progress
	memo    memo
	stop    context.Context // its end stops the run, between two things that are done to the machine
}

// stopped returns why the run is to stop; nil while it is not.
func (x *explorer) stopped() error { return x.stop.Err() }

const progressEvery = 2 * time.Second

// Run explores until there is nothing more, or ctx ends, which is no error. What was found is in the summary.
func Run(ctx context.Context, cfg Config) (sum Summary, err error) {
	if cfg.Strategy == "" {
		cfg.Strategy = DepthFirst
	}
	cfg.Restore = cmp.Or(cfg.Restore, ByCost)
	if err := errors.Join(cfg.Strategy.Check(), cfg.Restore.Check(), cfg.CrashFrom.Check(), CheckThreads(cfg.Threads)); err != nil {
		return sum, err
	}
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
		return sum, err
	}
	x := &explorer{Config: cfg, began: time.Now(), asked: make(map[string]uint64), memo: make(memo), stop: ctx}
	ctx = context.WithoutCancel(ctx) // a machine that is left in the middle of something is in nobody knows which state
	if x.store, err = openStore(cfg.Dir); err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, x.store.close()) }()
	if x.session, err = newSession(ctx, cfg); err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, x.session.close(ctx)) }()
	if err := x.prepare(ctx); err != nil {
		return sum, err
	}
	if err := x.begin(ctx); err != nil {
		return sum, err
	}
	complete, err := x.loop(ctx)
	if stopped := x.stopped(); stopped != nil && errors.Is(err, stopped) {
		err = nil
	}
	x.tick()
	return Summary{Totals: x.totals, Asked: x.asked, Errors: x.errors, Complete: complete}, errors.Join(err, x.store.update(x.keepTotals))
}

// prepare has the session do what is configured.
func (x *explorer) prepare(ctx context.Context) error {
	x.session.work = x.Strategy == MostRecovery || x.RecoveryCrashes
	x.session.verify = x.Verify
	x.session.account, x.session.soft, x.session.restorer.way = x.NewAccount, x.ProcessCrashes, x.Restore
	x.session.failing, x.session.turns.wait = x.MaxFaults > 0, x.Threads
	return errors.Join(x.session.guardDisks(x.Guard), x.session.dirty.begin(x.System, x.CrashFrom), x.session.loadEKM(ctx))
}

// begin puts the first state into the frontier, or finds where the run was.
func (x *explorer) begin(ctx context.Context) error {
	found, err := x.store.meta(keyTotals, &x.totals)
	if err != nil {
		return err
	}
	if found {
		x.before = x.totals.Seconds
		if x.errors, err = x.store.errors(); err == nil {
			_, err = x.store.meta(keyAsked, &x.asked)
		}
		return err
	}
	r, err := x.session.run(ctx, &state{}, false)
	if err != nil {
		return err
	}
	if r.found != nil {
		return fmt.Errorf("cannot begin: %w", r.found)
	}
	x.totals.States, x.totals.Waiting = 1, 1
	return x.store.update(func(c *change) error {
		_, err := c.see(r.sig)
		return errors.Join(err, c.enqueue(0, &state{Sig: r.sig}), c.put(bucketMeta, keyConfig, x.Origin), x.keepTotals(c))
	})
}

func (x *explorer) keepTotals(c *change) error {
	return errors.Join(c.put(bucketMeta, keyTotals, &x.totals), c.put(bucketMeta, keyAsked, x.asked))
}

func (x *explorer) tick() { x.totals.Seconds = x.before + time.Since(x.began).Seconds() }

func (x *explorer) tell(e Event) {
	if x.OnEvent != nil {
		x.tick()
		e.Totals = x.totals
		x.OnEvent(e)
	}
}

// loop runs one child after the other.
func (x *explorer) loop(ctx context.Context) (complete bool, err error) {
	for x.stopped() == nil && (x.Runs == 0 || x.totals.Runs < x.Runs) {
		key, st, err := x.store.first()
		if err != nil {
			return false, err
		}
		if st == nil {
			return true, nil
		}
		if time.Since(x.told) > progressEvery {
			x.told = time.Now()
			free, err := x.session.available(ctx)
			if err != nil {
				return false, err
			}
			x.tell(Event{Event: "progress", Depth: len(st.Steps) + 1, Available: free})
		}
		if err := x.child(ctx, key, st); err != nil {
			return false, err
		}
	}
	return false, nil
}

// child runs the next child of a state. What it gave is written together, so that a run that is killed has it whole or not at all.
func (x *explorer) child(ctx context.Context, key []byte, st *state) error {
	before := x.totals
	r, err := x.session.run(ctx, st, true)
	var diverged *DivergedError
	var signature *SignatureError
	if errors.As(err, &diverged) || errors.As(err, &signature) {
		x.totals.Diverged++
		x.totals.Waiting--
		x.tell(Event{Event: "diverged", Depth: len(st.Steps), Text: err.Error()})
		return x.store.update(func(c *change) error { return errors.Join(c.dequeue(key), x.keepTotals(c)) })
	}
	if err != nil {
		return err
	}
	x.totals.Restoring += r.took.Seconds()
	f := &failureContext{execution: r, Failure: r.found}
	var recovered uint64
	x.unscheduled(r)
	if r.found == nil {
		asked := maps.Clone(x.asked)
		if f, recovered, err = x.checkCrashes(ctx, r); err == nil && (f == nil || f.Failure == nil) {
			f, err = x.checkSoft(ctx, r)
		}
		if err != nil {
			x.totals, x.asked = before, asked
			return err
		}
	}
	var reported *Error
	if f != nil && f.Failure != nil {
		if reported, err = x.report(ctx, f); err != nil {
			return err
		}
	}
	var besides []*Error
	for _, found := range r.beside {
		e, err := x.reportBeside(ctx, &failureContext{execution: r, Failure: found})
		if stopped := x.stopped(); reported != nil && stopped != nil && errors.Is(err, stopped) {
			break // what was reported is kept
		}
		if err != nil {
			x.totals = before
			return err
		}
		if e != nil {
			besides = append(besides, e)
		}
	}
	x.totals.Runs++
	if r.loaded {
		x.totals.Loaded++
	}
	if st.Fail != nil {
		x.totals.Failed++
	}
	x.totals.Deepest = max(x.totals.Deepest, len(r.steps))
	x.tick()
	return x.store.update(func(c *change) error {
		for _, e := range besides {
			if err := c.keepError(e); err != nil {
				return err
			}
		}
		if reported != nil {
			if err := c.keepError(reported); err != nil {
				return err
			}
		} else if st.Fail == nil && r.idle == "" {
			if err := x.grow(c, r, recovered); err != nil {
				return err
			}
		}
		if err := x.failMore(c, st, r); err != nil {
			return err
		}
		return errors.Join(x.advance(c, key, st, r), x.keepTotals(c))
	})
}

// unscheduled tells of threads whose turn it was not, or that did not take it.
func (x *explorer) unscheduled(r *execution) {
	if r.idle != "" {
		x.totals.Idle++
	}
	if len(r.unscheduled) == 0 {
		return
	}
	x.totals.Unscheduled++
	x.tell(Event{Event: "strayed", Depth: len(r.steps), Text: strings.Join(r.unscheduled, ", ") + " ran though held: this may not replay"})
}

// reportBeside reports what is wrong and ends nothing. The first of its kind has to be seen twice: what the kernel writes back now and then, on
// its own account, may have come between a call and its return.
func (x *explorer) reportBeside(ctx context.Context, f *failureContext) (*Error, error) {
	if !slices.ContainsFunc(x.errors, func(e Error) bool { return e.Kind == f.Kind }) {
		again, err := x.again(ctx, x.errorOf(f))
		var diverged *DivergedError
		if errors.As(err, &diverged) {
			err = nil
		}
		if err != nil || again == nil {
			return nil, err
		}
	}
	return x.report(ctx, f)
}

// grow puts the state that a run led to into the frontier, if it is new.
func (x *explorer) grow(c *change, r *execution, recovered uint64) error {
	fresh, err := c.see(r.sig)
	if err != nil || !fresh {
		return err
	}
	x.totals.States++
	if x.Depth > 0 && len(r.steps) >= x.Depth {
		return nil
	}
	last := fmt.Sprint(Values(r.steps[len(r.steps)-1]))
	t := traits{recovered: recovered, features: []string{last, r.sig, fmt.Sprintf("%d writes", len(r.records))}}
	p, err := x.Strategy.priority(x.Seed, c.sequence(), t, c)
	if err != nil {
		return err
	}
	x.totals.Waiting++
	return c.enqueue(p, &state{Steps: r.steps, Sig: r.sig})
}

// advance has a state's next child be the next one, or takes it from the frontier.
func (x *explorer) advance(c *change, key []byte, st *state, r *execution) error {
	if !r.more || st.Fail != nil {
		x.totals.Waiting--
		return c.dequeue(key)
	}
	st.Next = r.next
	if x.Strategy != Random {
		return c.put(bucketFrontier, key, st)
	}
	p, err := x.Strategy.priority(x.Seed, c.sequence(), traits{}, c)
	return errors.Join(err, c.dequeue(key), c.enqueue(p, st))
}

// failMore has the same run be done again with one failure more, at each call site.
func (x *explorer) failMore(c *change, st *state, r *execution) error {
	if r.fail == nil || len(st.Fail) >= x.MaxFaults {
		return nil
	}
	for _, plan := range r.fail.more() {
		p, err := x.Strategy.priority(x.Seed, c.sequence(), traits{}, c)
		if err != nil {
			return err
		}
		x.totals.Waiting++
		if err := c.enqueue(p, &state{Steps: st.Steps, Sig: st.Sig, Next: Values(r.steps[len(r.steps)-1]), Fail: plan}); err != nil {
			return err
		}
	}
	return nil
}
