// Package machine makes an explore.System of a guest.
package machine

import (
	"context"
	"errors"
	"slices"
	"time"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/ekm"
	"fsward/explore/guest"
	"fsward/explore/ramdisk"
)

// diskTimeout bounds what a guest does with its RAM disks for one request.
const diskTimeout = time.Minute

// Machine is a guest as a System. Used by one goroutine.
//
// What becomes of disks and of their log goes with the request that follows, in its order, since an emulated guest takes longer to answer
// than to do most of it. So do the errors.
type Machine struct {
	*guest.Guest
	log     *ramdisk.Reader
	gate    *ioGate // reads the log in the place of log; nil: no disk was guarded
	marks   uint64  // that Records and WriteSet have put
	dirty   *ekm.Reader
	watched map[uint32]uint32 // disks whose write set was logged, by the numbers of their devices
	later   []agent.Op
	carried int      // bytes of pages in later
	stale   []uint32 // disks that later changes beside the kernel
}

var (
	_ explore.WriteSetSystem = (*Machine)(nil)
	_ explore.GuardedSystem  = (*Machine)(nil)
)

// New returns a guest as a System. The log of its RAM disks is the System's.
func New(g *guest.Guest) *Machine { return &Machine{Guest: g, watched: make(map[uint32]uint32)} }

// waiting takes what goes with the next request.
func (m *Machine) waiting() []agent.Op {
	ops := m.later
	for _, n := range m.stale {
		ops = append(ops, agent.DiskForget(n))
	}
	m.later, m.carried, m.stale = nil, 0, nil
	return ops
}

// Do is agent.Client.Do.
func (m *Machine) Do(ctx context.Context, b agent.Batch) (agent.Done, error) {
	if len(m.later)+ramdisk.MaxDisks+len(b.Ops) > agent.MaxOps {
		if err := m.flush(ctx); err != nil {
			return agent.Done{}, err
		}
	}
	before := m.waiting()
	b.Ops = slices.Concat(before, b.Ops)
	done, err := m.Guest.Do(ctx, b)
	if err == nil {
		err = agent.CheckResults(before, done.Results[:min(len(before), len(done.Results))], b.Timeout)
		done.Results = done.Results[min(len(before), len(done.Results)):]
	}
	return done, err
}

// Run is agent.Client.Run.
func (m *Machine) Run(ctx context.Context, c agent.Command) (agent.Exit, error) {
	if err := m.flush(ctx); err != nil {
		return agent.Exit{}, err
	}
	return m.Guest.Run(ctx, c)
}

// flush does what waits.
func (m *Machine) flush(ctx context.Context) error {
	if len(m.later) == 0 {
		return nil
	}
	return m.do(ctx)
}

// do performs operations that succeed.
func (m *Machine) do(ctx context.Context, ops ...agent.Op) error {
	done, err := m.Do(ctx, agent.Batch{Ops: ops, StopAtError: true, Timeout: diskTimeout})
	if err != nil {
		return err
	}
	return agent.CheckResults(ops, done.Results, diskTimeout)
}

// put has operations go with the next request.
func (m *Machine) put(ops ...agent.Op) { m.later = append(m.later, ops...) }

// changed notes that what waits changes a disk beside the kernel.
func (m *Machine) changed(disk uint32) {
	if !slices.Contains(m.stale, disk) {
		m.stale = append(m.stale, disk)
	}
}

// Save makes a checkpoint of the guest. Once a disk was guarded, none can be made: its log is read all the time.
func (m *Machine) Save(ctx context.Context) (explore.Checkpoint, error) {
	if m.gate != nil {
		return nil, errors.ErrUnsupported
	}
	if err := m.flush(ctx); err != nil {
		return nil, err
	}
	return m.Guest.Save(ctx)
}

// Load puts the guest back. What its log had is lost.
func (m *Machine) Load(ctx context.Context, c explore.Checkpoint) error {
	if m.gate != nil {
		m.gate.cancel() // before the guest is back: the gate must not read the log that the guest has then
	}
	if err := m.Guest.Restore(ctx, c.(*guest.Checkpoint)); err != nil {
		return err
	}
	m.log, m.dirty = nil, nil // their streams go back with the guest
	if m.gate != nil {
		m.gate.end()
		m.gate = nil
	}
	_ = m.waiting()
	return nil
}

// Forget gives up a checkpoint.
func (m *Machine) Forget(ctx context.Context, c explore.Checkpoint) error {
	return m.Guest.Drop(ctx, c.(*guest.Checkpoint))
}
