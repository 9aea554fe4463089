package guard

import (
	"errors"
	"fmt"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/interp"
	"fsward/interp/detect"
)

// PipelineConfig describes a pipeline.
type PipelineConfig struct {
	Disks       []blocktap.Disk // of one guest
	Names       []string        // names of the disks in events; nil: they have none
	Interpreter interp.Interpreter
	Rules       *Rules
	Policy      Policy
	Sinks       []Sink
	Simulator   *Simulator // nil: no bug is simulated
	// Accept makes each undecided commit that passes the base of the next judgment, as --on-undecided
	// pass does.
	Accept bool
}

// A Pipeline puts a guard before each disk of a guest without serving them. Its devices do not take
// turns: one goroutine uses them.
type Pipeline struct {
	Devices []*blocktap.Device // in the order of the disks
	Guards  []*Guard           // of the devices
}

// NewPipeline puts new guards before disks. It does not own the disks.
func NewPipeline(cfg PipelineConfig, log *zap.Logger) *Pipeline {
	p := &Pipeline{}
	for i, disk := range cfg.Disks {
		g := &Guard{disk: i, interp: cfg.Interpreter, rules: cfg.Rules, policy: cfg.Policy,
			sinks: cfg.Sinks, bug: cfg.Simulator, log: log}
		g.layout, _ = cfg.Interpreter.(*detect.Volumes)
		if cfg.Accept && g.layout != nil {
			g.undecided = func(int, *Event) { g.layout.Accept() }
		}
		if cfg.Names != nil {
			g.name = cfg.Names[i]
		}
		p.Guards, p.Devices = append(p.Guards, g), append(p.Devices, blocktap.NewDevice(disk, g))
	}
	for _, g := range p.Guards {
		g.peers = p.Guards
	}
	return p
}

// Close stops the speculative checks.
func (p *Pipeline) Close() {
	for _, g := range p.Guards {
		g.dropSpeculative()
	}
}

// Follow is detect.Follow with errors that name the image of the disk.
func Follow(d interp.Disk, fs string, limits interp.Limits,
	path func(i int) string) (*detect.Follower, error) {
	follower, err := detect.FollowWithin(d, fs, limits)
	if e, ok := errors.AsType[*detect.DiskError](err); ok {
		return nil, fmt.Errorf("%s: %w", path(e.Disk), e.Err)
	}
	return follower, err
}
