package main

import "github.com/spf13/cobra"

func fsckCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "fsck",
		Short: "Test repair programs such as e2fsck on damaged images",
		Long: `Damages the fields of a file system's image one after the other, and runs a repair
program twice on each damaged image. The second run must agree with the first: after "all
errors corrected" it must find nothing. Each way in which a program fails gets a folder,
from which fsward fsck replay shows it again.

The programs run on copies of the image, in sandboxes that bound their time, memory and output.
They see no device of the host.

docs/user/repair.md is an introduction.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(fsckRunCommand(), fsckResumeCommand(), fsckReplayCommand(), fsckReportCommand(),
		fsckListCommand())
	return c
}
