package vm

// Cause is why a domain is gone.
type Cause string

// The causes that Wait returns.
const (
	CauseShutdown  Cause = "shutdown"  // the guest powered off
	CauseDestroyed Cause = "destroyed" // Destroy, or a guest with a kernel rebooted, as after a panic
	CauseCrashed   Cause = "crashed"
	CauseFailed    Cause = "failed" // QEMU ended by itself
	CauseLost      Cause = "lost"   // the connection to libvirtd broke: the domain may still run
)

// An End is how a domain ended.
type End struct {
	Cause Cause
	Panic bool // the kernel panicked: the console says why
}

// Clean reports whether the guest powered itself off.
func (e End) Clean() bool { return e.Cause == CauseShutdown && !e.Panic }

func (e End) String() string {
	if e.Panic {
		return "kernel panic"
	}
	if e.Cause == "" {
		return "stopped"
	}
	return string(e.Cause)
}
