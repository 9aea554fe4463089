package spec

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"fsward/explore"
	"fsward/explore/checkers"
	"fsward/explore/component"
	"fsward/explore/crash"
)

// A Run is a stack with the options of its exploration. Its JSON text is kept with the run, so that
// the run can be resumed. 0, "" and false are defaults.
type Run struct {
	Spec
	Strategy explore.Strategy `json:"strategy,omitempty"`
	Depth    int              `json:"depth,omitempty"`
	Seed     uint64           `json:"seed,omitempty"`
	// Limit is the number of crash states at one moment above which they are sampled.
	Limit int `json:"limit,omitempty"`
	// From selects the writes that crash states are formed from.
	From explore.CrashSource `json:"crash_from,omitempty"`
	// Unit is the part of a write that is atomic.
	Unit explore.CrashUnit `json:"crash_unit,omitempty"`
	// Torn includes torn writes in crash states.
	Torn bool `json:"torn,omitempty"`
	// InOrder forms only crash states whose writes are on the disk up to one, in their order.
	InOrder bool `json:"in_order,omitempty"`
	// Files and Dirs are checkers.Limits.
	Files int `json:"files,omitempty"`
	Dirs  int `json:"dirs,omitempty"`
	// Operations are those of checkers.Limits.Groups, see checkers.ParseGroups; or AutoOperations, or
	// NoOperations.
	Operations string `json:"operations,omitempty"`
	// MaxFaults is the maximum number of faults injected into the kernel in one step.
	MaxFaults int `json:"failures,omitempty"`
	// FailPoints are the kinds of calls that fail: see explore.ParseFailPoints.
	FailPoints string `json:"failure_points,omitempty"`
	// Recovery includes crashes during recovery.
	Recovery bool `json:"recovery_crashes,omitempty"`
	// Verify verifies each recovered disk, and compares a second way to recover.
	Verify bool `json:"double_fsck,omitempty"`
	// AddRules names bundles with the rules of a site, which judge beside the built-in ones.
	AddRules []string `json:"add_rules,omitempty"`
	// NoJudge: the invariants do not judge crash states.
	NoJudge bool `json:"no_judge,omitempty"`
	// NoCommits: recovered trees are not compared with the last commit.
	NoCommits bool `json:"no_commits,omitempty"`
	// NoInspect: no recovered disk is used and verified.
	NoInspect bool `json:"no_inspect,omitempty"`
	// NoPrune: equal crash states are not deduplicated.
	NoPrune bool `json:"no_prune,omitempty"`
	// Through: the disks have no write cache.
	Through bool `json:"write_through,omitempty"`
	// RunIn is where steps run; "": in the guest.
	RunIn Place `json:"run_in,omitempty"`
	// RecoverIn is where crash states are recovered; "": where the steps run.
	RecoverIn Place `json:"recover_in,omitempty"`
	// HostOnly: only the invariants judge crash states.
	HostOnly bool `json:"host_only,omitempty"`
	// ProcessCrashes includes process crashes.
	ProcessCrashes bool `json:"soft,omitempty"`
	// ProcessCrashesOnly is explore.Config.ProcessCrashesOnly.
	ProcessCrashesOnly bool `json:"soft_only,omitempty"`
	// ProcessCrashLimit is explore.Config.ProcessCrashLimit.
	ProcessCrashLimit int               `json:"soft_limit,omitempty"`
	Restore           explore.Restoring `json:"restore,omitempty"`
	// KernelChoices includes the choices of the kernel.
	KernelChoices bool              `json:"kernel_choices,omitempty"`
	Surprises     explore.Surprises `json:"surprises,omitempty"`
	// StrictRecovery makes it an error if a recovery had to repair something.
	StrictRecovery bool `json:"strict_recovery,omitempty"`
	// HashDisks makes the contents of the disks part of a state.
	HashDisks bool `json:"hash_disks,omitempty"`
	// NoAccount disables flush accounting.
	NoAccount bool `json:"no_account,omitempty"`
	// CommandLimit is explore.Config.CommandLimit.
	CommandLimit time.Duration `json:"command_limit,omitempty"`
	// Threads is explore.Config.Threads.
	Threads time.Duration `json:"threads,omitempty"`
	// KernelChecks are checks of the kernel: see explore.ParseKernelChecks.
	KernelChecks string `json:"kernel_checks,omitempty"`
	// Coverage is explore.Config.Coverage.
	Coverage bool `json:"coverage,omitempty"`
	// Workloads are tested instead of what a checker makes.
	Workloads *Workloads `json:"workloads,omitempty"`
}

// Values of Run.Operations beside names of groups.
const (
	AutoOperations = "auto" // with explore.Cover, those of checkers.LaterGroups after all others
	NoOperations   = "none"
)

