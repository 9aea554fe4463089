package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"fsward/explore/crash"
)

// CrashSource says what crash disks are formed from.
type CrashSource string

// The sources.
const (
	FromWrites   CrashSource = "writes"    // what was submitted to the disks
	FromWriteSet CrashSource = "write-set" // that, and what the kernel had marked dirty, and could write whenever it liked
)

// CrashSources lists them.
func CrashSources() []CrashSource { return []CrashSource{FromWrites, FromWriteSet} }

// Check says whether there is such a source.
func (c CrashSource) Check() error {
	if c != "" && !slices.Contains(CrashSources(), c) {
		return fmt.Errorf("crash disks from %q: there are %v", c, CrashSources())
	}
	return nil
}

// A writeSet takes what the kernel marks dirty while a checker changes the storage: not what a recovery does.
type writeSet struct {
	system WriteSetSystem // nil: it is not asked
	on     bool
	unread bool // the log may have some
}

// begin has what the machine tells be asked. The module that it needs is loaded by session.loadEKM.
func (w *writeSet) begin(system System, from CrashSource) error {
	if from != FromWriteSet {
		return nil
	}
	s, ok := system.(WriteSetSystem)
	if !ok {
		return errors.New("crash disks are to be formed from the write set, and the machine does not tell it")
	}
	w.system = s
	return nil
}

// log switches the log.
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

// take takes what there is in the log.
func (w *writeSet) take(ctx context.Context) ([]crash.Block, error) {
	if w.system == nil || !w.unread {
		return nil, nil
	}
	out, err := w.system.WriteSet(ctx)
	w.unread = w.on || err != nil
	return out, err
}

// end leaves the machine as it was.
func (w *writeSet) end(ctx context.Context, disks []*Disk) error {
	if w.system == nil {
		return nil
	}
	return errors.Join(w.log(ctx, disks, false), w.system.EndWriteSet(ctx))
}

// An EarlyBlock is one that a crash disk has and that had not been submitted.
type EarlyBlock struct {
	Disk   uint32 `json:"disk"`
	Sector uint64 `json:"sector"`
	Bytes  uint64 `json:"bytes"`
}
