package main

import (
	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"fsward/hostd/demo"
)

func demoCommand() *cobra.Command {
	var cfg demo.Config
	var o reportOptions
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show the main job: a guest, two guarded disks, two bugs, two refusals",
		Long: `Boots a guest with two guarded disks, makes Btrfs and ext3 on them, and works on both. Then
it changes one metadata field of a commit on the way from the guest to the checker, once on each
disk, as a bug in the file system would. fsward refuses both commits. The disks stay clean at the
last good commit.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := o.serve()
			if err != nil {
				return usageError{err, c.CommandPath()}
			}
			log := zap.NewNop()
			if o.verbose {
				log = s.log
			}
			cfg.Out = s.reports
			return s.end(demo.Run(c.Context(), cfg, log))
		},
	}
	c.Flags().StringVar(&cfg.GuestDir, "guest", "build/guest",
		"boot the guest in `DIR`, which make guest built")
	c.Flags().StringVar(&cfg.Dir, "dir", "out/demo",
		"write the disks and the guest's console to `DIR`")
	addNumber(c, &cfg.Rounds, "rounds", 12, 1, "do `NUMBER` rounds of work before the bugs")
	o.addLimit(c)
	c.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "show the log")
	return c
}