// Config returns the configuration of the run, without the System and the folder.
func (r Run) Config() (explore.Config, error) {
	err := errors.Join(r.Unit.Check(), r.Surprises.Check(), r.RunIn.Check(), r.RecoverIn.Check())
	if err != nil {
		return explore.Config{}, err
	}
	points, err := explore.ParseFailPoints(r.FailPoints)
	if err != nil {
		return explore.Config{}, err
	}
	checks, err := explore.ParseKernelChecks(r.KernelChecks)
	if err != nil {
		return explore.Config{}, err
	}
	top, err := r.Components()
	if err != nil {
		return explore.Config{}, err
	}
	checker, err := r.checker(top)
	if err != nil {
		return explore.Config{}, err
	}
	r.choosePlaces()
	origin, err := json.Marshal(r)
	cfg := explore.Config{
		Stack:              explore.Stack{Top: top, Checker: checker},
		Strategy:           r.Strategy,
		Depth:              r.Depth,
		Seed:               r.Seed,
		Origin:             origin,
		Crash:              r.crashOptions(),
		CrashFrom:          r.From,
		NoPrune:            r.NoPrune,
		MaxFaults:          r.MaxFaults,
		FailPoints:         points,
		RecoveryCrashes:    r.Recovery,
		Verify:             r.Verify,
		Inspect:            !r.NoInspect && r.Workloads == nil, // a workload uses each disk
		WriteThrough:       r.Through,
		ProcessCrashes:     r.ProcessCrashes,
		ProcessCrashesOnly: r.ProcessCrashesOnly,
		ProcessCrashLimit:  r.ProcessCrashLimit,
		Restore:            r.Restore,
		HostOnly:           r.HostOnly,
		HashDisks:          r.HashDisks,
		KernelChoices:      r.KernelChoices,
		Surprises:          r.Surprises,
		StrictRecovery:     r.StrictRecovery,
		CommandLimit:       r.CommandLimit,
		Threads:            r.Threads,
		Coverage:           r.Coverage,
		KernelChecks:       checks,
	}
	if !r.NoAccount && !r.Through {
		cfg.NewAccount = top.NewAccount()
	}
	r.setOracles(&cfg, top)
	err = errors.Join(err, r.checkCrashes(&cfg))
	return cfg, err
}

// crashOptions returns how crash states are formed.
func (r Run) crashOptions() crash.Options {
	o := crash.Options{Limit: r.Limit, Seed: r.Seed, Unit: r.Unit.Bytes(), Torn: r.Torn,
		Repeats: r.NoPrune}
	if r.InOrder {
		o.Order = crash.InOrder
	}
	return o
}

// checkCrashes returns an error if crash states cannot be recovered or judged as the run wants it,
// or if there are none.
func (r Run) checkCrashes(cfg *explore.Config) error {
	if err := r.checkPlaces(cfg); err != nil {
		return err
	}
	if !r.ProcessCrashes && (r.ProcessCrashesOnly || r.ProcessCrashLimit > 0) {
		return errors.New("a run without process crashes neither limits them nor tries them only")
	}
	if r.HostOnly && cfg.NewJudge == nil {
		return errors.New("a run with the invariants alone needs a file system that has " +
			"invariants, alone on one disk, and must not disable them")
	}
	return nil
}

// checker returns the checker of the run on top of a component.
func (r Run) checker(top *component.Component) (explore.Checker, error) {
	if r.Workloads != nil {
		return r.Workloads.checker(top)
	}
	if r.Script != nil {
		s, err := checkers.NewScript(*r.Script, top.Path())
		if err != nil {
			return nil, err
		}
		s.Env = r.environment()
		return s, nil
	}
	var groups, later []checkers.Group
	var err error
	switch r.Operations {
	case AutoOperations:
		if r.Strategy == explore.Cover {
			later = checkers.LaterGroups()
		}
	case NoOperations:
	default:
		groups, err = checkers.ParseGroups(r.Operations)
	}
	if err != nil {
		return nil, err
	}
	e, err := r.expanded()
	if err != nil {
		return nil, err
	}
	if r.Files < 0 && r.Dirs < 0 {
		return nil, errors.New("a checker with no files and no directories has nothing to do")
	}
	limits := checkers.Limits{Files: r.Files, Dirs: r.Dirs, Name: top.Kind.Names, Groups: groups,
		Later: later, Faults: r.MaxFaults > 0 || r.KernelChoices}
	checker, err := checkers.New(e.Checker, top, top.Promises, limits)
	if err != nil {
		return nil, err
	}
	s, script := checker.(*checkers.Script)
	if script {
		s.Env = r.environment()
	} else if top.Kind.Flat {
		return nil, fmt.Errorf("%s has neither folders nor fsync(2), which the checker %s needs; "+
			"use a checker in a YAML file that does not need them", top.Kind.Name, e.Checker)
	}
	return checker, nil
}

// Saved returns the Run whose JSON text is the origin of a run or of an error.
func Saved(origin json.RawMessage) (r Run, err error) {
	if err = json.Unmarshal(origin, &r); err != nil {
		err = fmt.Errorf("the saved options of the run: %w", err)
	}
	return r, err
}

// setOracles sets the oracles of a run's states beside its checker.
func (r Run) setOracles(cfg *explore.Config, top *component.Component) {
	if !r.NoCommits {
		cfg.ReadCommitted = r.readCommitted(cfg.Stack, top)
	}
	cfg.Recovered = recoveredDisk(cfg.Stack, top)
	if !r.NoJudge {
		cfg.NewJudge = r.newJudge(cfg.Stack)
	}
}
