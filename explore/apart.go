package explore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"fsward/explore/agent"
	"fsward/explore/crash"
)

// With Config.Recovery, crash states are recovered apart from the machine on which the steps run:
// another System mounts, checks and unmounts them. It has the same disks. It needs no log of them,
// so that it can be a machine without the modules of fsward. Its Load makes it ready again after it
// has failed.

// checkRecovery returns the error of CanRecoverApart, if there is a Recovery.
func (c *Config) checkRecovery() error {
	if c.Recovery == nil {
		return nil
	}
	return c.CanRecoverApart()
}

// CanRecoverApart returns an error if the configuration asks for something that a machine without
// logs cannot do while it recovers, so that there can be no Recovery.
func (c *Config) CanRecoverApart() error {
	_, crashless := c.Stack.Checker.(Crashless)
	return firstReason("crash states cannot be recovered apart from the steps", []reason{
		{c.RecoveryCrashes, "crashes during recovery need the log of its writes"},
		{c.Strategy == MostRecovery, "this search needs the log of the writes of recoveries"},
		{c.MaxFaults > 0, "injected faults also make mounts of crash states fail, by fsw_ekm"},
		{c.KernelChoices, "choices of the kernel are also taken while it recovers, by fsw_ekm"},
		{c.HostOnly, "without recovery there is nothing to do apart"},
		{crashless, "the checker asks for no crashes"},
	})
}

// A reason says why something cannot be done, if it is one.
type reason struct {
	is  bool
	why string
}

// firstReason returns an error with the first reason that is one.
func firstReason(what string, list []reason) error {
	for _, r := range list {
		if r.is {
			return fmt.Errorf("%s: %s", what, r.why)
		}
	}
	return nil
}

// A ModuleUser is a Checker that can load fsw_ekm itself.
type ModuleUser interface {
	// UsesModule reports whether it does so as it is configured.
	UsesModule() bool
}

// CanRunWithoutModules returns an error if the configuration asks for something that a machine
// without the modules of fsward cannot do, so that it cannot be the System.
func (c *Config) CanRunWithoutModules() error {
	user, ok := c.Stack.Checker.(ModuleUser)
	return firstReason("the steps cannot run in a kernel without the modules of fsward", []reason{
		{ok && user.UsesModule(), "the checker makes allocations fail by fsw_ekm"},
		{c.MaxFaults > 0, "faults are injected by fsw_ekm"},
		{c.KernelChoices, "choices of the kernel are taken by fsw_ekm"},
		{c.KernelChecks != 0, "the kernel is checked by fsw_ekm"},
		{c.Threads > 0, "threads are held by fsw_ekm"},
		{c.CrashFrom == FromWriteSet, "the write set is logged by fsw_ekm"},
		{c.Restore == ByCheckpoint, "only the guest makes checkpoints"},
		{slices.ContainsFunc(c.Stack.Disks(), func(d *Disk) bool { return d.Guarded }),
			"guarded disks need fsw_ramdisk"},
	})
}

// recoverApart makes the disks of the session in another System, with their pristine contents, and
// lets crash states be recovered there.
func (s *session) recoverApart(ctx context.Context, system System) error {
	for i, disk := range s.disks.list {
		if err := system.MakeDisk(ctx, disk.Number, disk.Bytes); err != nil {
			return err
		}
		s.recovery = &target{stack: s.target.stack, system: system, limit: s.target.limit,
			threads: new(threadScheduler)}
		if err := system.WritePages(ctx, disk.Number, s.disks.first[i].pages()); err != nil {
			return err
		}
		if err := system.Snapshot(ctx, disk.Number, pristine); err != nil {
			return err
		}
	}
	return nil
}

// readyToRecover makes the machine that recovers ready, if it has failed.
func (s *session) readyToRecover(ctx context.Context) error {
	if s.recovery == s.target {
		return s.ready(ctx)
	}
	if !s.recovery.dead {
		return nil
	}
	if err := s.recovery.system.Load(ctx, nil); err != nil {
		return fmt.Errorf("the machine that recovers has failed and cannot be restored: %w", err)
	}
	s.recovery.restored(false)
	return nil
}

// endRecovery removes the disks from the machine that recovers.
func (s *session) endRecovery(ctx context.Context) (err error) {
	if s.recovery == s.target {
		return nil
	}
	if !s.recovery.dead {
		_, err = s.recovery.unmount(s.recovery.env(ctx), false)
	}
	for _, disk := range s.disks.list {
		err = errors.Join(err, s.recovery.system.RemoveDisk(ctx, disk.Number))
	}
	return err
}

// pages returns the pages of a disk that are not zeros.
func (m memory) pages() (out []agent.Page) {
	zeros := make([]byte, crash.PageSize)
	for at := 0; at < len(m); at += crash.PageSize {
		if page := m[at:][:crash.PageSize]; !bytes.Equal(page, zeros) {
			out = append(out, agent.Page{Number: uint64(at / crash.PageSize), Data: page})
		}
	}
	return out
}
