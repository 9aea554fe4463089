package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func rulesReloadCommand() *cobra.Command {
	var control string
	var asJSON bool
	c := &cobra.Command{
		Use:   "reload --control unix:PATH",
		Short: "Make a running daemon read its rules again",
		Long: `Makes a daemon that was started with --rules DIR or --add-rules DIR read these
rules again; SIGHUP does the same. The answer has the number of rules, the hash of the set, and the
rules that were added, removed and changed. The daemon loads the new set beside the old one, and
switches between two commits: every commit is judged. If the new set does not load, the old one
stays in force. The reason is printed here and in the daemon's log.`,
		Example: "  fsward rules reload --control unix:/run/vm.ctl",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			client, err := controlClient(c, control)
			if err != nil {
				return err
			}
			guests, err := client.Reload()
			if err != nil {
				return err
			}
			for _, changes := range guests {
				if asJSON {
					if err := printJSON(changes); err != nil {
						return err
					}
					continue
				}
				if changes.Guest != "" {
					fmt.Printf("%s: ", changes.Guest)
				}
				fmt.Printf("rules in force: %d (%s)\n%s", changes.Rules, changes.Hash, changes)
			}
			return nil
		},
	}
	addControlFlag(c, &control)
	addJSONFlag(c, &asJSON)
	return c
}
