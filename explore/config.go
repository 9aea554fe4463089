package explore

import (
	"context"
	"encoding/json"
	"time"

	"fsward/explore/crash"
	"fsward/explore/durable"
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
	// MaxFaults is how many calls inside the kernel fail at most in one step, FiSC's iterative way: none, then each call site alone, then
	// two. The System has to have the module fsw_ekm. A state behind a failure is checked, and has no children.
	MaxFaults int
	// RecoveryCrashes: while a crash disk is recovered there is a second crash, at each moment and with each subset of the recovery's writes, too.
	RecoveryCrashes bool
	// Verify: what was recovered and checked is unmounted, and each component that is a Verifier looks at all of it; then the crash disk is
	// recovered again, by each component that is a Repairer in its second way, and has to hold the same (FiSC's double fsck).
	Verify bool
	// WriteThrough: the disks have no cache that a crash empties. What has completed is durable, as on the RAM disks of EXPLODE.
	WriteThrough bool
	// Guard stands between the System and the disks of the stack that are guarded. The System is a GuardedSystem where there are any.
	Guard Guard
	// ProcessCrashes: crashes of the programs that a Mutate runs between CheckCrashesStart and CheckCrashesEnd are tried, too, at each of their system calls
	// that changes what is below the top of the stack.
	ProcessCrashes bool
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
	Judge(ctx context.Context, s *crash.State) (Judgment, error)
}

// A Judgment is what a Judge says.
type Judgment struct {
	Failure   *Failure
	Undecided bool // it could not say
	Pruned    bool // it is what it said of another that is the same in all that counts
}
