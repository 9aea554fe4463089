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
		Long: `Makes a daemon that was started with --rules DIR read the rules in DIR again; SIGHUP does
the same. The daemon loads the new set beside the old one, and switches between two
commits: every commit is judged. If the new set does not load, the old one stays in
force. The reason is printed here and in the daemon's log.`,
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
