package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"fsward/hostd/daemon"
	"fsward/hostd/guard"
	"fsward/repair"
)

const daemonHelp = `Guards the disks of several guests in one process, as fsward guard does for one.
FILE is a YAML file; its keys are the flags of fsward guard. Each guest has its own order of writes
and its own memory. If the command cannot serve a guest, for example because the disk is in use, it
serves the others, and tries again every ten seconds.

The command runs until it receives SIGTERM or Ctrl-C. SIGHUP makes it read its rules again, as
fsward rules reload does.

Exit status: 0 every commit held, 1 a commit was violated, 2 wrong usage or configuration, 3 a
commit was undecided, reports were dropped, a guest was not served at the end, or the command could
not run.`

func daemonCommand() *cobra.Command {
	var file string
	var example, check bool
	c := &cobra.Command{
		Use:   "daemon --config FILE",
		Short: "Guard the disks of several guests",
		Long:  daemonHelp,
		Example: `  fsward daemon --example > /etc/fsward.yaml
  fsward daemon --config /etc/fsward.yaml --check
  fsward daemon --config /etc/fsward.yaml
  fsward status --control unix:/run/fsward/control`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if example {
				printExample(c.OutOrStdout())
				return nil
			}
			if file == "" {
				return usageError{errors.New("--config FILE is needed, or --example"), c.CommandPath()}
			}
			cfg, err := readDaemonConfig(file)
			if err != nil {
				return usageError{err, c.CommandPath()}
			}
			if check {
				fmt.Fprintf(c.OutOrStdout(), "%s: %s\n", file, repair.Count(len(cfg.guests), "guest"))
				return nil
			}
			return runDaemon(c, cfg)
		},
	}
	c.Flags().StringVar(&file, "config", "", "read the configuration in the YAML file `FILE`")
	c.Flags().BoolVar(&check, "check", false, "check the configuration, and serve nothing")
	c.Flags().BoolVar(&example, "example", false,
		"print a configuration with every key, what it does and its default")
	return c
}

func runDaemon(c *cobra.Command, cfg *daemonConfig) error {
	s, err := cfg.top.reports.serve()
	if err != nil {
		return usageError{err, c.CommandPath()}
	}
	var guests []daemon.Guest
	for _, g := range cfg.guests {
		g.Sinks, g.Outputs = []guard.Sink{cfg.sinkOf(s, g.Name)}, s.queues()
		g.Find = finder(g.domain, g.uri, s.log)
		guests = append(guests, g.Guest)
	}
	judged, err := daemon.NewGuests(guests, s.queues(), s.log).Run(c.Context(), cfg.control)
	if err == nil {
		err = outcome(judged)
	}
	return s.end(err)
}

func diskCommand() *cobra.Command {
	c := &cobra.Command{Use: "disk", Short: "Change the disks of a running fsward daemon",
		Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
		Long: `Changes the disks of a guest that a running fsward daemon guards. The guard of the
guest starts again, so its QEMU has to connect again: set reconnect-delay, or use fsward proxy. The
command does not change the configuration file of the daemon: change it too.`}
	var control, format, size string
	add := &cobra.Command{Use: "add GUEST/NAME IMG", Short: "Guard another disk of a guest",
		Example: "  fsward disk add web/vdb /srv/web-data.qcow2 --control unix:/run/fsward/control",
		Args:    cobra.ExactArgs(2)}
	add.Flags().StringVar(&format, "format", "",
		"read the image in this `FORMAT`: see --disk-format of fsward guard")
	remove := &cobra.Command{Use: "remove GUEST/NAME", Short: "Stop guarding a disk of a guest",
		Long: `Stops guarding a disk of a guest. Detach the disk from the guest first. The command refuses
to remove a disk that a file system on the other disks needs.`, Args: cobra.ExactArgs(1)}
	grow := &cobra.Command{Use: "grow GUEST/NAME [--size BYTES]", Short: "Make a disk larger",
		Long: `Makes the image of a disk larger, or, without --size, takes the size that the disk has now:
for example that of a logical volume of the host after lvextend. The guest sees the new size after
virsh blockresize, or when it starts again; behind fsward proxy, when the proxy and the guest start
again.`,
		Example: "  fsward disk grow web/vda --size 20G && virsh blockresize web vda 20G",
		Args:    cobra.ExactArgs(1)}
	grow.Flags().StringVar(&size, "size", "", "make the disk `BYTES` large, such as 20G")
	for _, sub := range []*cobra.Command{add, remove, grow} {
		addControlFlag(sub, &control)
		sub.RunE = func(c *cobra.Command, args []string) error {
			change := daemon.DiskChange{Format: format}
			if len(args) > 1 {
				change.Path = args[1]
			}
			if size != "" {
				var err error
				if change.Size, err = parseBytes(size); err != nil {
					return usageError{fmt.Errorf("--size: %w", err), c.CommandPath()}
				}
			}
			client, err := controlClient(c, control)
			if err != nil {
				return err
			}
			return client.ChangeDisk(c.Name(), args[0], change)
		}
		c.AddCommand(sub)
	}
	return c
}
