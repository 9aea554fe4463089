package explore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fsward/explore/agent"
	"fsward/explore/durable"
)

// A session explores one stack on one machine: it reaches states, and recovers crash states. It has
// one part each for the stack, the disks, their logs, their guard, the threads and the checkpoints.
type session struct {
	target   *target
	recovery *target // where crash states are recovered; target, unless Config.Recovery is set
	disks    *diskSet
	recorder *recorder
	guard    *diskGuard // nil: no disk is guarded
	threads  *threadScheduler
	restorer *restorer
	pristine Checkpoint // with pristine disks and nothing mounted; nil: no checkpoints

	newAccount  func() *durable.Account        // Config.NewAccount
	inject      bool                           // record which calls in the kernel can fail
	faulty      faultyCalls                    // which calls fail if faults are injected
	mountHits   []agent.Hit                    // of the last mountWithFault
	countCalls  bool                           // count the system calls of the last step
	logRecovery bool                           // log the reads and writes of recoveries
	checking    time.Duration                  // of the checker after the last recovery
	told        map[transcriptKey]agent.Result // to the check of the last recovery: readAhead.told
	verify      bool                           // Config.Verify
	hashDisks   bool                           // Config.HashDisks
	isError     func(kind string) bool         // Config.isError
	ahead       *readAhead                     // of the last recovery; nil: there was none
	replays     *replayAhead                   // sends the requests of steps ahead; nil: nothing does
	covering    bool                           // record the kernel's coverage of each last step
	pulse       *pulse                         // reports the progress; nil in a replay
}

// newSession makes the disks and the stack, and keeps their pristine state.
func newSession(ctx context.Context, cfg Config) (_ *session, err error) {
	if err := cfg.Stack.Check(); err != nil {
		return nil, err
	}
	disks, err := makeDisks(ctx, cfg.System, cfg.Stack.Disks(), cfg.WriteThrough)
	if err != nil {
		return nil, err
	}
	threads := &threadScheduler{wait: cfg.Threads}
	s := &session{
		target: &target{stack: cfg.Stack, system: cfg.System, threads: threads,
			kernelChoices: cfg.KernelChoices, kernelChecks: cfg.KernelChecks,
			limit: cfg.CommandLimit},
		disks:    disks,
		recorder: &recorder{disks: disks},
		threads:  threads,
		restorer: &restorer{system: cfg.System, method: cfg.Restore},

		newAccount:  cfg.NewAccount,
		inject:      cfg.MaxFaults > 0,
		faulty:      faultyCalls{points: cfg.FailPoints},
		countCalls:  cfg.ProcessCrashes,
		logRecovery: cfg.Strategy == MostRecovery || cfg.RecoveryCrashes,
		verify:      cfg.Verify,
		hashDisks:   cfg.HashDisks,
		isError:     cfg.isError,
	}
	s.recovery = s.target
	if s.faulty.points == nil {
		s.faulty.points = DefaultFailPoints()
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close(ctx))
		}
	}()
	if err := s.make(ctx); err != nil {
		return nil, err
	}
	if cfg.Recovery != nil {
		if err := s.recoverApart(ctx, cfg.Recovery); err != nil {
			return nil, err
		}
	}
	if err := s.prepare(ctx, cfg); err != nil {
		return s, err
	}
	s.replays = newReplayAhead(s)
	return s, nil
}

// make makes the stack, and keeps the pristine disks and a pristine checkpoint of the machine.
func (s *session) make(ctx context.Context) (err error) {
	if s.target.kernelChoices {
		if err := s.loadEKM(ctx); err != nil {
			return err
		}
	}
	choices := new(Chooser)
	if err := s.target.make(s.target.choosing(ctx, s.target.system, choices)); err != nil {
		return err
	}
	if err := s.disks.keep(ctx, choices.Taken()); err != nil {
		return err
	}
	if s.target.mounts, err = mountLines(s.target.env(ctx)); err != nil {
		return err
	}
	begin := time.Now()
	s.pristine, err = s.target.system.Save(ctx)
	if errors.Is(err, errors.ErrUnsupported) {
		s.pristine, err = nil, nil
	}
	s.restorer.saving.since(begin)
	return err
}

