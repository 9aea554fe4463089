package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"fsward/hostd"
	"fsward/interp/detect"
)

func rulesCommand() *cobra.Command {
	c := &cobra.Command{Use: "rules", Short: "Show the invariants", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(rulesListCommand())
	return c
}

func rulesListCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "list [FS]",
		Short: "List the rules with their sentences and sources",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			rules, err := hostd.LoadRules(dir)
			if err != nil {
				return err
			}
			for _, fs := range detect.Names() {
				if len(args) == 1 && args[0] != fs {
					continue
				}
				for _, r := range rules.List(fs) {
					fmt.Printf("%-10s %s\n%-10s %s\n", r.Name, r.Doc, "", r.Source)
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&dir, "rules", "", "list the rules in `DIR` instead of the built-in ones")
	return c
}
