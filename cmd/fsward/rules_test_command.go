package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/offline"
)

const rulesTestHelp = `Runs every .pl file below DIR as a unit test of rules, on every engine. If
DIR is a bundle, or a zip file of one, its own tests run, with its rules beside the built-in ones. A
test is a small transaction, written as facts. The name of its folder (btrfs or ext3) says which
file system it is for:

  change(TREE, ID, FIELD, OLD, NEW).   a change record; FIELD object stands for the object itself
  object(TREE, ID).                    an object that exists after the transaction
  state(TREE, ID, FIELD, VALUE).       a field of this object after the transaction
  adjacent(TREE, ID, NEXT).            two neighboring objects, for previous/3 and next/3
  rule(N).                             the test is about rule N; other rules are ignored;
                                       a site's rule is site/NAME
  expect(N, TREE, ID).                 rule N is violated at this object
  expect_none.                         nothing is violated

Quote the names of files; do not quote words such as s_ifdir. A test passes if the
violations found are exactly those expected. If not, the difference is printed: "-"
stands for a violation that was expected and not found, "+" for one that was found and
not expected.

Exit status: 0 all pass, 1 some fail, 2 wrong usage, 3 could not run.`

func rulesTestCommand() *cobra.Command {
	var fs string
	var rules guard.RulesConfig
	var asJSON, verbose bool
	c := &cobra.Command{
		Use:   "test DIR|BUNDLE",
		Short: "Run unit tests of rules: facts and the violations expected",
		Long:  rulesTestHelp,
		Example: `  fsward rules test invariants/testdata/cases
  fsward rules test my-cases --add-rules my-rules
  fsward rules test site-1.2.zip`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			results, err := offline.TestRules(c.Context(), fs, args[0], rules)
			if err != nil {
				return err
			}
			failed := 0
			for _, r := range results {
				if !r.Passed {
					failed++
				}
				if asJSON {
					if err := printJSON(r); err != nil {
						return err
					}
				} else if verbose || !r.Passed {
					printCase(r)
				}
			}
			if !asJSON {
				fmt.Printf("%d passed, %d failed\n", len(results)-failed, failed)
			}
			if failed > 0 {
				return outcome(change.Violated)
			}
			return nil
		},
	}
	c.Flags().StringVar(&fs, "fs", "",
		"file system that the tests are for: btrfs or ext3 (default: the folder's name)")
	c.Flags().StringVar(&rules.Dir, "rules", "",
		"test the rules in `DIR`/btrfs/*.pl and DIR/ext3/*.pl instead of the built-in ones")
	addAddRules(c, &rules.Add)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "also print the tests that pass")
	return c
}

func printCase(r offline.CaseResult) {
	verdict := map[bool]string{true: "ok  ", false: "FAIL"}[r.Passed]
	by := ""
	if r.Engine != "" { // else the file could not be read
		by = " (" + r.Engine + ")"
	}
	fmt.Printf("%s %s%s\n", verdict, r.File, by)
	for _, line := range r.Diff {
		fmt.Printf("  %s\n", line)
	}
	if r.Error != "" {
		fmt.Printf("  %s\n", r.Error)
	}
}
