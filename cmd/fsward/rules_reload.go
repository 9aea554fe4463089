package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func rulesReloadCommand() *cobra.Command {
	var control string
	c := &cobra.Command{
		Use:   "reload --control unix:PATH",
		Short: "Make a running daemon read its rules again",
		Long: `A daemon that was started with --rules DIR reads the rules in DIR again, as it also does on SIGHUP. The
new set is loaded beside the old one and takes its place between two commits; no commit goes unjudged.
A set that does not load leaves the old one in force: the reason is printed here and in the daemon's log.`,
		Example: "  fsward rules reload --control unix:/run/vm.ctl",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			client, err := controlClient(control)
			if err != nil {
				return err
			}
			rules, err := client.Reload()
			if err == nil {
				fmt.Printf("rules in force: %d\n", rules)
			}
			return err
		},
	}
	addControlFlag(c, &control)
	return c
}
