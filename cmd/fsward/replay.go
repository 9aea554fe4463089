package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"fsward/hostd/guard"
	"fsward/hostd/memory"
	"fsward/hostd/offline"
	"fsward/repair"
)

func replayCommand() *cobra.Command {
	var cfg offline.ReplayConfig
	var bases []string
	var limits memoryFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "replay --base IMG LOG",
		Short: "Replay recorded writes and print a verdict for each commit",
		Long: `Sends the writes of a log through the same checks as a guest's writes, and prints one
verdict for each commit. The log is in the format of Linux's dm-log-writes, which fsward guard
--record writes. The base is the image that the log starts from. It is not changed: writes go to an
overlay. Both may be compressed with zstd or gzip.

For a file system on several disks, give the base of each disk and then the log of each, in the same
order; NAME=IMG names a disk. If fsward recorded the logs together, they hold the order of writes
across disks.

A disk with partitions or LVM has a verdict for each commit of each volume. --base IMG:p2 judges the
second partition alone, IMG:vg/lv a logical volume.

The replay stops at the first commit that a guard would refuse. With --keep-going it goes on, as if
that commit had been written.

Exit status: 0 every commit held, 1 a commit was violated, 2 wrong usage, 3 undecided, or could not
run.`,
		Example: `  fsward replay --base disk.base.img disk.log
  fsward replay --json --keep-going --base disk.base.img.zst disk.log.zst
  fsward replay --base vm.img:p2 vm.log
  fsward replay --base a.img --base b.img vm.log.a vm.log.b`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if cfg.Disks, err = replayDisks(bases, args); err != nil {
				return usageError{err, c.CommandPath()}
			}
			if cfg.Memory, err = limits.limits(); err != nil {
				return usageError{err, c.CommandPath()}
			}
			cfg.Sinks = []guard.Sink{sink(asJSON)}
			return runReplay(c, cfg, asJSON)
		},
	}
	addBaseFlag(c, &bases)
	_ = c.MarkFlagRequired("base")
	addFSFlag(c, &cfg.FS)
	addRulesFlags(c, &cfg.Rules)
	addDegraded(c, &cfg.Degraded)
	addDataOrdered(c, &cfg.DataOrdered)
	limits.addDisk(c, "memory")
	limits.addReserve(c)
	c.Flags().BoolVar(&cfg.KeepGoing, "keep-going", false,
		"go on after a commit that would be refused")
	addJSONFlag(c, &asJSON)
	return c
}

// runReplay replays a recording within its limits of memory, and prints the verdicts.
func runReplay(c *cobra.Command, cfg offline.ReplayConfig, asJSON bool) error {
	memory.SetLimit(cfg.Memory.Total(len(cfg.Disks)))
	sum, err := offline.Replay(c.Context(), cfg, newLog(false))
	if err != nil {
		return err
	}
	if err := printVerdicts(sum, asJSON); err != nil {
		return err
	}
	return outcome(sum.Outcome())
}

// printVerdicts prints how many verdicts of each kind a replay had.
func printVerdicts(sum *offline.Replayed, asJSON bool) error {
	if asJSON {
		return printJSON(sum)
	}
	fmt.Printf("%s, %d violated, %d undecided, %s in %s\n", repair.Count(sum.Commits, "commit"),
		sum.Violated, sum.Undecided, repair.Count(sum.Records, "record"),
		time.Duration(sum.NS).Round(time.Millisecond))
	return nil
}

// addBaseFlag adds the flag for the images that logs start from.
func addBaseFlag(c *cobra.Command, bases *[]string) {
	c.Flags().StringArrayVar(bases, "base", nil,
		"the log starts from `IMG`; repeat it for several disks")
}

// replayDisks pairs bases and logs in their order.
func replayDisks(bases, logs []string) ([]offline.ReplayDisk, error) {
	if len(bases) != len(logs) {
		return nil, fmt.Errorf("%d of --base and %d logs: each log needs the image that it starts from",
			len(bases), len(logs))
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
