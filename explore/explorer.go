package explore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fsward/explore/crash"
	"fsward/explore/durable"
	"fsward/explore/ramdisk"
)

// Config says what is explored, and how.
type Config struct {
	Stack    Stack
	System   System
	Dir      string   // of the run: its states, and a folder for each error. A run that was begun there goes on
	Strategy Strategy // "": DepthFirst
	Depth    int      // how many calls of Mutate follow each other; 0: as many as there are
	Runs     uint64   // of Mutate, all parts of the run together, after which it stops; 0: as many as there are
	Crash    crash.Options
	// CrashFrom is what crash disks are formed from; "": FromWrites. FromWriteSet takes a WriteSetSystem.
	CrashFrom CrashSource
	Seed      uint64
	// NewJudge makes a judge of the crash disks of one run, over what the pristine disks hold. nil: only recovery and the checker say
	// what is wrong.
	NewJudge func(ctx context.Context, pristine []crash.Base) (Judge, error)
	// NewAccount makes an account of flushes of the disks, which crash.Join has joined: a call that promised durability and returned too early
	// is an error. nil: none is kept.
	NewAccount func() *durable.Account
	// NoPrune: what is like a crash disk that was judged, or recovered, before is judged, and recovered, again.
	NoPrune bool
	// Origin is what the stack was made of, for whoever replays an error: kept with each.
	Origin json.RawMessage
	// OnEvent is told what happens, and returns soon.
	OnEvent func(Event)
	// Failures is how many calls inside the kernel fail at most in one step, FiSC's iterative way: none, then each call site alone, then
	// two. The System has to have the module fsw_ekm. A state behind a failure is checked, and has no children.
	Failures int
	// RecoveryCrashes: while a crash disk is recovered there is a second crash, at each moment and with each subset of the recovery's writes, too.
	RecoveryCrashes bool
	// Verify: what was recovered and checked is unmounted, and each component that is a Verifier looks at all of it (FiSC's double fsck).
	Verify bool
	// WriteThrough: the disks have no cache that a crash empties. What has completed is durable, as on the RAM disks of EXPLODE.
	WriteThrough bool
	// Guard watches the disks of the stack that are guarded.
	Guard Guard
	// Soft: crashes of the programs that a Mutate runs between CheckCrashesStart and CheckCrashesEnd are tried, too, at each of their system calls
	// that changes what is below the top of the stack.
	Soft bool
	// Restore is how states are reached; "": ByCost.
	Restore Restoring
	// HostOnly: crash disks are judged by Judge alone.
	HostOnly bool
	// Threads has the threads of the stack's components, as Component.Threads says, run when it is their turn: before each Mutate it is that of
	// none, or of one, which has so long (at most 10 s) to have something to do. The System has to have the module fsw_ekm. 0: they run as they
	// like.
	Threads time.Duration
}

// A Judge looks at crash disks on the host, without a mount.
type Judge interface {
	// Judge says what is wrong with a crash disk: nil where nothing is. They come in the order in which they are formed.
	Judge(ctx context.Context, s *crash.State) (Judgement, error)
}

// A Judgement is what a Judge says.
type Judgement struct {
	Found     *Found
	Undecided bool // it could not say
	Pruned    bool // it is what it said of another that is the same in all that counts
}

// Totals are what a run has done, all its parts together.
type Totals struct {
	States      uint64  `json:"states"`                // with different signatures
	Runs        uint64  `json:"runs"`                  // of Mutate, each with other choices
	CrashStates uint64  `json:"crash_states"`          // disks that crashes left, each different for what was expected
	Early       uint64  `json:"early,omitempty"`       // of them, those with blocks that had not been submitted
	Possible    float64 `json:"possible"`              // crash states that there are, those that are equal counted as often as they arise
	SoftStates  uint64  `json:"soft_states,omitempty"` // prefixes of system calls
	Sampled     uint64  `json:"sampled"`               // moments with more crash states than the limit
	Pruned      uint64  `json:"pruned"`                // crash states that were like others
	Judged      uint64  `json:"judged"`                // on the host
	Undecided   uint64  `json:"undecided"`             // of them, those of which the judge could not say
	Recovered   uint64  `json:"recovered"`             // in the guest
	Interrupted uint64  `json:"interrupted,omitempty"` // disks that crashes during recovery left
	Unread      uint64  `json:"unread,omitempty"`      // of them, those that differ in nothing that the recovery reads
	Remembered  uint64  `json:"remembered,omitempty"`  // recoveries that were not run, since one that read the same was
	Failed      uint64  `json:"failed"`                // runs in which calls inside the kernel failed
	Loaded      uint64  `json:"loaded,omitempty"`      // runs that began with a checkpoint
	Diverged    uint64  `json:"diverged"`              // replays that were not what they had been
	Idle        uint64  `json:"idle,omitempty"`        // turns of threads that had nothing to do
	Strayed     uint64  `json:"strayed,omitempty"`     // runs in which a thread ran though it was held: they may not replay
	Waiting     uint64  `json:"waiting"`               // states whose children are not all run
	Deepest     int     `json:"deepest"`               // calls of Mutate
	Seconds     float64 `json:"seconds"`
	Restoring   float64 `json:"restoring_seconds"`  // of them: to be in a state again, once for each run
	Recovering  float64 `json:"recovering_seconds"` // of them: recovering and checking crash disks
}

