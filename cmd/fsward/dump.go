package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/offline"
)

func dumpCommand() *cobra.Command {
	var fs string
	var records bool
	c := &cobra.Command{
		Use:   "dump IMG...",
		Short: "Print the objects of an image's file system as text",
		Long: `Prints every object of a file system with its fields, as fsward sees them. The image is
only read. Give all disks of a Btrfs that has several, or an ext3 and the disk of its
external journal.

A disk with partitions or LVM has a heading for each file system. IMG:p2 prints the one on
the second partition alone, IMG:vg/lv that on a logical volume.

Exit status: 0 printed, 1 the structure is violated, 2 wrong usage, 3 could not run.`,
		Example: `  fsward dump disk.img | less
  fsward dump --records disk.img | grep inode_ref
  fsward dump vm.img:p2`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			broken, err := offline.Dump(os.Stdout, args, fs, records)
			for _, ev := range broken {
				if ev.Volume != "" {
					fmt.Printf("volume %s:\n", ev.Volume)
				}
				guard.WriteFindings(os.Stdout, ev)
			}
			if err == nil && len(broken) > 0 {
				err = outcome(change.Violated)
			}
			return err
		},
	}
	addFSFlag(c, &fs)
	c.Flags().BoolVar(&records, "records", false, "print change records, as the rules see them")
	return c
}
