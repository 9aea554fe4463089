// Package machine turns a guest into an explore.System. It queues operations on RAM disks and sends
// them together with the next request, since a round trip to an emulated guest takes longer than
// most of them. It also keeps the readers of the guest's logs, and the I/O gate of guarded disks.
//
// Start reading at Machine and its method Do.
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

// diskTimeout bounds one request for operations on RAM disks.
const diskTimeout = time.Minute

// A Machine is a guest as a System. It must not be used concurrently.
//
// The methods that change disks or their log may only queue their operations. The next request
// performs the queued operations first, in their order, and returns their errors.
type Machine struct {
	*guest.Guest
	log        *ramdisk.Reader   // reader of the bio log; nil before the first use
	gate       *ioGate           // reads the bio log in place of log; nil until a disk is guarded
	marks      uint64            // number of marks that the Machine has put into the logs
	dirty      *ekm.Reader       // reader of the log of the write set; nil before the first use
	watched    map[uint32]uint32 // disks whose write set was logged, by device number
	queued     []agent.Op        // operations to send before the next request
	queuedData int               // bytes of pages in queued
	stale      []uint32          // disks that queued changes without the kernel's knowledge
}

var (
	_ explore.WriteSetSystem = (*Machine)(nil)
	_ explore.GuardedSystem  = (*Machine)(nil)
	_ explore.Marker         = (*Machine)(nil)
)

// New returns the Machine of a guest. Nothing else may read the log of the guest's RAM disks.
func New(g *guest.Guest) *Machine {
	return &Machine{Guest: g, watched: make(map[uint32]uint32)}
}

// takeQueued empties the queue and returns its operations. It appends a DiskForget for each disk
// that they change without the kernel's knowledge.
func (m *Machine) takeQueued() []agent.Op {
	ops := m.queued
	for _, n := range m.stale {
		ops = append(ops, agent.DiskForget(n))
	}
	m.queued, m.queuedData, m.stale = nil, 0, nil
	return ops
}

// Do performs the queued operations and the batch: see agent.Client.Do. A queued operation that
// fails is an error of Do.
func (m *Machine) Do(ctx context.Context, b agent.Batch) (agent.Done, error) {
	if len(m.queued)+ramdisk.MaxDisks+len(b.Ops) > agent.MaxOps {
		if err := m.flush(ctx); err != nil {
			return agent.Done{}, err
		}
	}
	before := m.takeQueued()
	b.Ops = slices.Concat(before, b.Ops)
	done, err := m.Guest.Do(ctx, b)
	if err == nil {
		n := min(len(before), len(done.Results))
		err = agent.CheckResults(before, done.Results[:n], b.Timeout)
		done.Results = done.Results[n:]
	}
	return done, err
}

// Run performs the queued operations and runs a command: see agent.Client.Run.
func (m *Machine) Run(ctx context.Context, c agent.Command) (agent.Exit, error) {
	if err := m.flush(ctx); err != nil {
		return agent.Exit{}, err
	}
	return m.Guest.Run(ctx, c)
}

// flush performs the queued operations.
func (m *Machine) flush(ctx context.Context) error {
	if len(m.queued) == 0 {
		return nil
	}
	return m.do(ctx)
}

// do performs operations that must succeed.
func (m *Machine) do(ctx context.Context, ops ...agent.Op) error {
	done, err := m.Do(ctx, agent.Batch{Ops: ops, StopAtError: true, Timeout: diskTimeout})
	if err != nil {
		return err
	}
	return agent.CheckResults(ops, done.Results, diskTimeout)
}

// queue queues operations for the next request.
func (m *Machine) queue(ops ...agent.Op) { m.queued = append(m.queued, ops...) }

// markStale notes that queued operations change a disk without the kernel's knowledge, so that the
// kernel's cache of the disk becomes stale.
func (m *Machine) markStale(disk uint32) {
	if !slices.Contains(m.stale, disk) {
		m.stale = append(m.stale, disk)
	}
}

// Save makes a checkpoint of the guest. Once a disk was guarded, Save returns
// errors.ErrUnsupported: the I/O gate has a request for the log in progress all the time.
func (m *Machine) Save(ctx context.Context) (explore.Checkpoint, error) {
	if m.gate != nil {
		return nil, errors.ErrUnsupported
	}
	if err := m.flush(ctx); err != nil {
		return nil, err
	}
	return m.Guest.Save(ctx)
}

// Load restores the guest to a checkpoint. It drops the queued operations, and the records that
// were not taken from the logs.
func (m *Machine) Load(ctx context.Context, c explore.Checkpoint) error {
	if m.gate != nil {
		m.gate.cancel() // before the restore: the gate must not read the log of the restored guest
	}
	if err := m.Guest.Restore(ctx, c.(*guest.Checkpoint)); err != nil {
		return err
	}
	m.log, m.dirty = nil, nil // the restore sets their streams back
	if m.gate != nil {
		m.gate.end()
		m.gate = nil
	}
	_ = m.takeQueued()
	return nil
}

// Forget deletes a checkpoint.
func (m *Machine) Forget(ctx context.Context, c explore.Checkpoint) error {
	return m.Guest.Drop(ctx, c.(*guest.Checkpoint))
}
