package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// An explorer performs a run.
type explorer struct {
	Config
	store        *store
	session      *session
	totals       Totals
	triedCrashes map[string]uint64 // Summary.Asked
	errors       []Error
	causes       causeTable
	began        time.Time
	before       float64 // seconds of earlier parts of the run
	pulse        pulse
	growth       []Growth
	memo         memo
	recollection recollection
	surprised    memo            // crash states that showed surprises only
	inspected    map[string]bool // shapes of executions
	mountSites   map[uint64]bool // call stacks that failed in a mount or an unmount
	siteless     int             // crash states in a row whose mount hit no further call stack
	stop         context.Context // when it ends, the run stops between two operations of the machine
}

// stopped returns an error if the run must stop.
func (x *explorer) stopped() error { return x.stop.Err() }

// Run explores until nothing is left, cfg.Runs is reached, or ctx ends, which is not an error. It
// returns what it found in the summary.
func Run(ctx context.Context, cfg Config) (sum Summary, err error) {
	if cfg.Strategy == "" {
		cfg.Strategy = DepthFirst
	}
	cfg.Restore = cmp.Or(cfg.Restore, ByCost)
	err = errors.Join(cfg.Strategy.Check(), cfg.Restore.Check(), cfg.CrashFrom.Check(),
		CheckThreads(cfg.Threads), CheckCommandLimit(cfg.CommandLimit), cfg.checkRecovery())
	if cfg.KernelChoices && cfg.MaxFaults > 0 {
		err = errors.Join(err, errors.New("KernelChoices and MaxFaults exclude each other"))
	}
	if err != nil {
		return sum, err
	}
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
		return sum, err
	}
	x := &explorer{Config: cfg, began: time.Now(), triedCrashes: make(map[string]uint64),
		memo: make(memo), surprised: make(memo), inspected: make(map[string]bool),
		mountSites: make(map[uint64]bool), stop: ctx}
	// Canceling an operation midway would leave the guest in an unknown state.
	ctx = context.WithoutCancel(ctx)
	if x.store, err = openStore(cfg.Dir); err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, x.store.close()) }()
	if x.session, err = newSession(ctx, x.Config); err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, x.session.close(ctx)) }()
	x.pulse.emit, x.session.pulse = x.emit, &x.pulse
	if err := errors.Join(x.beginCoverage(ctx), x.begin(ctx)); err != nil {
		return sum, err
	}
	complete, err := x.loop(ctx)
	if stopped := x.stopped(); stopped != nil && errors.Is(err, stopped) {
		err = nil
	}
	x.tick()
	_, crashless := cfg.Stack.Checker.(Crashless)
	sum = Summary{Totals: x.totals, Asked: x.triedCrashes, Errors: x.errors,
		Complete: complete && x.totals.Unjudged == 0, Crashless: crashless}
	covered, e := x.store.coverage()
	sum.Coverage = covered
	return sum, errors.Join(err, e, x.store.update(x.saveTotals))
}

// begin puts the first state into the frontier, or loads the results of the earlier parts of the
// run.
func (x *explorer) begin(ctx context.Context) error {
	found, err := x.store.meta(keyTotals, &x.totals)
	if err != nil {
		return err
	}
	if found {
		x.before = x.totals.Seconds
		if x.errors, err = x.store.errors(); err == nil {
			x.causes.load(x.errors, 0)
			_, err = x.store.meta(keyAsked, &x.triedCrashes)
		}
		return err
	}
	r, err := x.session.run(ctx, &state{Root: true})
	if err != nil {
		return err
	}
	if r.found != nil {
		return withKernel(fmt.Errorf("cannot begin: %w", r.found), x.session.target.kernel)
	}
	x.totals.States, x.totals.Waiting = 1, 1
	return x.store.update(func(c *change) error {
		_, err := c.markSeen(r.sig)
		err = errors.Join(err, c.enqueue(0, &state{Setup: r.setup, Sig: r.sig,
			Scout: x.Strategy == Cover}))
		if r.more { // the stack can be set up in another way
			x.totals.Waiting++
			err = errors.Join(err, c.enqueue(0, &state{Root: true, Next: r.next}))
		}
		return errors.Join(err, c.put(bucketMeta, keyConfig, x.Origin), x.saveTotals(c))
	})
}

// beginCoverage switches coverage on if the configuration wants it, and keeps the code map. A
// machine without coverage is reported, and explored without.
func (x *explorer) beginCoverage(ctx context.Context) error {
	if !x.Coverage && x.Strategy != LeastSeen {
		return nil
	}
	none, err := x.session.target.findCoverage(ctx)
	if err != nil {
		return err
	}
	if none != "" {
		x.emit(Event{Event: "coverage", Text: none + ": the kernel's code does not guide the search"})
		return nil
	}
	x.session.covering = true
	x.session.replays = nil // the answers to requests that were sent ahead have no coverage
	if _, err := x.store.meta(keyGrowth, &x.growth); err != nil {
		return err
	}
	return x.store.update(func(c *change) error { return c.put(bucketMeta, keyCode, x.Code) })
}

func (x *explorer) saveTotals(c *change) error {
	return errors.Join(c.put(bucketMeta, keyTotals, &x.totals),
		c.put(bucketMeta, keyAsked, x.triedCrashes))
}

// tick updates the duration of the run.
func (x *explorer) tick() { x.totals.Seconds = x.before + time.Since(x.began).Seconds() }

// emit passes an event to Config.OnEvent.
func (x *explorer) emit(e Event) {
	if x.OnEvent != nil {
		x.tick()
		e.Totals = x.totals
		x.OnEvent(e)
	}
}

// loop executes one child after the other. complete means that the frontier is empty.
func (x *explorer) loop(ctx context.Context) (complete bool, err error) {
	for x.stopped() == nil && (x.Runs == 0 || x.totals.Runs < x.Runs) {
		key, st, err := x.store.first()
		if err != nil {
			return false, err
		}
		if st == nil {
			return true, nil
		}
		x.pulse.depth = len(st.Steps) + 1
		if x.pulse.due() {
			if x.pulse.available, err = x.session.target.available(ctx); err != nil {
				return false, err
			}
			x.emit(x.pulse.event())
		}
		if err := x.runChild(ctx, key, st); err != nil {
			return false, err
		}
	}
	return false, nil
}
