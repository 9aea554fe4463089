package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"fsward/hostd/daemon"
	"fsward/hostd/guard"
	"fsward/hostd/vmrun"
)

func vmCommand() *cobra.Command {
	c := &cobra.Command{Use: "vm", Short: "Run guests on guarded disks", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(vmRunCommand())
	return c
}

func vmRunCommand() *cobra.Command {
	var f guardFlags
	var cfg vmrun.Config
	c := &cobra.Command{
		Use:   "run --disk IMG",
		Short: "Start a libvirt guest on guarded disks, and wait for it",
		Long: `Serves each disk as fsward guard does, and starts a transient libvirt domain on them. The
guest runs under KVM if the host has it, and under QEMU's translator otherwise. The command uses the
system's libvirtd if it runs; otherwise it starts a private one for the guest and stops it
afterwards.

The guest boots from a kernel and an initramfs; make guest builds both in build/guest. In the guest
the disks are /dev/vda, /dev/vdb, … in the order given, and their names are their serials. The
serial console goes to a file.

Exit status: 0 every commit held, 1 a commit was violated, 2 wrong usage, 3 a commit was undecided,
reports were dropped, the recording failed, the guest did not power off, or the command could not
run.`,
		Example: `  fsward vm run --disk vda.img --disk vdb.img
  fsward vm run --disk root.img --kernel vmlinuz --initrd initrd.img --append 'root=/dev/vda ro'`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runVM(c, &f, cfg) },
	}
	f.add(c)
	f.addMemory(c, "guard-memory")
	c.Flags().StringVar(&cfg.Guest.Name, "name", "fsward-guest", "`NAME` of the domain")
	c.Flags().StringVar(&cfg.Guest.Kernel, "kernel", "build/guest/vmlinuz",
		"boot the kernel in `FILE`")
	c.Flags().StringVar(&cfg.Guest.Initramfs, "initrd", "build/guest/initramfs.cpio.zst",
		"boot with the initramfs in `FILE`")
	c.Flags().StringVar(&cfg.Guest.Cmdline, "append", "", "append `TEXT` to the kernel's command line")
	c.Flags().UintVar(&cfg.Guest.MemoryMiB, "memory", 512, "memory of the guest, `MIB`")
	c.Flags().UintVar(&cfg.Guest.VCPUs, "cpus", 1, "`NUMBER` of processors of the guest")
	c.Flags().StringVar(&cfg.Guest.Console, "console", "fsward-guest.console",
		"write the serial console to `FILE`")
	c.Flags().BoolVar(&cfg.Calls, "calls", false,
		"check that the guest's fsync and sync waited for their flushes; fswcalls must run in the guest")
	c.Flags().StringVar(&cfg.RunDir, "run-dir", "",
		"`DIR` for sockets and a private libvirtd's files (default: a temporary one)")
	return c
}

func runVM(c *cobra.Command, f *guardFlags, cfg vmrun.Config) error {
	guarded, err := f.config(c)
	if err != nil {
		return err
	}
	cfg.Config = daemon.Config{Config: guarded, Calls: cfg.Calls}
	if f.control != "" {
		if cfg.Control, err = daemon.Address(f.control); err != nil {
			return usageError{err, c.CommandPath()}
		}
	}
	f.reports.guest = cfg.Guest.Name
	s, err := f.reports.serve()
	if err != nil {
		return usageError{err, c.CommandPath()}
	}
	cfg.Sinks, cfg.Outputs = []guard.Sink{s.sink}, s.queues()
	return s.end(runGuest(c.Context(), cfg, s.log))
}

// runGuest runs the guest until it is gone.
func runGuest(ctx context.Context, cfg vmrun.Config, log *zap.Logger) error {
	end, judged, err := vmrun.Run(ctx, cfg, log)
	if err != nil {
		return err
	}
	if !end.Clean() {
		return fmt.Errorf("the guest %s ended: %s; its console is in %s", cfg.Guest.Name, end,
			cfg.Guest.Console)
	}
	return outcome(judged)
}
