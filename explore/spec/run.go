package spec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"fsward/change"
	"fsward/explore"
	"fsward/explore/checkers"
	"fsward/explore/crash"
	"fsward/explore/oracle"
)

// Run is a stack, and how it is explored: all that a run can be begun again with.
type Run struct {
	Spec
	Strategy explore.Strategy `json:"strategy,omitempty"`
	Depth    int              `json:"depth,omitempty"`
	Seed     uint64           `json:"seed,omitempty"`
	Limit    int              `json:"limit,omitempty"` // crash disks at one moment, beyond which they are a sample
	// From is what crash disks are formed from.
	From           explore.CrashSource `json:"crash_from,omitempty"`
	Torn           bool                `json:"torn,omitempty"`  // writes can be torn
	Files          int                 `json:"files,omitempty"` // that a checker makes at most; 0: as it likes
	Dirs           int                 `json:"dirs,omitempty"`
	MaxFaults      int                 `json:"failures,omitempty"`         // calls inside the kernel that fail in one step
	Recovery       bool                `json:"recovery_crashes,omitempty"` // crashes during recovery, too
	Verify         bool                `json:"double_fsck,omitempty"`
	NoJudge        bool                `json:"no_judge,omitempty"` // the invariants are not asked
	NoPrune        bool                `json:"no_prune,omitempty"`
	Through        bool                `json:"write_through,omitempty"` // the disks have no cache
	HostOnly       bool                `json:"host_only,omitempty"`     // crash disks are judged by the invariants alone
	ProcessCrashes bool                `json:"soft,omitempty"`          // programs crash, too
	Restore        explore.Restoring   `json:"restore,omitempty"`
	// NoAccount: calls are not held against the flushes that they waited for.
	NoAccount bool `json:"no_account,omitempty"`
	// Threads is explore.Config.Threads.
	Threads time.Duration `json:"threads,omitempty"`
}

// Config makes the configuration of a run: all but the machine and the folder.
func (r Run) Config() (explore.Config, error) {
	top, err := r.Components()
	if err != nil {
		return explore.Config{}, err
	}
	checker, err := checkers.New(r.Checker, top, top.Promises, checkers.Limits{Files: r.Files, Dirs: r.Dirs})
	if err != nil {
		return explore.Config{}, err
	}
	if _, script := checker.(*checkers.Script); top.Kind.Flat && !script {
		return explore.Config{}, fmt.Errorf("%s has neither folders nor fsync(2), which the checker %s needs; a checker in a YAML file can do without", top.Kind.Name, r.Checker)
	}
	origin, err := json.Marshal(r)
	cfg := explore.Config{Stack: explore.Stack{Top: top, Checker: checker}, Strategy: r.Strategy, Depth: r.Depth, Seed: r.Seed, Origin: origin,
		Crash: crash.Options{Limit: r.Limit, Seed: r.Seed, Torn: r.Torn, Repeats: r.NoPrune}, NoPrune: r.NoPrune, MaxFaults: r.MaxFaults,
		RecoveryCrashes: r.Recovery, Verify: r.Verify, WriteThrough: r.Through, ProcessCrashes: r.ProcessCrashes, Restore: r.Restore, CrashFrom: r.From, Threads: r.Threads}
	disk, ok := top.On[0].(*explore.Disk)
	alone := ok && len(top.On) == 1
	if !r.NoAccount && !r.Through {
		cfg.NewAccount = top.NewAccount()
	}
	if alone && top.Kind.Oracle != "" && !r.NoJudge {
		i := slices.Index(cfg.Stack.Disks(), disk)
		cfg.NewJudge = func(ctx context.Context, pristine []crash.Base) (explore.Judge, error) {
			o, err := oracle.New(ctx, top.Kind.Oracle, pristine[i], oracle.Options{Disk: i, NoPrune: r.NoPrune})
			return judge{o}, err
		}
	}
	if cfg.HostOnly = r.HostOnly; r.HostOnly && cfg.NewJudge == nil {
		return cfg, errors.New("crash disks are to be judged by the invariants alone, and there are none that are asked")
	}
	return cfg, err
}

// judge asks the invariants.
type judge struct{ *oracle.Oracle }

func (j judge) Judge(ctx context.Context, s *crash.State) (explore.Judgment, error) {
	v, err := j.Oracle.Judge(ctx, s)
	out := explore.Judgment{Undecided: v.Outcome == change.Undecided, Pruned: v.Pruned}
	if v.Outcome == change.Violated {
		out.Failure = &explore.Failure{Kind: "invariant " + v.Kind(), Text: v.String()}
	}
	return out, err
}

// Saved reads what a run was begun with.
func Saved(origin json.RawMessage) (r Run, err error) {
	if err = json.Unmarshal(origin, &r); err != nil {
		err = fmt.Errorf("what the run was begun with: %w", err)
	}
	return r, err
}
