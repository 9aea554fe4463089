package main

import "github.com/spf13/cobra"

func resumeCommand() *cobra.Command {
	return releaseCommand("resume DISK", "Let the held write of a disk pass, and resume the guest",
		true)
}

func rejectCommand() *cobra.Command {
	return releaseCommand("reject DISK",
		"Refuse the held write of a disk with an I/O error, and resume the guest", false)
}

// releaseCommand returns the command that decides about a held write.
func releaseCommand(use, short string, pass bool) *cobra.Command {
	var control string
	c := &cobra.Command{
		Use:   use,
		Short: short,
		Example: "  fsward status --control unix:/run/vm.ctl\n" +
			"  fsward " + use + " --control unix:/run/vm.ctl",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			client, err := controlClient(c, control)
			if err != nil {
				return err
			}
			return client.Release(args[0], pass)
		},
	}
	addControlFlag(c, &control)
	return c
}
