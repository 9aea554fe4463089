package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"fsward/hostd/daemon"
	"fsward/hostd/guard"
	"fsward/hostd/memory"
)

// guardFlags are the flags that guard and vm run share.
type guardFlags struct {
	disks   []string
	control string
	json    bool
	verbose bool
	memory  string
	reserve string
	cfg     guard.Config
}

func (f *guardFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.disks, "disk", nil, "`[NAME=]IMG`: image or block device to guard; repeated for every disk of a guest, as a Btrfs may have several (required)")
	_ = c.MarkFlagRequired("disk")
	addFSFlag(c, &f.cfg.FS)
	addRulesFlags(c, &f.cfg.Rules)
	c.Flags().StringVar(&f.cfg.OnViolation, "on-violation", guard.OnRefuse,
		"what to do with a commit that does not hold: refuse (EIO), pause (suspend the guest and wait for fsward resume or reject), log (let it through)")
	c.Flags().StringVar(&f.cfg.Record, "record", "", "record every write to `LOG` (dm-log-writes format; with several disks LOG.NAME)")
	c.Flags().BoolVar(&f.cfg.Verify, "verify-baseline", true, "check the state that the file system has at the beginning as a whole, in the background")
	addDataOrdered(c, &f.cfg.DataOrdered)
	c.Flags().StringVar(&f.reserve, "reserve", "768M", "`BYTES` shared by all disks, for commits that need more than that and for the check of the baseline; 0: none")
	c.Flags().StringVar(&f.control, "control", "", "`unix:PATH` of the control socket, for fsward status, resume, reject and rules reload")
	c.Flags().BoolVar(&f.json, "json", false, "print one JSON object a line")
	c.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "log more")
}

// addDataOrdered adds the flag that tells how the guest mounts.
func addDataOrdered(c *cobra.Command, ordered *bool) {
	c.Flags().BoolVar(ordered, "data-ordered", false,
		"the guest mounts ext3 with data=ordered (Linux's default): also refuse a commit that makes data reachable which was not written and flushed before it")
}

// addMemory adds the flag for the memory of a disk. Its name is another where a guest has memory too.
func (f *guardFlags) addMemory(c *cobra.Command, name string) {
	c.Flags().StringVar(&f.memory, name, "256M", "`BYTES` that the guard may use for each disk")
}

// config checks the flags that cobra cannot and returns the daemon's configuration.
func (f *guardFlags) config(c *cobra.Command) (guard.Config, error) {
	for _, s := range f.disks {
		spec, err := guard.ParseDiskSpec(s)
		if err != nil {
			return f.cfg, usageError{err, c.CommandPath()}
		}
		f.cfg.Disks = append(f.cfg.Disks, spec)
	}
	if err := guard.CheckPolicyName(f.cfg.OnViolation); err != nil {
		return f.cfg, usageError{err, c.CommandPath()}
	}
	if f.cfg.OnViolation == guard.OnPause && f.control == "" {
		return f.cfg, usageError{errors.New("--on-violation pause needs --control, or nobody could decide"), c.CommandPath()}
	}
	if err := f.bound(); err != nil {
		return f.cfg, usageError{err, c.CommandPath()}
	}
	f.cfg.Sinks = []guard.Sink{sink(f.json)}
	return f.cfg, nil
}

// bound reads the flags for memory and holds the process to them.
func (f *guardFlags) bound() (err error) {
	m := &f.cfg.Memory
	if m.PerDisk, err = memoryFlag(f.memory); err != nil {
		return err
	}
	if m.Reserve, err = parseBytes(f.reserve); err != nil {
		return fmt.Errorf("--reserve: %w", err)
	}
	m.NoReserve = m.Reserve == 0
	memory.SetLimit(m.Total(len(f.cfg.Disks)))
	return nil
}

// memoryFlag reads what there is for a disk.
func memoryFlag(text string) (bytes uint64, err error) {
	if bytes, err = parseBytes(text); err == nil && bytes < memory.Min {
		err = fmt.Errorf("%s is less than %d MiB", text, memory.Min>>20)
	}
	if err != nil {
		return 0, fmt.Errorf("the memory for a disk: %w", err)
	}
	return bytes, nil
}

