package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"fsward/change"
	"fsward/hostd/offline"
	"fsward/repair"
)

func rulesLintCommand() *cobra.Command {
	var fs string
	var asJSON bool
	c := &cobra.Command{
		Use:   "lint FILE...",
		Short: "Find mistakes in rule files, with file, line, clause and a hint",
		Long: `Loads rule files as fsward does before it guards a disk, and prints all mistakes, not
only the first: an unknown predicate, kind or field, a wrong number of arguments, a
malformed clause. It also warns about rules whose comment block lacks a part that reports
show, and about rules whose cost may be a square: see "cost" of fsward rules explain. Such a
rule can say in its comment block why it is cheap: "Cost: …".

A FILE may be a folder; lint then reads all .pl files in it. The folder's name (btrfs or
ext3) says which file system the rules are for. lint reads all files of such a folder,
because helpers may be in any of them. For a FILE in a folder with another name, give
--fs; lint then reads only the FILEs.

Exit status: 0 no mistakes (there may be warnings), 1 mistakes, 2 wrong usage, 3 could
not run.`,
		Example: `  fsward rules lint invariants/ext3/inode.pl
  fsward rules lint my-rules/btrfs my-rules/ext3
  fsward rules lint --fs ext3 try.pl`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			findings, builtin, err := offline.LintRules(fs, args)
			if err != nil {
				return err
			}
			errors := 0
			for _, f := range findings {
				if f.Level == offline.LintError {
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
			if builtin > 0 && !asJSON {
				fmt.Fprintf(c.ErrOrStderr(), "left out: %s about built-in rules\n",
					repair.Count(builtin, "remark"))
			}
			if errors > 0 {
				return outcome(change.Violated)
			}
			return nil
		},
	}
	c.Flags().StringVar(&fs, "fs", "",
		"file system that the rules are for: btrfs or ext3 (default: the folder's name)")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return c
}
