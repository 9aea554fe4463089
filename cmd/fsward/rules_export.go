package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"fsward/hostd/offline"
	"fsward/repair"
)

func rulesExportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "export DIR",
		Short: "Write the built-in rules to a folder",
		Long: `Writes the built-in rules to DIR/btrfs, DIR/ext3 and DIR/volume, to read them, or
to change a copy and give it with --rules DIR. It never replaces a file that exists. To add rules to
the built-in ones, use --add-rules instead of a copy.`,
		Example: "  fsward rules export built-in",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			n, err := offline.ExportRules(args[0])
			if err == nil {
				fmt.Fprintf(c.OutOrStdout(), "%s in %s\n", repair.Count(n, "file"), args[0])
			}
			return err
		},
	}
}

func rulesBundleCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "bundle DIR -o FILE.zip",
		Short: "Write a site's rules, tests and tables as one file with a version",
		Long: `Writes the bundle in DIR as one zip file, which --add-rules, rules lint and rules
test take as they take DIR. DIR has bundle.json, and may have the folders btrfs, ext3 and volume
(rules), cases (their tests) and data (tables). docs/user/site-rules.md describes them. The rules
must load. The same DIR gives the same bytes.`,
		Example: "  fsward rules bundle my-rules -o my-rules-1.2.zip",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return offline.WriteBundle(args[0], out)
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "write the bundle to `FILE` (required)")
	_ = c.MarkFlagRequired("output")
	return c
}