func guardCommand() *cobra.Command {
	var f guardFlags
	var listen, transport, calls, domain, libvirtURI string
	c := &cobra.Command{
		Use:   "guard --disk IMG --listen unix:PATH",
		Short: "Serve disks to a guest and check every commit before it reaches them",
		Long: `Serves each disk on a socket and stands between it and the guest that uses it. Each commit
of the guest's file system is checked; one that violates an invariant is completed with an
I/O error and never reaches the disk, which stays at the last good commit.

Disks given together are those of one guest: a Btrfs may have several of them, and all of its disks
have to be given. Their writes are judged one at a time.

With --transport nbd a virtual machine attaches through the socket (libvirt: a network disk of
protocol nbd; qemu: nbd+unix:///NAME?socket=PATH). With --transport fuse PATH is a directory in
which the disk appears as a file.

It runs until it is told to stop (SIGTERM, Ctrl-C). Its exit status then tells of all commits:
0 if every one held, 1 if one was violated.`,
		Example: `  fsward guard --disk vm.img --listen unix:/run/fsward/vm.sock
  fsward guard --disk root=a.img --disk data=b.img --listen unix:/run/vm.sock --json
  fsward guard --disk vm.img --listen unix:/run/vm.sock --on-violation pause --domain vm --control unix:/run/vm.ctl`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := f.config(c)
			if err != nil {
				return err
			}
			path, err := daemon.Address(listen)
			if err == nil {
				err = daemon.CheckTransport(transport)
			}
			if err != nil {
				return usageError{err, c.CommandPath()}
			}
			log := newLog(f.verbose)
			defer func() { _ = log.Sync() }()
			if domain != "" {
				guest, err := suspendable(c.Context(), libvirtURI, domain, log)
				if err != nil {
					return err
				}
				cfg.Guest = guest
			}
			d, err := daemon.Open(daemon.Config{Config: cfg, Calls: calls != ""}, log)
			if err != nil {
				return err
			}
			err = serveAll(c.Context(), d, transport, path, f.control, calls)
			judged := d.Outcome()
			if err = errors.Join(err, d.Close()); err != nil {
				return err
			}
			return outcome(judged)
		},
	}
	f.add(c)
	f.addMemory(c, "memory")
	c.Flags().StringVar(&listen, "listen", "", "`unix:PATH` to serve at (required)")
	_ = c.MarkFlagRequired("listen")
	c.Flags().StringVar(&transport, "transport", daemon.TransportNBD, "nbd or fuse")
	c.Flags().StringVar(&calls, "calls", "", "`unix:PATH` of a socket for the guest's virtio-serial port org.fsward.calls: hold its calls that make things durable against what the disks did")
	c.Flags().StringVar(&domain, "domain", "", "libvirt `DOMAIN` to suspend with --on-violation pause")
	c.Flags().StringVar(&libvirtURI, "connect", "qemu:///system", "libvirt `URI` of --domain")
	return c
}

// serveAll serves devices, and the sockets of those that are not "", until ctx ends or one of them fails.
func serveAll(ctx context.Context, d *daemon.Daemon, transport, path, control, calls string) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return d.Serve(ctx, transport, path) })
	for _, s := range []struct {
		address string
		serve   func(context.Context, string) error
	}{{control, d.ServeControl}, {calls, d.ServeCalls}} {
		if s.address == "" {
			continue
		}
		g.Go(func() error {
			at, err := daemon.Address(s.address)
			if err != nil {
				return err
			}
			return s.serve(ctx, at)
		})
	}
	return g.Wait()
}

func statusCommand() *cobra.Command {
	var control string
	c := &cobra.Command{
		Use:   "status --control unix:PATH",
		Short: "Show the disks of a running daemon",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			client, err := controlClient(control)
			if err != nil {
				return err
			}
			disks, err := client.Status()
			if err != nil {
				return err
			}
			fmt.Printf("%-10s %-8s %10s %8s  %-28s %s\n", "DISK", "FS", "COMMITS", "REFUSED", "BASELINE", "HELD")
			for _, s := range disks {
				fmt.Printf("%-10s %-8s %10d %8d  %-28s %s\n", s.Name, s.FS, s.Commits, s.Refused, s.Baseline, s.Held)
			}
			return nil
		},
	}
	addControlFlag(c, &control)
	return c
}

func releaseCommand(pass bool) *cobra.Command {
	var control string
	use, short := "resume DISK", "Let the held write of a disk pass, and resume the guest"
	if !pass {
		use, short = "reject DISK", "Refuse the held write of a disk with an I/O error, and resume the guest"
	}
	c := &cobra.Command{
		Use:     use,
		Short:   short,
		Example: "  fsward status --control unix:/run/vm.ctl\n  fsward " + use + " --control unix:/run/vm.ctl",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			client, err := controlClient(control)
			if err != nil {
				return err
			}
			return client.Release(args[0], pass)
		},
	}
	addControlFlag(c, &control)
	return c
}

func addControlFlag(c *cobra.Command, control *string) {
	c.Flags().StringVar(control, "control", os.Getenv("FSWARD_CONTROL"), "`unix:PATH` of the daemon's control socket (or $FSWARD_CONTROL)")
}

func controlClient(address string) (*daemon.Control, error) {
	if address == "" {
		return nil, usageError{errors.New("--control is needed, or FSWARD_CONTROL in the environment"), "fsward"}
	}
	path, err := daemon.Address(address)
	if err != nil {
		return nil, err
	}
	return daemon.NewControl(path), nil
}
