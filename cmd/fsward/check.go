package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"fsward/hostd/guard"
	"fsward/hostd/memory"
	"fsward/hostd/offline"
)

func checkCommand() *cobra.Command {
	var bytes string
	var cfg offline.CheckConfig
	var asJSON bool
	c := &cobra.Command{
		Use:   "check IMG...",
		Short: "Check a whole image by all rules",
		Long: `Reads a disk image or block device that is not in use, and judges it: first the structure
of its file system, then every rule, as if one transaction had added everything on it. The command
only reads the image, which may be compressed with zstd or gzip. It replays an ext3 journal that
needs recovery in memory.

A disk with partitions or LVM has a line for its tables and one for each volume. If a volume cannot
be checked, its line says why. IMG:p2 checks the second partition alone, IMG:vg/lv a logical volume.

Give all disks of a Btrfs that has several, or an ext3 and the disk of its external journal, in any
order. Every ten seconds a line on stderr reports the progress.

Exit status: 0 the image holds, 1 it is violated, 2 wrong usage, 3 undecided, or could not run.`,
		Example: `  fsward check disk.img
  fsward check --json disk.img.zst
  fsward check vm.img:p2
  fsward check raid1-a.img raid1-b.img`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if cfg.Rules.Memory, err = memoryFlag(bytes); err != nil {
				return usageError{err, c.CommandPath()}
			}
			memory.SetCheckLimit(cfg.Rules.Memory)
			progress := func(s *guard.Progress) { fmt.Fprintln(c.ErrOrStderr(), s) }
			worst, err := offline.CheckVolumes(c.Context(), args, cfg, progress, sink(asJSON).Event)
			if err != nil {
				return err
			}
			return outcome(worst)
		},
	}
	addFSFlag(c, &cfg.FS)
	addDegraded(c, &cfg.Degraded)
	addRulesFlags(c, &cfg.Rules)
	c.Flags().StringVar(&bytes, "memory", "256M",
		"use about `BYTES` of memory; an image that needs more is read several times")
	addJSONFlag(c, &asJSON)
	return c
}
