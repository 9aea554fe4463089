package explore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"fsward/explore/agent"
	"fsward/explore/crash"
	"fsward/explore/durable"
	"fsward/explore/guest"
	"fsward/explore/ramdisk"
	"fsward/interp"
)

// pristine is the name of the snapshots of the disks as Init left them.
const pristine = "fsward-pristine"

// session is a stack on a system.
type session struct {
	stack  Stack
	system System
	disks  []*Disk
	bases  []memory   // what the pristine disks hold
	saved  Checkpoint // of the machine with pristine disks, nothing mounted; nil: it has none

	through bool     // Config.WriteThrough
	dirty   writeSet // what the kernel could write
	up      bool     // the stack is mounted
	logging bool     // bios are logged
	logged  bool     // the log may have records
	work    bool     // what a recovery reads and writes is logged
	verify  bool     // what was recovered is verified
	mounts  []string // lines of what is mounted while the stack is not; nil: nobody knows
	heard   []string // what the kernel said since the last run, or recovery, began
	failing bool     // the kernel is asked what could fail
	soft    bool     // the system calls of the last step are counted
	dead    bool     // the machine has failed, or nobody knows what is mounted

	account  func() *durable.Account // a new one, of the disks joined; nil: none is kept
	guarding *guarding               // nil: no disk is guarded
	restorer restorer
	turns    turns
}

// memory is what a pristine disk holds: a crash.Base, and what a disk is read into.
type memory []byte

// Size returns the size in bytes.
func (m memory) Size() uint64 { return uint64(len(m)) }

// ReadAt reads.
func (m memory) ReadAt(b []byte, off int64) (int, error) {
	if err := m.bounds(b, off); err != nil {
		return 0, err
	}
	return copy(b, m[off:]), nil
}

// WriteAt writes.
func (m memory) WriteAt(b []byte, off int64) (int, error) {
	if err := m.bounds(b, off); err != nil {
		return 0, err
	}
	return copy(m[off:], b), nil
}

func (m memory) bounds(b []byte, off int64) error {
	if off < 0 || off > int64(len(m)) || len(b) > len(m)-int(off) {
		return fmt.Errorf("%d bytes at %d: outside the disk of %d bytes", len(b), off, len(m))
	}
	return nil
}

// newSession makes the disks and what stands on them, and keeps that.
func newSession(ctx context.Context, cfg Config) (_ *session, err error) {
	stack, system := cfg.Stack, cfg.System
	if err := stack.Check(); err != nil {
		return nil, err
	}
	s := &session{stack: stack, system: system, disks: stack.Disks(), through: cfg.WriteThrough}
	for _, d := range s.disks {
		if err := system.MakeDisk(ctx, d.Number, d.Bytes); err != nil {
			return nil, err
		}
		s.bases = append(s.bases, make(memory, d.Bytes))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close(ctx))
		}
	}()
	e := NewEnv(ctx, system, new(Chooser))
	// Mounted once, since what the first mount changes is not to be part of each replay; and so that it is known that it can be.
	if err := stack.up(func(c Component) error { return errors.Join(c.Init(e), c.Mount(e)) }); err != nil {
		return nil, fmt.Errorf("cannot make the stack: %w", err)
	}
	if err := stack.down(func(c Component) error { return c.Unmount(e) }); err != nil {
		return nil, fmt.Errorf("cannot unmount the stack: %w", err)
	}
	for i, d := range s.disks {
		if err := system.ReadDisk(ctx, d.Number, d.Bytes, s.bases[i]); err != nil {
			return nil, err
		}
		if err := system.Snapshot(ctx, d.Number, pristine); err != nil {
			return nil, err
		}
	}
	s.mounts, err = mounts(e)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	if s.saved, err = system.Save(ctx); errors.Is(err, errors.ErrUnsupported) {
		s.saved, err = nil, nil
	}
	s.restorer.saving.since(begin)
	return s, err
}

