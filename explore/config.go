package explore

import (
	"context"
	"encoding/json"
	"time"

	"fsward/explore/crash"
	"fsward/explore/durable"
	"fsward/explore/ekm"
)

// A Config states what a run explores, and how.
type Config struct {
	Stack  Stack
	System System
	// Recovery is the System in which crash states are recovered and checked. It needs no logs, so
	// that some other options exclude it. If it is nil, System does that, too.
	Recovery System
	// Dir is the folder of the run. It has the states, and a folder for each error. Run continues a
	// run that was begun in Dir.
	Dir      string
	Strategy Strategy      // "": DepthFirst
	Depth    int           // maximum number of steps (calls of Mutate) of a state; 0: no limit
	Runs     uint64        // maximum number of executions, with earlier parts of the run; 0: no limit
	Crash    crash.Options // how crash states are enumerated
	// CrashFrom selects the writes that crash states are formed from. The default "" is FromWrites.
	// FromWriteSet needs a WriteSetSystem.
	CrashFrom CrashSource
	Seed      uint64 // of the strategy Random
	// Coverage records which code of the kernel each execution runs. LeastSeen records it, too. A
	// machine that cannot is explored without.
	Coverage bool
	// Code is the code map of the guest's kernel; nil: there is none.
	Code CodeMap
	// NewJudge makes a judge of the crash states of one execution. pristine are the pristine disks.
	// If it is nil, only recovery and the checker find failures.
	NewJudge func(ctx context.Context, pristine []crash.Base) (Judge, error)
	// ReadCommitted reads the tree that the recovery of a crash state must give. If it is nil, a
	// recovery may lose a commit that nobody asked for.
	ReadCommitted ReadCommitted
	// Recovered returns a signature of the disk that recovery makes of a crash state. If it is not
	// nil, of crash states with equal signatures one is recovered; the others are checked by what was
	// read from it, as far as that is enough. An error means that the result is not known.
	Recovered func(s *crash.State) (string, error)
	// NewAccount makes an account of flushes for the disks, as crash.Join addresses them. With an
	// account, a call that promised durability and returned too early is a failure. If it is nil,
	// durability is not checked.
	NewAccount func() *durable.Account
	// NoPrune disables deduplication: crash states are judged and recovered again even if an equal
	// one was judged and recovered before.
	NoPrune bool
	// Origin describes how the stack was made, so that an error can be replayed. It is kept with the
	// run and with each error.
	Origin json.RawMessage
	// ReplayFlags are flags that the command fsward explore replay needs to find the same guest.
	ReplayFlags []string
	// OnEvent, if not nil, is called with each event. It must return soon.
	OnEvent func(Event)
	// MaxFaults is the maximum number of faults that are injected into the kernel in one step, in
	// the iterative way of FiSC: none, then one at each call site, then two. The System needs the
	// module fsw_ekm. A state after an injected fault has children, whose path has at most as many
	// faults altogether.
	MaxFaults int
	// FailPoints are the kinds of calls that fail; nil: DefaultFailPoints.
	FailPoints []ekm.Point
	// RecoveryCrashes also tries a second crash while a crash state is recovered: at each moment, and
	// with each subset of the writes of the recovery.
	RecoveryCrashes bool
	// Verify unmounts each crash state after it was recovered and checked, and runs each Verifier.
	// Then each Repairer recovers the crash state again, in its thorough way, and the result must be
	// the same (the double fsck of FiSC).
	Verify bool
	// Inspect uses and verifies some of the recovered crash states: a few after steps of each shape.
	Inspect bool
	// HashDisks makes the contents of the disks part of a state: states with equal signatures and
	// other contents are different ones.
	HashDisks bool
	// Surprises says how surprises are reported.
	Surprises Surprises
	// StrictRecovery makes it an error if a recovery had to repair something.
	StrictRecovery bool
	// WriteThrough gives the disks no volatile write cache: a completed write is durable, as on the
	// RAM disks of EXPLODE.
	WriteThrough bool
	// Guard stands between the System and the guarded disks of the stack. With guarded disks, the
	// System must be a GuardedSystem.
	Guard Guard
	// ProcessCrashes also ends the programs that Mutate runs between CheckCrashesStart and
	// CheckCrashesEnd, after each system call that changes the storage at the top of the stack.
	ProcessCrashes bool
	// ProcessCrashesOnly tries no crashes of the machine, as these can take most of the time of a run
	// with ProcessCrashes.
	ProcessCrashesOnly bool
	// ProcessCrashLimit bounds the process crashes of one step. If there are more, a sample that Seed
	// determines is tried. 0: no limit.
	ProcessCrashLimit int
	// Restore selects how states are reached. The default "" is ByCost.
	Restore Restoring
	// KernelChoices makes the choices that code of the kernel takes by fsw_ekm_choose() part of the
	// explored choices. The System needs the module fsw_ekm. It excludes MaxFaults.
	KernelChoices bool
	// KernelChecks checks what threads of the kernel do in each execution. The System needs the
	// module fsw_ekm.
	KernelChecks ekm.Checks
	// HostOnly checks crash states with the Judge alone, without recovery and checker.
	HostOnly bool
	// CommandLimit bounds the duration of one command, and of one batch of operations, of a component
	// or a checker. If a command exceeds it, the step or the crash state is not judged: SlowError. 0:
	// DefaultCommandLimit.
	CommandLimit time.Duration
	// Threads holds the kernel threads of the stack's components (Component.Threads), and runs at
	// most one of them before each Mutate, by choice. It is how long that thread may take to find
	// work, at most 10 s. The System needs the module fsw_ekm. 0: threads run freely.
	Threads time.Duration
}

// A Judge judges crash states on the host, without mounting them.
type Judge interface {
	// Judge returns its judgment of a crash state. The states come in the order in which they are
	// formed.
	Judge(ctx context.Context, s *crash.State) (Judgment, error)
}

// A Judgment is the answer of a Judge.
type Judgment struct {
	Failure   *Failure // nil: the judge found none
	Undecided bool     // the judge could not decide
	Pruned    bool     // the answer is that of an earlier state that is equal for the judge
}
