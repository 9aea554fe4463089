// Package daemon serves guarded disks to a guest: transports, the control socket, the guest's calls, and rules that are loaded again.
// Start reading at Open.
package daemon

import (
	"slices"

	"go.uber.org/zap"

	"fsward/hostd/daemon/fsynccheck"
	"fsward/hostd/guard"
)

// Config says what a daemon guards and what it offers.
type Config struct {
	guard.Config
	Calls bool // the guest's calls are held against the disks: see ServeCalls
}

// A Daemon guards the disks of a guest and serves them.
type Daemon struct {
	*guard.Disks
	sinks   []guard.Sink
	diaries []*fsynccheck.Diary // of the disks in their order; nil unless Config.Calls
	log     *zap.Logger
}

// Open opens the disks: see guard.Open. Close ends it.
func Open(cfg Config, log *zap.Logger) (*Daemon, error) {
	d := &Daemon{sinks: cfg.Sinks, log: log}
	if cfg.Calls {
		cfg.Disks = slices.Clone(cfg.Disks)
		for i := range cfg.Disks {
			diary := &fsynccheck.Diary{}
			cfg.Disks[i].Witness, d.diaries = diary, append(d.diaries, diary)
		}
	}
	var err error
	if d.Disks, err = guard.Open(cfg.Config, log); err != nil {
		return nil, err
	}
	return d, nil
}
