package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"fsward/explore"
	"fsward/explore/host"
	"fsward/explore/machine"
	"fsward/explore/spec"
	"fsward/explore/usermode"
)

// withSystem calls work with a machine in which a run can run its steps: a guest, or user-mode
// Linux.
func (f *exploreFlags) withSystem(ctx context.Context, r spec.Run,
	work func(explore.System) error) error {
	if r.RunIn != spec.InUserMode {
		cfg := f.guest
		cfg.OnEmulated = func() { f.hintUserMode(r) }
		return host.WithMachine(ctx, cfg, f.log(), func(m *machine.Machine) error { return work(m) })
	}
	if f.guest.Console != "" {
		return errors.New("--console writes the console of a guest, and --run-in uml boots none")
	}
	bytes, err := userMode(r)
	if err != nil {
		return err
	}
	cfg := host.UserModeConfig{GuestConfig: f.guest, DiskBytes: bytes}
	return host.WithUserMode(ctx, cfg, func(m *usermode.Machine) error { return work(m) })
}

// hintUserMode says that a run could be in user-mode Linux, if it could.
func (f *exploreFlags) hintUserMode(r spec.Run) {
	r.RunIn = spec.InUserMode
	if _, err := r.Config(); err != nil || f.hinted {
		return
	}
	if _, err := userMode(r); err != nil {
		return
	}
	f.hinted = true
	fmt.Fprintln(os.Stderr, "The guest is emulated, because KVM does not work here. --run-in uml is "+
		"several\ntimes as fast, with another version of Linux.")
}

// recovering calls work after it has made the machine in which the crash states of a run are
// recovered, if that is not the machine in which the steps run.
func (f *exploreFlags) recovering(ctx context.Context, r spec.Run, cfg *explore.Config,
	work func() error) error {
	if r.RecoverIn != spec.InUserMode || r.RunIn == spec.InUserMode {
		return work()
	}
	bytes, err := userMode(r)
	if err != nil {
		return err
	}
	return host.WithUserMode(ctx, f.onlyRecovering(bytes), func(m *usermode.Machine) error {
		cfg.Recovery = m
		return work()
	})
}

// onlyRecovering returns the configuration of user-mode Linux that only recovers crash states of
// disks with a size in bytes.
func (f *exploreFlags) onlyRecovering(bytes uint64) host.UserModeConfig {
	c := host.UserModeConfig{GuestConfig: f.guest, DiskBytes: bytes}
	c.LogMiB, c.MemoryMiB = 0, 0
	return c
}

// userMode returns the size of the disks of a run. It returns an error if the run needs user-mode
// Linux, and this host's cannot do that.
func userMode(r spec.Run) (bytes uint64, err error) {
	if r.RecoverIn != spec.InUserMode && r.RunIn != spec.InUserMode {
		return 0, nil
	}
	n, err := r.UserMode()
	if err == nil {
		err = host.CheckUserMode(n.Types, n.Modules)
	}
	return n.Bytes, err
}