// close unmounts and removes the disks. A machine that has failed and cannot be put back keeps them.
func (s *session) close(ctx context.Context) error {
	if s.dead {
		if s.saved == nil {
			return nil
		}
		if err := s.reset(ctx); err != nil {
			return err
		}
	}
	_, err := s.down(ctx)
	err = errors.Join(err, s.dirty.end(ctx, s.disks))
	if s.guarding != nil {
		err = errors.Join(err, os.RemoveAll(s.guarding.dir))
	}
	for _, d := range s.disks {
		err = errors.Join(err, s.system.RemoveDisk(ctx, d.Number))
	}
	if s.saved != nil {
		err = errors.Join(err, s.forget(ctx), s.system.Forget(ctx, s.saved))
	}
	return err
}

// reset has a machine that failed work again.
func (s *session) reset(ctx context.Context) error {
	if s.saved == nil {
		return errors.New("the machine has failed, and there is no checkpoint of it")
	}
	if err := s.system.Load(ctx, s.saved); err != nil {
		return fmt.Errorf("the machine has failed, and cannot be put back: %w", err)
	}
	s.dead, s.up, s.logging, s.logged, s.dirty.on, s.dirty.some = false, false, false, false, false, false
	s.turns.held = nil
	return s.loadEKM(ctx) // it was not loaded when that was made
}

// log switches the log. While nobody asks what is written none is kept: it would have to be read.
func (s *session) log(ctx context.Context, on bool) error {
	if s.logging == on {
		return nil
	}
	for _, d := range s.disks {
		if err := s.system.Log(ctx, d.Number, on); err != nil {
			return err
		}
	}
	s.logging, s.logged = on, s.logged || on
	return nil
}

// records switches the log off and takes what there is in it.
func (s *session) records(ctx context.Context) ([]ramdisk.Record, error) {
	if err := s.log(ctx, false); err != nil || !s.logged {
		return nil, err
	}
	out, err := s.system.Records(ctx)
	s.logged = err != nil
	return out, err
}

// A history is what was written to the disks, and what the kernel could have written.
type history struct {
	records []ramdisk.Record
	blocks  []crash.Block
}

// and is a history with what followed.
func (h history) and(later history) history {
	return history{slices.Concat(h.records, later.records), slices.Concat(h.blocks, later.blocks)}
}

// history switches both logs off and takes what there is in them.
func (s *session) history(ctx context.Context) (h history, err error) {
	if err := s.dirty.log(ctx, s.disks, false); err != nil {
		return h, err
	}
	if h.records, err = s.records(ctx); err == nil {
		h.blocks, err = s.dirty.take(ctx)
	}
	return h, err
}

// written is how many sectors bios have written.
func written(records []ramdisk.Record) (sectors uint64) {
	for _, r := range records {
		if r.Type == ramdisk.Complete && r.Op == ramdisk.Write {
			sectors += r.Done / ramdisk.SectorSize
		}
	}
	return sectors
}

// load puts pages over the pristine disks. Nothing is mounted, and nothing is logged.
func (s *session) load(ctx context.Context, pages map[uint32][]agent.Page) error {
	if s.dead {
		if err := s.reset(ctx); err != nil {
			return err
		}
	}
	if _, err := s.history(ctx); err != nil { // of what did not get to its end
		return err
	}
	for _, d := range s.disks {
		if err := s.system.Restore(ctx, d.Number, pristine); err != nil {
			return err
		}
		if len(pages[d.Number]) > 0 {
			if err := s.system.WritePages(ctx, d.Number, pages[d.Number]); err != nil {
				return err
			}
		}
	}
	return nil
}

// mount mounts the stack, after a crash recovered.
func (s *session) mount(e *Env, crashed bool) *Found {
	s.up = true
	if crashed {
		if err := s.stack.up(func(c Component) error { return c.Recover(e) }); err != nil {
			return s.judged(e, "recovery failed", err)
		}
	}
	if err := s.stack.up(func(c Component) error { return c.Mount(e) }); err != nil {
		return s.judged(e, "mount failed", err)
	}
	return s.judged(e, "", nil)
}

// down unmounts the stack.
func (s *session) down(ctx context.Context) (*Found, error) { return s.unmount(ctx, false) }

