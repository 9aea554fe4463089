package main

import (
	"time"

	"github.com/spf13/cobra"

	"fsward/hostd/daemon"
	"fsward/hostd/proxy"
)

// proxyOptions are the flags of proxy.
type proxyOptions struct {
	cfg                        proxy.Config
	guard, listen, group, mode string
}

func proxyCommand() *cobra.Command {
	var o proxyOptions
	c := &cobra.Command{
		Use:   "proxy --disk NAME --guard unix:PATH --listen unix:PATH",
		Short: "Let a guest wait while its guard starts again",
		Long: `Stands between QEMU and a guard. While the guard starts again, the guest's requests
wait, and those that the guard has not answered are repeated: the guest sees a pause and no error.
QEMU 4.2 and later do so themselves, if reconnect-delay is set. libvirt before 9.1, such as that of
Debian 12, cannot set it.

The command becomes a qemu-storage-daemon (Debian package qemu-system-common), which needs no
restart when fsward is upgraded. If the proxy ends, the guest's requests fail. Stop it before the
guard: it flushes at its end, and would wait for a guard that is gone.

Exit status: 0 ended by a signal, 2 wrong usage, other: the proxy could not run.`,
		Example: `  fsward proxy --disk vda --guard unix:/run/fsward/vm.sock \
    --listen unix:/run/fsward/vm.proxy.sock --socket-group libvirt-qemu --socket-mode 660`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c) },
	}
	c.Flags().StringArrayVar(&o.cfg.Disks, "disk", nil,
		"serve the disk `NAME` of the guard; repeat it for every disk of the guest (required)")
	c.Flags().StringVar(&o.guard, "guard", "", "connect to the guard at `unix:PATH` (required)")
	c.Flags().StringVar(&o.listen, "listen", "",
		"serve the disks at `unix:PATH`, or at systemd:NAME, a socket of systemd (required)")
	for _, name := range []string{"disk", "guard", "listen"} {
		_ = c.MarkFlagRequired(name)
	}
	addDuration(c, &o.cfg.Wait, "reconnect", 5*time.Minute,
		"let a request wait for the guard for at most `TIME`; then it fails")
	addSocketFlags(c, &o.group, &o.mode)
	return c
}

func (o *proxyOptions) run(c *cobra.Command) error {
	path, err := daemon.Address(o.listen)
	if err == nil {
		o.cfg.Guard, err = daemon.Address(o.guard)
	}
	if err == nil {
		err = daemon.CheckSocketPath(o.cfg.Guard)
	}
	if err == nil {
		err = o.cfg.Check()
	}
	if err != nil {
		return usageError{err, c.CommandPath()}
	}
	socket, err := daemon.ParseSocketOptions(o.group, o.mode)
	if err != nil {
		return usageError{err, c.CommandPath()}
	}
	l, err := daemon.Listen(path, socket)
	if err != nil {
		return err
	}
	return proxy.Exec(o.cfg, l)
}
