package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"fsward/hostd/daemon"
	"fsward/hostd/demo"
	"fsward/hostd/guard"
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
	var calls bool
	c := &cobra.Command{
		Use:   "run --disk IMG",
		Short: "Start a libvirt guest whose disks are guarded, and wait for it",
		Long: `Serves each disk as fsward guard does and starts a transient libvirt domain on them, under KVM
where the host has it and QEMU's translator elsewhere. The system's libvirtd is used if it runs;
otherwise a private one is started for the guest and stopped after it.

The guest boots from a kernel and an initramfs; make guest builds both in build/guest. In the guest
the disks are /dev/vda, /dev/vdb, … in the order given, with their names as serials. The serial
console goes to a file.`,
		Example: `  fsward vm run --disk vda.img --disk vdb.img
  fsward vm run --disk root.img --kernel vmlinuz --initrd initrd.img --append 'root=/dev/vda ro'`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			guarded, err := f.config(c)
			if err != nil {
				return err
			}
			cfg.Config = daemon.Config{Config: guarded, Calls: calls}
			if f.control != "" {
				if cfg.Control, err = daemon.Address(f.control); err != nil {
					return usageError{err, c.CommandPath()}
				}
			}
			log := newLog(f.verbose)
			defer func() { _ = log.Sync() }()
			end, judged, err := vmrun.Run(c.Context(), cfg, log)
			if err != nil {
				return err
			}
			if !end.Clean() {
				return fmt.Errorf("the guest %s ended: %s; its console is in %s", cfg.Guest.Name, end, cfg.Guest.Console)
			}
			return outcome(judged)
		},
	}
	f.add(c)
	f.addMemory(c, "guard-memory")
	c.Flags().StringVar(&cfg.Guest.Name, "name", "fsward-guest", "name of the domain")
	c.Flags().StringVar(&cfg.Guest.Kernel, "kernel", "build/guest/vmlinuz", "kernel `FILE`")
	c.Flags().StringVar(&cfg.Guest.Initramfs, "initrd", "build/guest/initramfs.cpio.zst", "initramfs `FILE`")
	c.Flags().StringVar(&cfg.Guest.Cmdline, "append", "", "added to the kernel's `COMMAND LINE`")
	c.Flags().UintVar(&cfg.Guest.MemoryMiB, "memory", 512, "memory of the guest, `MIB`")
	c.Flags().UintVar(&cfg.Guest.VCPUs, "cpus", 1, "processors of the guest")
	c.Flags().StringVar(&cfg.Guest.Console, "console", "fsward-guest.console", "`FILE` for the serial console")
	c.Flags().BoolVar(&calls, "calls", false, "hold the guest's calls that make things durable against what the disks did: fswcalls has to run in it")
	c.Flags().StringVar(&cfg.RunDir, "run-dir", "", "`DIR` for sockets and a private libvirtd's files (default: a temporary one)")
	return c
}

func demoCommand() *cobra.Command {
	cfg := demo.Config{Out: os.Stdout}
	var verbose bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show the main job: a guest, two guarded disks, two bugs, two refusals",
		Long: `Boots a guest with two guarded disks, on which it makes Btrfs and ext3 and works. Then one metadata
field of a commit is changed between the guest and the checker, as a file system bug would, once on
each disk. fsward refuses both commits; the disks stay clean at the last good one.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			log := zap.NewNop()
			if verbose {
				log = newLog(true)
			}
			return demo.Run(c.Context(), cfg, log)
		},
	}
	c.Flags().StringVar(&cfg.GuestDir, "guest", "build/guest", "`DIR` with what make guest built")
	c.Flags().StringVar(&cfg.Dir, "dir", "out/demo", "`DIR` for the disks and the guest's console")
	c.Flags().IntVar(&cfg.Rounds, "rounds", 12, "rounds of work before the bugs")
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "show the log")
	return c
}

// suspendable finds the domain of --domain.
func suspendable(ctx context.Context, uri, name string, log *zap.Logger) (guard.Suspender, error) {
	return vm.Find(ctx, uri, name, log)
}
