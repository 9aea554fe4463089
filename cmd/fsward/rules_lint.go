package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"fsward/change"
	"fsward/hostd"
)

func rulesLintCommand() *cobra.Command {
	var fs string
	var asJSON bool
	c := &cobra.Command{
		Use:   "lint FILE...",
		Short: "Find mistakes in rule files, with file, line, clause and a hint",
		Long: `Reads rule files as fsward does before a guest runs, and prints all mistakes, not only the first:
an unknown predicate, kind or field, a wrong number of arguments, a clause that is not well formed. It
also warns of rules whose comment block lacks what reports show.

A FILE may be a folder: then all .pl files in it are read. The file system is the one that the folder of
a FILE is named for (btrfs, ext3); all files of such a folder are read, as helpers may be in any of them.
Elsewhere say --fs; then only the FILEs are read.

Exit status: 0 no mistakes (there may be warnings), 1 mistakes, 2 wrong usage, 3 could not run.`,
		Example: "  fsward rules lint invariants/ext3/inode.pl\n  fsward rules lint my-rules/btrfs my-rules/ext3\n  fsward rules lint --fs ext3 try.pl",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			findings, err := hostd.LintRules(fs, args)
			if err != nil {
				return err
			}
			errors := 0
			for _, f := range findings {
				if f.Level == hostd.LintError {
					errors++
				}
				if asJSON {
					if err := printJSON(f); err != nil {
						return err
					}
					continue
				}
				fmt.Println(f)
			}
			if errors > 0 {
				return outcome(change.Violated)
			}
			return nil
		},
	}
	c.Flags().StringVar(&fs, "fs", "", "file system that the rules are for: btrfs or ext3 (default: the folder's name)")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return c
}
