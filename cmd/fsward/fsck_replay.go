package main

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"fsward/change"
	"fsward/hostd/output"
	"fsward/repair"
	"fsward/repair/campaign"
)

func fsckReplayCommand() *cobra.Command {
	var asJSON bool
	var times int
	c := &cobra.Command{
		Use:   "replay DIR...",
		Short: "Run the programs of findings again on their damaged images",
		Long: `Damages a copy of the image in a finding's folder and runs the program as the finding says.
DIR may also be the folder of a campaign, for all of its findings one after the other: the output
is then a table.

Exit status for one finding: 1 the failure showed each time, 0 it did not show, 2 wrong usage, 3 it
showed only at times, or the command could not run. For several: 0 each showed each time, 1 one did
not.`,
		Example: `  fsward fsck replay found/again-inode.links_count-1a2b3c4d --times 10
  fsward fsck replay found --times 10`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return replayFindings(c.Context(), args, times, asJSON)
		},
	}
	addNumber(c, &times, "times", 1, 1, "replay `N` times")
	addJSONFlag(c, &asJSON)
	return c
}

// replayFindings replays one finding, or all of several folders.
func replayFindings(ctx context.Context, dirs []string, times int, asJSON bool) error {
	var list []string
	for _, dir := range dirs {
		found, err := campaign.FindingDirs(dir)
		if err != nil {
			return err
		}
		if len(dirs) == 1 && len(found) == 1 && found[0] == dir {
			return replayFinding(ctx, dir, times, asJSON)
		}
		list = append(list, found...)
	}
	return replayAll(ctx, list, times, asJSON)
}

// printReplayed prints a finding as a line of JSON.
func printReplayed(r *campaign.Replayed, dir string) error {
	return output.NewLines(os.Stdout, "").Print(struct {
		Event   string          `json:"event"`
		Dir     string          `json:"dir"`
		Kind    string          `json:"kind"`
		Detail  string          `json:"detail"`
		Runs    []*campaign.Run `json:"runs"`
		Times   int             `json:"times"`
		Shown   int             `json:"shown"`
		Instead map[string]int  `json:"instead,omitempty"` // of what the other replays showed
	}{"replayed", dir, r.Finding.Kind, r.Finding.Detail, r.Runs, r.Replays, r.Shown, r.Instead})
}

// replayFinding replays one finding, and prints the runs of the last time.
func replayFinding(ctx context.Context, dir string, times int, asJSON bool) error {
	r, err := campaign.Replay(ctx, dir, times)
	if err != nil {
		return err
	}
	if asJSON {
		err = printReplayed(r, dir)
	} else {
		for i, one := range r.Runs {
			fmt.Printf("run %d: %s\n%s\n", i+1, one.Ended(), one.Output)
		}
		fmt.Printf("%s: %s\n%s\n", r.Finding.Kind, r.Finding.Detail, r.Summary())
	}
	switch {
	case err != nil || r.Shown == 0:
		return err
	case r.Shown == times:
		return outcome(change.Violated)
	}
	return outcome(change.Undecided)
}

// replayAll replays findings one after the other, and prints a table. A finding that cannot be
// replayed does not keep the others from it.
func replayAll(ctx context.Context, dirs []string, times int, asJSON bool) error {
	const row = "%-9s %-11s %s\n"
	if !asJSON {
		fmt.Printf(row, "SHOWN", "KIND", "FOLDER")
	}
	good, failed := 0, error(nil)
	for _, dir := range dirs {
		r, err := campaign.Replay(ctx, dir, times)
		if err == nil && r.Shown == times {
			good++
		}
		switch {
		case ctx.Err() != nil:
			return err
		case err != nil:
			failed = cmp.Or(failed, fmt.Errorf("%s: %w", dir, err))
			fmt.Fprintln(os.Stderr, dir+":", err)
		case asJSON:
			err = printReplayed(r, dir)
		default:
			fmt.Printf(row, fmt.Sprintf("%d of %d", r.Shown, times), r.Finding.Kind, dir)
			if len(r.Instead) > 0 {
				fmt.Printf(row, "", "", r.Summary())
			}
		}
		if err != nil && failed == nil {
			return err
		}
	}
	if !asJSON {
		fmt.Printf("%d of %d findings showed %s of %d\n", good, len(dirs),
			repair.Count(times, "time"), times)
	}
	if failed == nil && good < len(dirs) {
		return outcome(change.Violated)
	}
	return failed
}
