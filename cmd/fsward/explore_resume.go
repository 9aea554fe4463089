package main

import (
	"time"

	"github.com/spf13/cobra"

	"fsward/explore"
	"fsward/explore/spec"
)

func exploreResumeCommand() *cobra.Command {
	var f exploreFlags
	var limit time.Duration
	c := &cobra.Command{
		Use:   "resume DIR",
		Short: "Continue a run that was stopped, was killed or ran out of time",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			origin, err := explore.Origin(args[0])
			if err != nil {
				return err
			}
			r, err := spec.Saved(origin)
			if err != nil {
				return err
			}
			return f.explore(c, r, args[0], limit)
		},
	}
	f.add(c)
	addTimeFlag(c, &limit)
	return c
}