// unmount unmounts the stack. If verify is set, each component that can looks at all that it holds, before what it stands on is unmounted.
func (s *session) unmount(ctx context.Context, verify bool) (*Found, error) {
	if !s.up || s.dead {
		return nil, nil
	}
	e := NewEnv(ctx, s.system, new(Chooser))
	s.up = false
	var wrong error
	err := s.releaseThreads(e)
	if err == nil {
		err = s.stack.down(func(c Component) error {
			if err := c.Unmount(e); err != nil {
				return err
			}
			if v, ok := c.(Verifier); ok && verify && wrong == nil {
				wrong = v.Verify(e)
			}
			return nil
		})
	}
	f := s.judged(e, "unmount failed", err)
	if f != nil {
		s.dead = true
	} else if wrong != nil {
		f = s.judged(e, "not repaired", wrong)
	}
	return f, fatal(e)
}

// mounts are the lines of what is mounted. A machine that has no such file knows of none.
func mounts(e *Env) ([]string, error) {
	text, err := e.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil, e.Err()
	}
	return slices.Collect(strings.Lines(string(text))), nil
}

// left is a mount that is still there, though the stack was unmounted.
func (s *session) left(ctx context.Context) (*Found, error) {
	if s.mounts == nil || s.dead {
		return nil, nil
	}
	e := NewEnv(ctx, s.system, new(Chooser))
	now, err := mounts(e)
	if err != nil {
		return s.judged(e, "", err), fatal(e)
	}
	before := slices.Clone(s.mounts)
	for _, line := range now {
		if i := slices.Index(before, line); i >= 0 {
			before = slices.Delete(before, i, i+1) // as often as it is there: one can be on top of another like it
		} else {
			s.dead = true // it holds the disk
			return &Found{Kind: "mount left", Text: "all was unmounted, and this is still there: " + line}, nil
		}
	}
	return nil, nil
}

// judged makes of an error, of a machine that failed, and of what its kernel said, what was found. An error that is not a *Found is of
// the given kind.
func (s *session) judged(e *Env, kind string, err error) *Found {
	var found *Found
	var failure *guest.Failure
	s.heard = append(s.heard, e.kernel[e.heard:]...)
	e.heard = len(e.kernel)
	switch {
	case errors.As(e.Err(), &failure):
		s.dead = true
		return &Found{Kind: string(failure.Kind), Text: failure.Error()}
	case e.Err() != nil && errors.As(e.Err(), &found): // a request that did not end
		s.dead = true
		return found
	case e.Err() != nil: // fatal tells
	case errors.As(err, &found):
		return found
	case err != nil:
		found = &Found{Kind: kind, Text: err.Error()}
	default:
		return s.kernelFault(e)
	}
	return found
}

// kernelFault is what the kernel has said that it does not say while it is well.
func (s *session) kernelFault(e *Env) *Found {
	if text := kernelFault(e.kernel); text != "" {
		s.dead = true // what a kernel does after that nobody knows
		return &Found{Kind: "kernel: " + faultKind(text), Text: text}
	}
	return nil
}

// fatal is the failure of a machine that is no finding: it is gone, or we are.
func fatal(e *Env) error {
	var failure *guest.Failure
	var found *Found
	if err := e.Err(); err != nil && !errors.As(err, &found) && (!errors.As(err, &failure) || failure.Kind == guest.Gone) {
		return err
	}
	return nil
}

// faults begin what a kernel says of its own bugs: BUG() and WARN(), lib/bug.c; hung tasks, kernel/hung_task.c; stalls, kernel/rcu and
// kernel/watchdog.c are left out, since an emulated processor on a busy host has them.
var faults = []string{"BUG: ", "kernel BUG at ", "WARNING: CPU: ", "INFO: task ", "general protection fault", "Oops: "}

// kernelFault returns the part of a kernel's log that tells of a bug in it; "" if none does.
func kernelFault(texts []string) string {
	for _, text := range texts {
		for _, word := range faults {
			if i := strings.Index(text, word); i >= 0 {
				return text[i:]
			}
		}
	}
	return ""
}

// faultKind is the part of a fault that is the same whenever it comes: the place in the source where it says so.
func faultKind(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	if _, place, ok := strings.Cut(line, " at "); ok {
		return strings.TrimRight(place, "!")
	}
	return line
}

