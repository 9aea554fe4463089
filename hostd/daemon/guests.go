package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/memory"
	"fsward/hostd/output"
)

// Guests serves the disks of several guests in one process. Each guest has its own order of
// writes, its own memory and its own Daemon: if one cannot be served, the others do not notice.
// Start reading at Run.
type Guests struct {
	guests  []*served
	outputs []*output.Queue
	log     *zap.Logger
	tried   sync.WaitGroup // counts the guests that nobody has tried to serve yet
}

// NewGuests returns a server of guests with different names. outputs are the queues of the reports
// and the log, for the status.
func NewGuests(guests []Guest, outputs []*output.Queue, log *zap.Logger) *Guests {
	all := &Guests{outputs: outputs, log: log}
	for _, g := range guests {
		all.tried.Add(1)
		g.Config.ready = sync.OnceFunc(all.tried.Done)
		all.guests = append(all.guests, &served{Guest: g, log: log.With(zap.String("guest", g.Name)),
			changes: make(chan diskChange), worst: change.Holds})
	}
	all.limitMemory()
	return all
}

// limitMemory sets the memory limit of this process to the sum of what its guests may use.
func (all *Guests) limitMemory() {
	total := uint64(0)
	for _, g := range all.guests {
		total += g.memory()
	}
	memory.SetLimit(total)
}

// Run serves all guests, and the control socket unless control is "", until ctx ends. A guest that
// cannot be served is tried again. Run returns the worst verdict of all guests: undecided if one
// of them is not served at the end. The error is that of the control socket.
func (all *Guests) Run(ctx context.Context, control string) (change.Outcome, error) {
	// Each Daemon reloads its rules on SIGHUP. While none is served, the signal must not end the
	// process.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, unix.SIGHUP)
	defer signal.Stop(hangups)
	group, ctx := errgroup.WithContext(ctx)
	if control != "" {
		l, err := listenControl(control)
		if err != nil {
			return change.Undecided, err
		}
		group.Go(func() error { return serveControl(ctx, l, all) })
	}
	for _, g := range all.guests {
		group.Go(func() error { g.run(ctx); return nil })
	}
	go func() {
		all.tried.Wait()
		notifyReady(all.log)
	}()
	err := group.Wait()
	worst := change.Holds
	for _, g := range all.guests {
		worst = worse(worst, g.outcome())
	}
	return worst, err
}

// worse returns the worse of two verdicts.
func worse(a, b change.Outcome) change.Outcome {
	if a == change.Violated || b == change.Holds {
		return a
	}
	return b
}

// find returns a guest and the name of one of its disks by GUEST/DISK.
func (all *Guests) find(name string) (*served, string, error) {
	guest, disk, ok := strings.Cut(name, "/")
	var names []string
	for _, g := range all.guests {
		if ok && g.Name == guest {
			return g, disk, nil
		}
		names = append(names, g.Name)
	}
	return nil, "", fmt.Errorf("no disk %q: expected GUEST/DISK; the guests are %s", name,
		strings.Join(names, ", "))
}

// Status returns the state of every volume of every guest, and a line for each guest that is not
// served.
func (all *Guests) Status() (out []guard.VolumeStatus) {
	for _, g := range all.guests {
		out = append(out, g.status()...)
	}
	return out
}

// Holder returns the policy of the disk GUEST/DISK: see guard.Disks.Holder.
func (all *Guests) Holder(name string) (h *guard.Holder, err error) {
	g, disk, err := all.find(name)
	if err != nil {
		return nil, err
	}
	err = g.with(func(d *Daemon) error {
		h, err = d.Holder(disk)
		return err
	})
	return h, err
}

// Self returns the state of the daemon itself. It has no recordings, and the rules of the guests
// that are served.
func (all *Guests) Self() Self {
	s := selfOf(all.outputs)
	for _, g := range all.guests {
		_ = g.with(func(d *Daemon) error { // Status says why a guest is not served
			s.Guests = append(s.Guests, GuestRules{g.Name, d.Rules()})
			for _, a := range d.CrashAudits() {
				a.Guest = g.Name
				s.CrashAudits = append(s.CrashAudits, a)
			}
			return nil
		})
	}
	return s
}

// reload makes all guests read their rules again. If some do not load, the error says so, and
// their guests keep the old ones.
func (all *Guests) reload() (changes []Reloaded, err error) {
	var errs []error
	for _, g := range all.guests {
		errs = append(errs, g.with(func(d *Daemon) error {
			c, err := d.Reload()
			changes = append(changes, Reloaded{Guest: g.Name, RuleChanges: c})
			return err
		}))
	}
	return changes, errors.Join(errs...)
}

// AddDisk gives a guest another disk. spec.Name is GUEST/DISK. The guard of the guest starts
// again.
func (all *Guests) AddDisk(ctx context.Context, spec guard.DiskSpec) error {
	g, disk, err := all.find(spec.Name)
	if err != nil {
		return err
	}
	spec.Name = disk
	defer all.limitMemory()
	return g.change(ctx, func(cfg *Config) error {
		cfg.Disks = append(cfg.Disks, spec)
		return nil
	})
}

// RemoveDisk takes the disk GUEST/DISK from its guest. The guard of the guest starts again.
func (all *Guests) RemoveDisk(ctx context.Context, name string) error {
	g, disk, err := all.find(name)
	if err != nil {
		return err
	}
	defer all.limitMemory()
	return g.change(ctx, func(cfg *Config) error {
		i, err := diskIndex(cfg, disk)
		if err != nil {
			return err
		}
		if len(cfg.Disks) == 1 {
			return errors.New("it is the only disk of its guest")
		}
		cfg.Disks = append(cfg.Disks[:i], cfg.Disks[i+1:]...)
		return nil
	})
}

// GrowDisk makes the image of the disk GUEST/DISK larger. The guard of the guest starts again, and
// clients see the new size when they connect again.
func (all *Guests) GrowDisk(ctx context.Context, name string, size uint64) error {
	g, disk, err := all.find(name)
	if err != nil {
		return err
	}
	return g.change(ctx, func(cfg *Config) error {
		i, err := diskIndex(cfg, disk)
		if err != nil {
			return err
		}
		return growImage(ctx, cfg.Disks[i], size)
	})
}

func diskIndex(cfg *Config, disk string) (int, error) {
	var names []string
	for i, d := range cfg.Disks {
		if d.Name == disk {
			return i, nil
		}
		names = append(names, d.Name)
	}
	return 0, fmt.Errorf("no disk %q: the guest has %s", disk, strings.Join(names, ", "))
}
