package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"fsward/hostd/guard"
	"fsward/hostd/memory"
	"fsward/hostd/offline"
	"fsward/interp/detect"
)

// sink returns the report that --json asks for.
func sink(asJSON bool) guard.Sink {
	if asJSON {
		return guard.NewJSONReport(os.Stdout)
	}
	return guard.NewTextReport(os.Stdout)
}

func addFSFlag(c *cobra.Command, fs *string) {
	c.Flags().StringVar(fs, "fs", detect.Auto, "file system: auto, btrfs or ext3")
}

func checkCommand() *cobra.Command {
	var fs string
	var rules guard.RulesConfig
	var asJSON bool
	var memoryText string
	c := &cobra.Command{
		Use:   "check IMG...",
		Short: "Judge a whole image, as one transaction of additions, by all rules",
		Long: `Reads a disk image or block device that is not in use and judges it: the structure of
its file system first, then every rule, as if one transaction had made all that is there.
The image is only read. It may be compressed with zstd or gzip. An ext3 journal that needs
recovery is replayed in memory. The disks of a Btrfs that has several are given together, in
any order. What takes long tells on stderr, every ten seconds, how far it is.`,
		Example: "  fsward check disk.img\n  fsward check --json disk.img.zst\n  fsward check raid1-a.img raid1-b.img",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if rules.Memory, err = memoryFlag(memoryText); err != nil {
				return usageError{err, c.CommandPath()}
			}
			memory.SetLimit(rules.Memory)
			ev, err := offline.CheckTelling(c.Context(), args, fs, rules, func(s *guard.Progress) { fmt.Fprintln(c.ErrOrStderr(), s) })
			if err != nil {
				return err
			}
			sink(asJSON).Event(ev)
			return outcome(ev.Outcome)
		},
	}
	addFSFlag(c, &fs)
	addRulesFlags(c, &rules)
	c.Flags().StringVar(&memoryText, "memory", "256M", "memory to use, about: beyond it the image is read again and again")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func dumpCommand() *cobra.Command {
	var fs string
	var records bool
	c := &cobra.Command{
		Use:     "dump IMG...",
		Short:   "Print the objects of an image's file system as text",
		Long:    "Prints every object that fsward sees in an image, with its fields. The image is only read. The disks of a Btrfs\nthat has several are given together.",
		Example: "  fsward dump disk.img | less\n  fsward dump --records disk.img | grep inode_ref",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			broken, err := offline.Dump(os.Stdout, args, fs, records)
			if err != nil || broken == nil {
				return err
			}
			guard.WriteFindings(os.Stdout, broken)
			return outcome(broken.Outcome)
		},
	}
	addFSFlag(c, &fs)
	c.Flags().BoolVar(&records, "records", false, "print change records, as the rules see them")
	return c
}