// A ran is what one run of a sequence of Mutates gave.
type ran struct {
	steps   [][]Choice // as taken
	did     [][]string // by step
	next    []uint32   // with what the next child of the same parent begins
	more    bool       // there is one
	found   *Found
	sig     string   // hash
	fail    *failer  // nil: nothing was to fail
	beside  []*Found // what is wrong and ends nothing: calls that returned too early, writes that a guard would refuse
	calls   []promise
	soft    []string // system calls of the last step
	windows []window
	before  history // that was read before the last step
	history
	kernel  []string      // what the kernel said
	loaded  bool          // a checkpoint was put back
	took    time.Duration // to be where the parent is
	idle    string        // the thread whose turn it was, and which had nothing to do: Mutate was not called
	strayed []string      // threads that ran though they were held
}

// run mounts the pristine disks, replays the steps of a state, and calls Mutate once more, with choices that begin with next; not once
// more if alone is true. An error that is a *DivergedError says that the replay was not what it was.
func (s *session) run(ctx context.Context, st *state, more bool) (r *ran, err error) {
	begin := time.Now()
	r = &ran{steps: slices.Clone(st.Steps)}
	e, err := s.reach(ctx, st, r, more && st.Sig != "") // what has no signature is to be shown again: from the beginning
	if err != nil {
		return nil, err
	}
	checker := s.stack.Checker
	if len(st.Steps) > 0 || !more {
		if r.sig, r.found, err = s.signature(e, st.Steps); err != nil || r.found != nil {
			return r, err
		}
		if st.Sig != "" && r.sig != st.Sig {
			return nil, &SignatureError{Want: st.Sig, Got: r.sig}
		}
	}
	r.took = time.Since(begin)
	if !more {
		return r, nil
	}
	e = NewEnv(ctx, s.system, new(Chooser))
	e.chooser.loaded = st.Next
	if s.failing || st.Fail != nil {
		e.fail = &failer{plan: st.Fail}
		r.fail = e.fail
	}
	e.account = s.account != nil && st.soft == nil
	if err := e.mark(markStep, "last"); err != nil {
		return nil, err
	}
	idle, mutated := s.turn(e)
	if r.idle = idle; idle != "" {
		r.did, r.steps = append(r.did, e.did), append(r.steps, e.chooser.Taken())
		r.ready(e)
		return r, nil
	}
	if s.soft {
		e.soft = &softer{at: s.stack.Top.Path(), plan: st.soft}
	}
	began := time.Now()
	if mutated == nil {
		mutated = checker.Mutate(e)
	}
	if r.loaded {
		s.restorer.afterLoad.since(began)
	} else {
		s.restorer.afterReplay.since(began)
	}
	if e.ended() {
		mutated = nil // whatever it made of that
	}
	r.strayed = s.strays(e)
	r.found = s.judged(e, "mutate failed", mutated)
	r.did = append(r.did, e.did)
	r.steps = append(r.steps, e.chooser.Taken())
	if err := errors.Join(fatal(e), e.chooser.Err()); err != nil {
		return nil, err
	}
	if st.soft != nil {
		if r.found == nil {
			r.found, err = s.softChecked(e, st.soft)
		}
		return r, err
	}
	if e.soft != nil {
		r.soft = e.soft.calls
		e.soft = nil
	}
	if r.found == nil && e.open {
		return nil, errors.New("the checker's Mutate has called CheckCrashesStart and not CheckCrashesEnd")
	}
	r.windows, r.calls = e.windows, e.calls
	r.ready(e)
	if r.found == nil {
		r.sig, r.found, err = s.signature(e, r.steps)
	}
	if err == nil && !s.dead {
		r.history, err = s.history(ctx)
		r.history = r.before.and(r.history)
	}
	if err == nil && !s.dead {
		err = s.besides(ctx, r)
	}
	r.kernel = slices.Clone(s.heard)
	return r, err
}

// ready notes which child of the same parent is next.
func (r *ran) ready(e *Env) {
	if e.chooser.Next() {
		r.next, r.more = e.chooser.loaded, true
	}
}

