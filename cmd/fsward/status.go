package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func statusCommand() *cobra.Command {
	var control string
	c := &cobra.Command{
		Use:   "status --control unix:PATH",
		Short: "Show the disks of a running daemon",
		Long: `Prints a line for each disk that a running fsward guard or vm run guards: its file system,
the commits judged and refused, the check of the baseline, and the write that is held, if any.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			client, err := controlClient(control)
			if err != nil {
				return err
			}
			disks, err := client.Status()
			if err != nil {
				return err
			}
			fmt.Printf("%-10s %-8s %10s %8s  %-28s %s\n", "DISK", "FS", "COMMITS", "REFUSED", "BASELINE",
				"HELD")
			for _, s := range disks {
				fmt.Printf("%-10s %-8s %10d %8d  %-28s %s\n", s.Name, s.FS, s.Commits, s.Refused, s.Baseline,
					s.Held)
			}
			return nil
		},
	}
	addControlFlag(c, &control)
	return c
}
