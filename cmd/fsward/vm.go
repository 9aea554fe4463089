package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"fsward/hostd/daemon"
	"fsward/hostd/guard"
	"fsward/hostd/memory"
	"fsward/hostd/vm"
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
	var network string
	c := &cobra.Command{
		Use:   "run --disk IMG",
		Short: "Start a libvirt guest on guarded disks, and wait for it",
		Long: `Serves each disk as fsward guard does, and starts a transient libvirt domain on them. The
guest runs under KVM if the host has it, and under QEMU's translator otherwise. The command uses the
system's libvirtd if it runs; otherwise it starts a private one for the guest and stops it
afterwards.

The first disk boots by its own boot loader, and the guest may reboot. With --kernel the guest
boots a kernel instead, and a reboot ends it; make guest builds one in build/guest. In the guest the
disks are /dev/vda, /dev/vdb, … in the order given, and their names are their serials. The
serial console goes to a file.

Exit status: 0 every commit held, 1 a commit was violated, 2 wrong usage, 3 a commit was undecided,
reports were dropped, the recording failed, the guest did not power off, or the command could not
run.`,
		Example: `  fsward vm run --disk debian-12-nocloud-amd64.qcow2 --network user
  fsward vm run --disk vda.img --disk vdb.img --kernel build/guest/vmlinuz \
    --initrd build/guest/initramfs.cpio.zst
  fsward vm run --disk root.img --kernel vmlinuz --initrd initrd.img --append 'root=/dev/vda ro'`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if network != "none" && network != "user" {
				return usageError{fmt.Errorf("--network %q is not one of none, user", network),
					c.CommandPath()}
			}
			cfg.Guest.Network = network == "user"
			return runVM(c, &f, cfg)
		},
	}
	f.add(c)
	f.memory.addDisk(c, "guard-memory")
	c.Flags().StringVar(&cfg.Guest.Name, "name", "fsward-guest", "name the domain `NAME`")
	addBootFlags(c, &cfg.Guest, &network)
	c.Flags().UintVar(&cfg.Guest.MemoryMiB, "memory", 512,
		"give the guest `MIB` mebibytes of memory")
	c.Flags().UintVar(&cfg.Guest.VCPUs, "cpus", 1, "give the guest `NUMBER` processors")
	c.Flags().StringVar(&cfg.Guest.Console, "console", "fsward-guest.console",
		"write the serial console to `FILE`")
	c.Flags().BoolVar(&cfg.Calls, "calls", false,
		"check that the guest's fsync and sync waited for their flushes; fswcalls must run in the guest")
	c.Flags().StringVar(&cfg.RunDir, "run-dir", "",
		"keep sockets and the files of a private libvirtd in `DIR` (default: a temporary folder)")
	return c
}

// addBootFlags adds the flags that say what the guest boots and which devices it has.
func addBootFlags(c *cobra.Command, guest *vm.Config, network *string) {
	c.Flags().StringVar(&guest.Kernel, "kernel", "",
		"boot the kernel in `FILE` (default: the first disk boots by its own boot loader)")
	c.Flags().StringVar(&guest.Initramfs, "initrd", "", "boot the kernel with the initramfs in `FILE`")
	c.Flags().StringVar(&guest.Cmdline, "append", "", "append `TEXT` to the kernel's command line")
	c.Flags().BoolVar(&guest.EFI, "efi", false,
		"boot the disk by EFI (Debian package ovmf), not by a BIOS")
	c.Flags().StringVar(network, "network", "none",
		"give the guest this `NETWORK`: none, or user for QEMU's user-mode network, which needs "+
			"no rights")
}

func runVM(c *cobra.Command, f *guardFlags, cfg vmrun.Config) error {
	guarded, err := f.config(c)
	if err != nil {
		return err
	}
	memory.SetLimit(guarded.Memory.Total(len(guarded.Disks)))
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
