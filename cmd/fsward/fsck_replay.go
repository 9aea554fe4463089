package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"fsward/change"
	"fsward/hostd/output"
	"fsward/repair/campaign"
)

func fsckReplayCommand() *cobra.Command {
	var asJSON bool
	var times int
	c := &cobra.Command{
		Use:   "replay DIR",
		Short: "Run the program of a finding again on its damaged image",
		Long: `Damages a copy of the image in a finding's folder and runs the program as the finding says.
Exit status: 1 the failure showed each time, 0 it did not show, 2 wrong usage, 3 it showed only at
times, or the command could not run.`,
		Example: "  fsward fsck replay found/again-inode.links_count-1a2b3c4d --times 10",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return replayFinding(args[0], times, asJSON)
		},
	}
	c.Flags().IntVar(&times, "times", 1, "replay `N` times")
	addJSONFlag(c, &asJSON)
	return c
}

// replayFinding replays a finding a number of times, and prints the runs of the last time.
func replayFinding(dir string, times int, asJSON bool) error {
	shown := 0
	for n := range max(times, 1) {
		f, runs, shows, err := campaign.Replay(dir)
		if err != nil {
			return err
		}
		if shows {
			shown++
		}
		if n+1 < times {
			continue
		}
		if asJSON {
			err = output.NewLines(os.Stdout, "").Print(struct {
				Event  string          `json:"event"`
				Dir    string          `json:"dir"`
				Kind   string          `json:"kind"`
				Detail string          `json:"detail"`
				Runs   []*campaign.Run `json:"runs"`
				Times  int             `json:"times"`
				Shown  int             `json:"shown"`
			}{"replayed", dir, f.Kind, f.Detail, runs, max(times, 1), shown})
			if err != nil {
				return err
			}
			continue
		}
		for i, r := range runs {
			fmt.Printf("run %d: %s\n%s\n", i+1, r.Ended(), r.Output)
		}
		fmt.Printf("%s: %s\nshown %d times of %d\n", f.Kind, f.Detail, shown, max(times, 1))
	}
	switch shown {
	case 0:
		return nil
	case max(times, 1):
		return outcome(change.Violated)
	}
	return outcome(change.Undecided)
}
