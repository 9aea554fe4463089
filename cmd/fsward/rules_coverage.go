package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"fsward/hostd/offline"
	"fsward/interp/detect"
)

func rulesCoverageCommand() *cobra.Command {
	cfg := offline.CoverageConfig{FS: detect.Auto}
	var log, base string
	var asJSON bool
	c := &cobra.Command{
		Use:   "coverage [DIR|BUNDLE]",
		Short: "Show which clauses of rules their tests, and a replay, reach",
		Long: `Runs the unit tests below DIR, or those of a bundle, as fsward rules test does, and
judges each commit of the log that --replay names. Prints for each clause of the rules and of their
helpers how often it was true, how many of its goals were true in their order, and the first goal
that never was. With --add-rules, or a bundle, it measures only its rules, unless --all is given.

The reference engine runs the rules. It is slow: take a short log.

Exit status: 0 measured, 2 wrong usage, 3 could not run.`,
		Example: `  fsward rules coverage my-rules
  fsward rules coverage my-cases --add-rules my-rules --replay disk.log --base disk.base.img`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				cfg.Cases = args[0]
			}
			switch {
			case (log == "") != (base == ""):
				return usageError{errors.New("--replay and --base belong together"), c.CommandPath()}
			case log == "" && cfg.Cases == "":
				return usageError{errors.New("nothing to measure by: give a folder of tests, or --replay"),
					c.CommandPath()}
			case log != "":
				cfg.Logs = []offline.ReplayDisk{{Base: base, Log: log}}
			}
			clauses, undecided, err := offline.CoverRules(c.Context(), cfg)
			if err != nil {
				return err
			}
			for _, u := range undecided {
				fmt.Fprintln(c.ErrOrStderr(), "not measured to its end:", u)
			}
			if !asJSON {
				offline.WriteCoverage(os.Stdout, clauses)
				return nil
			}
			for _, one := range clauses {
				if err := printJSON(one); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&cfg.Rules.Dir, "rules", "",
		"measure the rules in `DIR` instead of the built-in ones")
	addAddRules(c, &cfg.Rules.Add)
	c.Flags().StringVar(&log, "replay", "", "also judge each commit of `LOG`")
	c.Flags().StringVar(&base, "base", "", "the log of --replay starts from `IMG`")
	c.Flags().BoolVar(&cfg.All, "all", false, "measure the built-in rules beside those of --add-rules")
	addJSONFlag(c, &asJSON)
	return c
}