// prepare sets up the guard, the log of the write set, and the module fsw_ekm.
func (s *session) prepare(ctx context.Context, cfg Config) (err error) {
	if s.guard, err = guardDisks(s.disks, cfg.Guard); err != nil {
		return err
	}
	s.recorder.guard = s.guard
	if s.guard != nil {
		s.restorer.method = ByReplay // a guard has no checkpoints
	}
	if err := s.recorder.writeSet.begin(cfg.System, cfg.CrashFrom); err != nil {
		return err
	}
	return s.loadEKM(ctx)
}

// loadEKM loads the module fsw_ekm, if the configuration needs it.
func (s *session) loadEKM(ctx context.Context) error {
	if !s.inject && !s.target.kernelChoices && s.target.kernelChecks == 0 && s.threads.wait == 0 &&
		s.recorder.writeSet.system == nil {
		return nil
	}
	const load = "grep -q '^fsw_ekm ' /proc/modules || insmod /fsward/fsw_ekm.ko"
	if err := s.target.env(ctx).Sh(load); err != nil {
		return fmt.Errorf("the module fsw_ekm cannot be loaded: %w", err)
	}
	return nil
}

// close unmounts the stack and removes the disks. If the machine has failed and there is no
// pristine checkpoint, it leaves it as it is.
func (s *session) close(ctx context.Context) error {
	return errors.Join(s.endRecovery(ctx), s.closeSteps(ctx))
}

// closeSteps is close for the machine on which the steps run.
func (s *session) closeSteps(ctx context.Context) error {
	if s.target.dead {
		if s.pristine == nil {
			return nil
		}
		if err := s.reset(ctx); err != nil {
			return err
		}
	}
	_, err := s.target.unmount(s.target.env(ctx), false)
	if s.inject && !s.target.dead {
		_, off := s.target.env(ctx).Do(agent.FailOff())
		err = errors.Join(err, off)
	}
	err = errors.Join(err, s.recorder.writeSet.end(ctx, s.disks.list))
	err = errors.Join(err, s.guard.end(ctx), s.guard.close(), s.disks.remove(ctx))
	if s.pristine != nil {
		err = errors.Join(err, s.restorer.forget(ctx), s.target.system.Forget(ctx, s.pristine))
	}
	return err
}

// reset restores a machine that has failed to its pristine checkpoint.
func (s *session) reset(ctx context.Context) error {
	if s.pristine == nil {
		return errors.New("the machine has failed, and it has no checkpoint to restore")
	}
	if err := s.target.system.Load(ctx, s.pristine); err != nil {
		return fmt.Errorf("the machine has failed and cannot be restored: %w", err)
	}
	s.target.restored(false)
	s.recorder.restored(false)
	s.threads.resume(nil)
	s.guard.lost()
	if err := s.disks.remake(ctx, s.target); err != nil {
		return err
	}
	return s.loadEKM(ctx) // the checkpoint is older than the load of the module
}

// ready restores a machine that has failed or is worn, and switches both logs off. It drops the
// records of an execution that did not reach its end.
func (s *session) ready(ctx context.Context) error {
	if s.target.dead || s.target.worn() {
		if err := s.reset(ctx); err != nil {
			return err
		}
	}
	_, err := s.recorder.history(ctx)
	return err
}

// load restores the pristine disks where crash states are recovered, and writes pages to them.
// Nothing may be mounted there. Both logs are off afterwards.
func (s *session) load(ctx context.Context, pages map[uint32][]agent.Page) error {
	if err := s.readyToRecover(ctx); err != nil {
		return err
	}
	return s.disks.loadInto(ctx, s.recovery.system, pages)
}
