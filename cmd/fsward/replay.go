package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"fsward/hostd"
)

func replayCommand() *cobra.Command {
	var cfg hostd.ReplayConfig
	var asJSON bool
	c := &cobra.Command{
		Use:   "replay --base IMG LOG",
		Short: "Replay recorded writes and print a verdict for each commit",
		Long: `Feeds a log of writes through the same flow as a guest's and prints one verdict for each
commit. The log is in the format of Linux's dm-log-writes; fsward guard --record writes it.
The base is the image that the log starts from. It is not changed: writes go to an overlay.
Both may be compressed with zstd or gzip.

Replay stops at the first commit that would be refused. With --keep-going it goes on, with
the writes of that commit taken as written.`,
		Example: "  fsward replay --base disk.base.img disk.log\n  fsward replay --json --keep-going --base disk.base.img.zst disk.log.zst",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			cfg.Log = args[0]
			text := hostd.NewTextReport(os.Stdout)
			lines := hostd.NewJSONReport(os.Stdout)
			if asJSON {
				cfg.Sinks = []hostd.Sink{lines}
			} else {
				cfg.Sinks = []hostd.Sink{text}
			}
			sum, err := hostd.Replay(c.Context(), cfg, newLog(false))
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
	c.Flags().StringVar(&cfg.Base, "base", "", "`IMG` that the log starts from (required)")
	_ = c.MarkFlagRequired("base")
	addFSFlag(c, &cfg.FS)
	addRulesFlags(c, &cfg.Rules)
	c.Flags().BoolVar(&cfg.KeepGoing, "keep-going", false, "go on after a violation")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return c
}
