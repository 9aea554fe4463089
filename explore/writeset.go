package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"fsward/explore/crash"
)

// A CrashSource selects the writes that crash states are formed from.
type CrashSource string

// The sources.
const (
	FromWrites CrashSource = "writes" // the writes that were submitted to the disks
	// FromWriteSet adds the blocks that the kernel has marked dirty and could write at any moment.
	FromWriteSet CrashSource = "write-set"
)

// CrashSources returns all sources.
func CrashSources() []CrashSource { return []CrashSource{FromWrites, FromWriteSet} }

// Check returns an error if the source is unknown. "" is valid.
func (c CrashSource) Check() error {
	if c != "" && !slices.Contains(CrashSources(), c) {
		return fmt.Errorf("crash states from %q: there are %v", c, CrashSources())
	}
	return nil
}

// A writeSet switches and reads the log of the blocks that the kernel marks dirty while a checker
// changes the storage. Recoveries are not logged.
type writeSet struct {
	system WriteSetSystem // nil: the log is not used
	on     bool
	unread bool // the log may have blocks
}

// begin prepares the log if crash states are formed from the write set. session.loadEKM loads the
// module that the log needs.
func (w *writeSet) begin(system System, from CrashSource) error {
	if from != FromWriteSet {
		return nil
	}
	s, ok := system.(WriteSetSystem)
	if !ok {
		return errors.New("cannot form crash states from the write set: the machine does not log it")
	}
	w.system = s
	return nil
}

// log switches the log on or off.
func (w *writeSet) log(ctx context.Context, disks []*Disk, on bool) error {
	if w.system == nil || w.on == on {
		return nil
	}
	for _, d := range disks {
		if err := w.system.LogWriteSet(ctx, d.Number, on); err != nil {
			return err
		}
	}
	w.on, w.unread = on, w.unread || on
	return nil
}

// take removes and returns the blocks in the log.
func (w *writeSet) take(ctx context.Context) ([]crash.Block, error) {
	if w.system == nil || !w.unread {
		return nil, nil
	}
	out, err := w.system.WriteSet(ctx)
	w.unread = w.on || err != nil
	return out, err
}

// end switches the log off and releases its resources in the machine.
func (w *writeSet) end(ctx context.Context, disks []*Disk) error {
	if w.system == nil {
		return nil
	}
	return errors.Join(w.log(ctx, disks, false), w.system.EndWriteSet(ctx))
}

// An EarlyBlock is a block that is on a crash state although it had not been submitted.
type EarlyBlock struct {
	Disk   uint32 `json:"disk"`
	Sector uint64 `json:"sector"`
	Bytes  uint64 `json:"bytes"`
}
