// Package daemon serves guarded disks to a guest. It has the transports, the control socket, the
// check of the guest's fsync and sync, and the reload of rules. Start reading at Open.
package daemon

import (
	"slices"

	"go.uber.org/zap"

	"fsward/blocktap/nbd"
	"fsward/hostd/daemon/fsynccheck"
	"fsward/hostd/guard"
	"fsward/hostd/output"
)

// Config says what a daemon guards and what it offers.
type Config struct {
	guard.Config
	Calls bool // check that the guest's fsync and sync waited for their flushes: see ServeCalls
	// queues through which reports and the log leave, for the status
	Outputs []*output.Queue
	// Socket says who may connect to the NBD socket.
	Socket nbd.SocketOptions

	ready func() // is called when the disks are served; nil: systemd is told
}

// A Daemon guards the disks of a guest and serves them.
type Daemon struct {
	*guard.Disks
	sinks   []guard.Sink
	outputs []*output.Queue
	diaries []*fsynccheck.Diary // of the disks in their order; nil unless Config.Calls
	socket  nbd.SocketOptions
	ready   func() // is called when the disks are served
	log     *zap.Logger
}

// Open opens the disks: see guard.Open. Close ends the daemon.
func Open(cfg Config, log *zap.Logger) (*Daemon, error) {
	d := &Daemon{sinks: cfg.Sinks, outputs: cfg.Outputs, socket: cfg.Socket, ready: cfg.ready,
		log: log}
	if d.ready == nil {
		d.ready = func() { notifyReady(log) }
	}
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
