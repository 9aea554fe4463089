package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"fsward/hostd/guard"
	"fsward/hostd/offline"
)

func replayCommand() *cobra.Command {
	var cfg offline.ReplayConfig
	var bases []string
	var asJSON bool
	c := &cobra.Command{
		Use:   "replay --base IMG LOG",
		Short: "Replay recorded writes and print a verdict for each commit",
		Long: `Feeds a log of writes through the same flow as a guest's and prints one verdict for each
commit. The log is in the format of Linux's dm-log-writes; fsward guard --record writes it.
The base is the image that the log starts from. It is not changed: writes go to an overlay.
Both may be compressed with zstd or gzip.

Where a file system has several disks, give the base of each and then the log of each, in the
same order; NAME=IMG names a disk. Their logs hold the order of the writes among them if fsward
has recorded them together.

Replay stops at the first commit that would be refused. With --keep-going it goes on, with
the writes of that commit taken as written.`,
		Example: "  fsward replay --base disk.base.img disk.log\n  fsward replay --json --keep-going --base disk.base.img.zst disk.log.zst\n  fsward replay --base a.img --base b.img vm.log.a vm.log.b",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if cfg.Disks, err = replayDisks(bases, args); err != nil {
				return usageError{err, c.CommandPath()}
			}
			text := guard.NewTextReport(os.Stdout)
			lines := guard.NewJSONReport(os.Stdout)
			if asJSON {
				cfg.Sinks = []guard.Sink{lines}
			} else {
				cfg.Sinks = []guard.Sink{text}
			}
			sum, err := offline.Replay(c.Context(), cfg, newLog(false))
			if err != nil {
				return err
			}
			if asJSON {
				lines.Object(sum)
			} else {
				fmt.Printf("%d commits, %d violated, %d undecided, %d records in %s\n", sum.Commits, sum.Violated,
					sum.Undecided, sum.Records, time.Duration(sum.NS).Round(time.Millisecond))
			}
			return outcome(sum.Outcome())
		},
	}
	c.Flags().StringArrayVar(&bases, "base", nil, "`IMG` that the log starts from; repeated where there are several disks (required)")
	_ = c.MarkFlagRequired("base")
	addFSFlag(c, &cfg.FS)
	addRulesFlags(c, &cfg.Rules)
	addDataOrdered(c, &cfg.DataOrdered)
	c.Flags().BoolVar(&cfg.KeepGoing, "keep-going", false, "go on after a violation")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return c
}

// replayDisks puts bases and logs together.
func replayDisks(bases, logs []string) ([]offline.ReplayDisk, error) {
	if len(bases) != len(logs) {
		return nil, fmt.Errorf("%d of --base and %d logs: each log needs the image that it starts from", len(bases), len(logs))
	}
	if len(logs) == 1 {
		return []offline.ReplayDisk{{Base: bases[0], Log: logs[0]}}, nil
	}
	var disks []offline.ReplayDisk
	for i, base := range bases {
		spec, err := guard.ParseDiskSpec(base)
		if err != nil {
			return nil, err
		}
		disks = append(disks, offline.ReplayDisk{Name: spec.Name, Base: spec.Path, Log: logs[i]})
	}
	return disks, nil
}
