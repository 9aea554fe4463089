package main

import (
	"os"

	"github.com/spf13/cobra"

	"fsward/hostd/offline"
)

func rulesRunCommand() *cobra.Command {
	var cfg offline.RunConfig
	var asJSON bool
	c := &cobra.Command{
		Use:   "run --rules FILE --facts FILE",
		Short: "Run rules over files of facts, without a disk",
		Long: `Runs rules over one transaction that is written as facts: change/5 for its records, and
object/2, state/4 and adjacent/3 for the state after it. fsward rules test --help
describes these facts. A file of facts may be compressed with zstd. Repeat --rules and
--facts to give several files. Any kinds and fields are allowed.

Times are in nanoseconds: load_ns is the time to read the files, check_ns the time to run
the rules.

Exit status: 0 everything holds, 1 something is violated, 2 wrong usage, 3 undecided or
could not run.`,
		Example: `  fsward rules run --rules invariants/testdata/thesis.pl --facts tree-1k.pl.zst --json
  fsward rules run --rules mine.pl --facts changes.pl --facts state.pl --why`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			run, err := offline.RunRules(c.Context(), cfg)
			if err != nil {
				return err
			}
			if asJSON {
				if err := printJSON(run); err != nil {
					return err
				}
			} else {
				run.WriteTable(os.Stdout)
			}
			return outcome(run.Outcome)
		},
	}
	c.Flags().StringArrayVar(&cfg.Rules, "rules", nil,
		"read rules from `FILE`; may be repeated (required)")
	c.Flags().StringArrayVar(&cfg.Facts, "facts", nil,
		"read facts from `FILE`; may be repeated (required)")
	_ = c.MarkFlagRequired("rules")
	_ = c.MarkFlagRequired("facts")
	addJudgeFlags(c, &cfg.Engine, &cfg.Why, &cfg.Timing)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}
