package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"fsward/change"
	"fsward/hostd/offline"
)

func rulesBenchCommand() *cobra.Command {
	var cfg offline.BenchConfig
	var asJSON bool
	c := &cobra.Command{
		Use:   "bench --files N",
		Short: "Measure the cost of each rule on a large generated file system",
		Long: `Makes a file system with N files in one directory, and one with a quarter of them,
in temporary images, and judges each as one transaction that adds everything. Prints for each rule
its time, the records and objects that it looked at, and how its time grows with the files: n^1.0 is
linear, n^2.0 a square. It needs mkfs.ext3 or mkfs.btrfs. With --add-rules it prints only the
rules of the bundle, unless --all is given.

Exit status: 0 measured, 2 wrong usage, 3 undecided or could not run.`,
		Example: `  fsward rules bench --files 10000 --add-rules my-rules
  fsward rules bench --files 50000 --fs btrfs`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := cfg.Check(); err != nil {
				return usageError{err, c.CommandPath()}
			}
			all, _ := c.Flags().GetBool("all") // the flag exists
			cfg.Site = len(cfg.Rules.Add) > 0 && !all
			b, err := offline.BenchRules(c.Context(), cfg)
			if err != nil {
				return err
			}
			if asJSON {
				if err := printJSON(b); err != nil {
					return err
				}
			} else {
				printBench(b)
			}
			if len(b.Undecided) > 0 {
				return outcome(change.Undecided)
			}
			return nil
		},
	}
	c.Flags().IntVar(&cfg.Files, "files", 10_000, "make `N` files in one directory")
	c.Flags().StringVar(&cfg.FS, "fs", "ext3", "measure on this file system: ext3 or btrfs")
	c.Flags().StringVar(&cfg.Rules.Dir, "rules", "",
		"measure the rules in `DIR` instead of the built-in ones")
	addAddRules(c, &cfg.Rules.Add)
	c.Flags().Bool("all", false, "print the built-in rules beside those of --add-rules")
	addJSONFlag(c, &asJSON)
	return c
}

func printBench(b *offline.Bench) {
	fmt.Printf("%d records: %s\n%-20s %12s %12s  %s\n", b.Records, b.Verdict, "RULE", "TIME", "ROWS",
		"GROWTH")
	for _, r := range b.Rules {
		growth := "-"
		if r.Growth != 0 {
			growth = fmt.Sprintf("n^%.1f", r.Growth)
		}
		fmt.Printf("%-20s %12s %12d  %s\n", r.Rule, time.Duration(r.NS).Round(time.Microsecond), r.Rows,
			growth)
	}
	for _, u := range b.Undecided {
		fmt.Printf("undecided: %s\n", u)
	}
}
