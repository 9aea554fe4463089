package main

import (
	"context"

	"fsward/explore"
	"fsward/explore/host"
	"fsward/explore/spec"
	"fsward/explore/usermode"
)

// recovering calls work after it has made the machine in which the crash states of a run are
// recovered, if that is not the guest of the run.
func (f *exploreFlags) recovering(ctx context.Context, r spec.Run, cfg *explore.Config,
	work func() error) error {
	if r.RecoverIn != spec.InUserMode {
		return work()
	}
	bytes, err := userMode(r)
	if err != nil {
		return err
	}
	return host.WithUserMode(ctx, f.guest, bytes, func(m *usermode.Machine) error {
		cfg.Recovery = m
		return work()
	})
}

// userMode returns the size of the disks of a run. It returns an error if the run is to recover in
// user-mode Linux, and this host's cannot do that.
func userMode(r spec.Run) (bytes uint64, err error) {
	if r.RecoverIn != spec.InUserMode {
		return 0, nil
	}
	bytes, types, err := r.UserMode()
	if err == nil {
		err = host.CheckUserMode(types)
	}
	return bytes, err
}