// besides looks at what was written.
func (s *session) besides(ctx context.Context, r *ran) error {
	var owed, refused *Found
	var err error
	if len(r.calls) > 0 {
		owed, err = s.owed(r)
	}
	if err == nil && s.guarding != nil {
		refused, err = s.refused(ctx, r)
	}
	for _, f := range []*Found{owed, refused} {
		if f != nil {
			r.beside = append(r.beside, f)
		}
	}
	return err
}

// A SignatureError says that a replay of the same choices led to another state.
type SignatureError struct{ Want, Got string }

func (e *SignatureError) Error() string {
	return "the replay diverged: the same choices led to a state with another signature"
}

// diverged is the error of a replay in which something went wrong that did not the first time.
func (s *session) diverged(e *Env, f *Found, where string) error {
	if err := fatal(e); err != nil {
		return err
	}
	return &DivergedError{Want: Choice{N: 1, Site: where + " without an error"}, Got: Choice{Site: where + ": " + f.Error()}}
}

// signature is the hash of the state's signature.
func (s *session) signature(e *Env, steps [][]Choice) (string, *Found, error) {
	sig, err := s.stack.Checker.Signature(e)
	if f := s.judged(e, "signature failed", err); f != nil || fatal(e) != nil {
		return "", f, fatal(e)
	}
	if sig == nil {
		for _, step := range steps {
			sig = fmt.Appendf(sig, "%v;", Values(step))
		}
	} else if s.turns.wait > 0 {
		sig = append(slices.Clip(sig), s.turns.taken(steps)...)
	}
	sum := sha256.Sum256(sig)
	return hex.EncodeToString(sum[:16]), nil, nil
}

// finish unmounts the stack without a crash.
func (s *session) finish(ctx context.Context) (*Found, error) {
	if s.dead || !s.up {
		return nil, nil
	}
	e := NewEnv(ctx, s.system, new(Chooser))
	err := s.stack.Checker.Finish(e)
	if f := s.judged(e, "finish failed", err); f != nil || fatal(e) != nil {
		return f, fatal(e)
	}
	if f, err := s.down(ctx); err != nil || f != nil {
		return f, err
	}
	return s.left(ctx)
}

// recovered puts a disk in, recovers and mounts it, and asks the checker. records are what the recovery read and wrote, if that is logged.
func (s *session) recovered(ctx context.Context, disk *crash.State, about Crash) (f *Found, records []ramdisk.Record, err error) {
	if _, err := s.down(ctx); err != nil {
		return nil, nil, err
	}
	s.heard = nil
	if err := s.load(ctx, s.pages(disk)); err != nil {
		return nil, nil, err
	}
	if err := s.log(ctx, s.work); err != nil {
		return nil, nil, err
	}
	e := NewEnv(ctx, s.system, new(Chooser))
	e.frozen = true
	f = s.mount(e, true).of(Recovered)
	if f == nil && fatal(e) == nil {
		if records, err = s.records(ctx); err != nil {
			return nil, nil, err
		}
		f = s.judged(e, "check failed", s.stack.Checker.Check(e, about)).of(about.property())
	}
	if err := fatal(e); err != nil {
		return nil, nil, err
	}
	if s.dead {
		return f, nil, nil
	}
	g, err := s.unmount(ctx, s.verify && f == nil)
	if f == nil {
		f = g.of(Recovered)
	}
	return f, records, err
}

// pages are those in which a disk differs from the pristine ones, by number of the disk.
func (s *session) pages(disk *crash.State) map[uint32][]agent.Page {
	over := make(map[uint64][]byte)
	for ; disk != nil; disk = disk.From() {
		for addr, contents := range disk.Pages() {
			if _, is := over[addr]; !is {
				over[addr] = contents
			}
		}
	}
	out := make(map[uint32][]agent.Page)
	for _, addr := range slices.Sorted(maps.Keys(over)) {
		i, off := interp.Locate(addr)
		n := s.disks[i].Number
		out[n] = append(out[n], agent.Page{Number: off / ramdisk.PageSize, Data: over[addr]})
	}
	return out
}