// An Event is what happens in a run.
type Event struct {
	Event string `json:"event"` // "progress", "error", "diverged", "strayed"
	Totals
	Depth int    `json:"depth,omitempty"` // of what is run
	Error *Error `json:"error,omitempty"`
	Text  string `json:"text,omitempty"`
}

// A Summary is what a run has found.
type Summary struct {
	Totals
	Asked    map[string]uint64 // by property, how many crashes were tried for it: those that are like others are counted too
	Errors   []Error
	Complete bool // there is nothing more to explore
}

// explorer is a run.
type explorer struct {
	Config
	store   *store
	session *session
	totals  Totals
	asked   map[string]uint64
	errors  []Error
	began   time.Time
	before  float64         // seconds of earlier parts of the run
	told    time.Time       // of the last progress
	memo    map[string]bool // crash disks that are recovered as they should be
	stop    context.Context // its end stops the run, between two things that are done to the machine
}

// stopped returns why the run is to stop; nil while it is not.
func (x *explorer) stopped() error { return x.stop.Err() }

const (
	maxMemo       = 1 << 20
	progressEvery = 2 * time.Second
)

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
	x := &explorer{Config: cfg, began: time.Now(), asked: make(map[string]uint64), memo: make(map[string]bool), stop: ctx}
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
	x.session.account, x.session.soft, x.session.restorer.way = x.NewAccount, x.Soft, x.Restore
	x.session.failing, x.session.turns.wait = x.Failures > 0, x.Threads
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
			x.tell(Event{Event: "progress", Depth: len(st.Steps) + 1})
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
	f := &finding{ran: r, Found: r.found}
	var recovered uint64
	x.strayed(r)
	if r.found == nil {
		asked := maps.Clone(x.asked)
		if f, recovered, err = x.checkCrashes(ctx, r); err == nil && (f == nil || f.Found == nil) {
			f, err = x.checkSoft(ctx, r)
		}
		if err != nil {
			x.totals, x.asked = before, asked
			return err
		}
	}
	var reported *Error
	if f != nil && f.Found != nil {
		if reported, err = x.report(ctx, f); err != nil {
			return err
		}
	}
	var besides []*Error
	for _, found := range r.beside {
		e, err := x.reportBeside(ctx, &finding{ran: r, Found: found})
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

// strayed tells of threads whose turn it was not, or that did not take it.
func (x *explorer) strayed(r *ran) {
	if r.idle != "" {
		x.totals.Idle++
	}
	if len(r.strayed) == 0 {
		return
	}
	x.totals.Strayed++
	x.tell(Event{Event: "strayed", Depth: len(r.steps), Text: strings.Join(r.strayed, ", ") + " ran though held: this may not replay"})
}

// reportBeside reports what is wrong and ends nothing. The first of its kind has to be seen twice: what the kernel writes back now and then, on
// its own account, may have come between a call and its return.
func (x *explorer) reportBeside(ctx context.Context, f *finding) (*Error, error) {
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
func (x *explorer) grow(c *change, r *ran, recovered uint64) error {
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
func (x *explorer) advance(c *change, key []byte, st *state, r *ran) error {
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
func (x *explorer) failMore(c *change, st *state, r *ran) error {
	if r.fail == nil || len(st.Fail) >= x.Failures {
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

// A finding is an error with what led to it.
type finding struct {
	*Found
	*ran
	disk *crashDisk // nil: no crash was needed
	soft *SoftCrash
}

var errEnough = errors.New("an error was found")

// checkCrashes tries the crashes that a run asked for, up to the first error. recovered is the most that a recovery wrote, in sectors.
func (x *explorer) checkCrashes(ctx context.Context, r *ran) (f *finding, recovered uint64, err error) {
	if len(r.windows) == 0 {
		return nil, 0, nil
	}
	if found, err := x.session.finish(ctx); err != nil || found != nil {
		r.kernel = slices.Clone(x.session.heard)
		return &finding{Found: found, ran: r}, 0, err
	}
	r.kernel = slices.Clone(x.session.heard)
	by, err := x.newExaminer(ctx)
	if err != nil {
		return nil, 0, err
	}
	stats, err := x.session.crashes(r, x.Crash, func(c crashed) error {
		if err := x.stopped(); err != nil {
			return err
		}
		bad, wrote, err := x.checkCrash(ctx, by, c)
		if err != nil {
			return err
		}
		x.count(c, by.judge)
		recovered = max(recovered, wrote)
		if bad != nil {
			f = &finding{Found: bad.Found, ran: r, disk: x.session.keep(bad.crashed)}
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	x.totals.Pruned += uint64(stats.Repeated)
	x.totals.Possible += stats.Possible
	x.totals.Sampled += uint64(stats.Sampled)
	return f, recovered, err
}

// count notes for what a crash was tried.
func (x *explorer) count(c crashed, judge Judge) {
	x.asked[c.property()]++
	if judge != nil {
		x.asked[Invariant]++
	}
	if !x.HostOnly {
		x.asked[Recovered]++
	}
}

// An examiner is what looks at the crash disks of one run.
type examiner struct {
	judge      Judge       // nil: there is none
	recovering *recovering // nil: no crashes during recovery are tried
}

func (x *explorer) newExaminer(ctx context.Context) (*examiner, error) {
	by := new(examiner)
	if x.RecoveryCrashes {
		by.recovering = newRecovering(ctx, x)
	}
	if x.NewJudge == nil {
		return by, nil
	}
	var bases []crash.Base
	for _, b := range x.session.bases {
		bases = append(bases, b)
	}
	var err error
	by.judge, err = x.NewJudge(ctx, bases)
	return by, err
}

// A badDisk is a crash disk on which an error shows.
type badDisk struct {
	*Found
	crashed
}

// checkCrash judges one crash disk: on the host, then by its recovery and by the checker. bad is nil where nothing is wrong with it.
func (x *explorer) checkCrash(ctx context.Context, by *examiner, c crashed) (bad *badDisk, wrote uint64, err error) {
	key, known := c.key()
	key += c.sum()
	if known && !x.NoPrune && x.memo[key] {
		x.totals.Pruned++
		return nil, 0, nil
	}
	x.totals.CrashStates++
	if x.CrashFrom == FromWriteSet && len(c.Early()) > 0 {
		x.totals.Early++
	}
	if by.judge != nil {
		x.totals.Judged++
		j, err := by.judge.Judge(ctx, c.State)
		if j.Undecided {
			x.totals.Undecided++
		}
		if j.Pruned {
			x.totals.Pruned++
		}
		if err != nil || j.Found != nil {
			return &badDisk{j.Found.of(Invariant), c}, 0, err
		}
	}
	switch {
	case x.HostOnly:
	case by.recovering != nil:
		bad, wrote, err = by.recovering.check(c)
	default:
		var found *Found
		var records []ramdisk.Record
		if found, records, err = x.recover(ctx, c.State, c.Crash); found != nil {
			bad = &badDisk{found, c}
		}
		wrote = written(records)
	}
	if err == nil && bad == nil && known {
		x.remember(key)
	}
	return bad, wrote, err
}

// recover recovers and checks a disk. What its recovery read and wrote is told where it is logged.
func (x *explorer) recover(ctx context.Context, disk *crash.State, about Crash) (*Found, []ramdisk.Record, error) {
	begin := time.Now()
	x.totals.Recovered++
	found, records, err := x.session.recovered(ctx, disk, about)
	x.totals.Recovering += time.Since(begin).Seconds()
	return found, records, err
}

// remember notes that a disk is as it should be.
func (x *explorer) remember(key string) {
	if len(x.memo) >= maxMemo {
		clear(x.memo) // what is equal to one of these is recovered again
	}
	x.memo[key] = true
}

// ErrNotBegun: a run could not be begun, and there is nothing in its folder.
var ErrNotBegun = errors.New("it did not get as far as its first state")

// Origin returns Config.Origin of the run in a folder. Where that is ErrNotBegun another may begin there.
func Origin(dir string) (origin json.RawMessage, err error) {
	if _, err := os.Stat(filepath.Join(dir, storeName)); err != nil {
		return nil, fmt.Errorf("no run was begun in %s: %w", dir, err)
	}
	s, err := openStore(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if found, err := s.meta(keyConfig, &origin); err != nil || !found {
		return nil, errors.Join(fmt.Errorf("the run in %s: %w", dir, ErrNotBegun), err)
	}
	return origin, nil
}

// Read returns what the run in a folder has found so far.
func Read(dir string) (sum Summary, err error) {
	if _, err := Origin(dir); err != nil {
		return sum, err
	}
	s, err := openStore(dir)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if _, err := s.meta(keyTotals, &sum.Totals); err != nil {
		return sum, err
	}
	if _, err := s.meta(keyAsked, &sum.Asked); err != nil {
		return sum, err
	}
	sum.Complete = sum.Waiting == 0
	sum.Errors, err = s.errors()
	return sum, err
}
