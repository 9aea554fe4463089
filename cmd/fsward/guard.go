package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"fsward/blocktap/nbd"
	"fsward/hostd/daemon"
	"fsward/hostd/guard"
	"fsward/hostd/memory"
	"fsward/hostd/vm"
)

const guardHelp = `Serves each disk on a socket and checks every commit of the guest's file system
before it reaches the disk. A commit that violates an invariant is completed with an I/O error. It
never reaches the disk, which stays at the last good commit.

The disks given together are those of one guest. A Btrfs may have several disks; give all of them.
Their writes are judged one at a time.

With --transport nbd a virtual machine attaches through the socket (libvirt: a network disk of
protocol nbd; qemu: nbd+unix:///NAME?socket=PATH). With --transport fuse PATH is a directory in
which the disk appears as a file.

The command runs until it receives SIGTERM or Ctrl-C.

A slow or stopped reader of the reports cannot stop or slow the guest. fsward drops and counts the
reports that the reader does not take.

Exit status: 0 every commit held, 1 a commit was violated, 2 wrong usage, 3 a commit was undecided,
reports were dropped, the recording failed, or the command could not run.`

func guardCommand() *cobra.Command {
	var f guardFlags
	var o guardOptions
	c := &cobra.Command{
		Use:   "guard --disk IMG --listen unix:PATH",
		Short: "Serve disks to a guest and check every commit before it reaches them",
		Long:  guardHelp,
		Example: `  fsward guard --disk vm.img --listen unix:/run/fsward/vm.sock
  fsward guard --disk root=a.img --disk data=b.img --listen unix:/run/vm.sock --json
  fsward guard --disk vm.img --listen unix:/run/vm.sock --on-violation pause --domain vm \
    --control unix:/run/vm.ctl`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runGuard(c, &f, &o) },
	}
	f.add(c)
	f.memory.addDisk(c, "memory")
	o.add(c)
	return c
}

// guardOptions are the flags of guard alone.
type guardOptions struct {
	listen, transport, calls, domain, libvirtURI string
	socketGroup, socketMode                      string
	socket                                       nbd.SocketOptions // of the two
}

// add adds the flags.
func (o *guardOptions) add(c *cobra.Command) {
	c.Flags().StringVar(&o.listen, "listen", "",
		"serve the disks at `unix:PATH`, or at systemd:NAME, a socket of systemd (required)")
	_ = c.MarkFlagRequired("listen")
	c.Flags().StringVar(&o.transport, "transport", daemon.TransportNBD,
		"serve the disks by nbd or fuse")
	addSocketFlags(c, &o.socketGroup, &o.socketMode)
	c.Flags().StringVar(&o.calls, "calls", "",
		"check that the guest's fsync and sync waited for their flushes; fswcalls in the guest "+
			"reports them through its virtio-serial port org.fsward.calls, whose socket is "+
			"`unix:PATH`")
	c.Flags().StringVar(&o.domain, "domain", "",
		"the guest is this libvirt `DOMAIN`: suspend it for --on-violation pause, and name it "+
			"in reports")
	c.Flags().StringVar(&o.libvirtURI, "connect", "qemu:///system",
		"look for --domain at this libvirt `URI`")
}

// read checks the flags, and returns the path of the socket of the disks.
func (o *guardOptions) read() (path string, err error) {
	path, err = daemon.Address(o.listen)
	if err == nil {
		err = daemon.CheckTransport(o.transport)
	}
	if err == nil {
		o.socket, err = daemon.ParseSocketOptions(o.socketGroup, o.socketMode)
	}
	return path, err
}

func runGuard(c *cobra.Command, f *guardFlags, o *guardOptions) error {
	cfg, err := f.config(c)
	if err != nil {
		return err
	}
	path, err := o.read()
	if err != nil {
		return usageError{err, c.CommandPath()}
	}
	memory.SetLimit(cfg.Memory.Total(len(cfg.Disks)))
	f.reports.guest = o.domain
	s, err := f.reports.serve()
	if err != nil {
		return usageError{err, c.CommandPath()}
	}
	return s.end(o.guard(c.Context(), cfg, s, path, f.control))
}

// guard opens the disks and serves them until ctx ends.
func (o *guardOptions) guard(ctx context.Context, cfg guard.Config, s *serving,
	path, control string) (err error) {
	cfg.Sinks = []guard.Sink{s.sink}
	if o.domain != "" {
		if cfg.Guest, err = vm.Find(ctx, o.libvirtURI, o.domain, s.log); err != nil {
			return err
		}
	}
	d, err := daemon.Open(daemon.Config{Config: cfg, Calls: o.calls != "", Socket: o.socket,
		Outputs: s.queues()}, s.log)
	if err != nil {
		return err
	}
	err = serveAll(ctx, d, o.transport, path, control, o.calls)
	err = errors.Join(err, d.EndRecording())
	judged := d.Outcome()
	if err = errors.Join(err, d.Close()); err != nil {
		return err
	}
	return outcome(judged)
}

// serveAll serves the disks, and the sockets whose address is not "", until ctx ends or one of them
// fails.
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
