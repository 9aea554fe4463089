package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"fsward/change"
	"fsward/explore/campaign"
	"fsward/hostd/output"
	"fsward/repair"
)

// Times of status.
const (
	statusTime = 30 * time.Second // for one status, after a request to end
	watchTime  = 2 * time.Second  // between two with --watch
)

func campaignStatusCommand() *cobra.Command {
	var f campaignFlags
	var watch bool
	c := &cobra.Command{
		Use:   "status --dir DIR | --nats URL",
		Short: "Print the progress of a campaign",
		Long: `Prints how many cases were tested, how many could not be run, and how many are left. If
the three add up to all cases, as they should at any time, the output says "exact".

Exit status: 0, or 3 if the numbers are not exact.`,
		Example: `  fsward campaign status --dir ext3-seq-1
  fsward campaign status --nats tls://nats.example.com --name btrfs-seq-2 --watch`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.withQueue(c, func(ctx context.Context, k *campaign.Client, q *campaign.Queue) error {
				t := q.NewTally()
				for {
					err := f.printStatus(ctx, c, k, q, t)
					if err != nil || !watch || t.Done() {
						return err
					}
					if r, err := q.Record(ctx); err != nil || r.State == campaign.Canceled {
						return err
					}
					select {
					case <-ctx.Done():
						return nil
					case <-time.After(watchTime):
					}
				}
			})
		},
	}
	f.add(c)
	c.Flags().BoolVar(&watch, "watch", false,
		"print the status again every 2 s, until everything is done")
	return c
}

// printStatus prints how far a campaign is. The caller runs no units.
func (f *campaignFlags) printStatus(ctx context.Context, c *cobra.Command, k *campaign.Client,
	q *campaign.Queue, t *campaign.Tally) error {
	s, err := q.Status(ctx, t)
	if err != nil {
		return err
	}
	if f.json {
		err = output.NewLines(c.OutOrStdout(), "").Print(struct {
			Event string `json:"event"`
			*campaign.Status
			Exact bool `json:"exact"`
		}{"campaign", s, s.Exact()})
	} else {
		err = statusTable(c.OutOrStdout(), s, k.Alone())
	}
	if err == nil && !s.Exact() {
		return outcome(change.Undecided)
	}
	return err
}

// unitsOf returns the number of units that wait, and of those that workers have. idle: nobody runs
// units. The queue still counts those that a stopped worker had as given away, until another one
// asks for them.
func unitsOf(s *campaign.Status, idle bool) (waiting, leased uint64) {
	if idle {
		return s.Waiting + s.Leased, 0
	}
	return s.Waiting, s.Leased
}

// statusTable prints a status for people. idle: nobody runs units.
func statusTable(out io.Writer, s *campaign.Status, idle bool) error {
	waiting, leased := unitsOf(s, idle)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "campaign\t%s: %s %s\n", s.Name, s.Kind, strings.Join(s.Args, " "))
	fmt.Fprintf(w, "state\t%s%s\n", s.State, continued(s, idle))
	exact := "exact"
	if !s.Exact() {
		exact = fmt.Sprintf("NOT EXACT: %d counted twice, %d bad messages", s.Doubled, s.Bad)
	}
	fmt.Fprintf(w, "cases\t%d = %d tested + %d could not be run + %d left (%s)\n", s.Size, s.Tested,
		s.Poisoned, s.Left, exact)
	fmt.Fprintf(w, "units\t%d waiting, %d with a worker, %s, %d split, "+
		"%d differ when repeated\n", waiting, leased, repair.Count(s.Results, "result"), s.Splits,
		s.Differences)
	fmt.Fprintf(w, "findings\t%s, %s\n", repair.Count(s.Errors, "error"),
		repair.Count(s.Surprise, "surprise"))
	switch {
	case s.Rate > 0 && s.Left > 0:
		fmt.Fprintf(w, "rate\t%.2f cases a second; the rest needs %s at this rate\n", s.Rate,
			longTime(float64(s.Left)/s.Rate))
	case s.Rate > 0:
		fmt.Fprintf(w, "rate\t%.2f cases a second\n", s.Rate)
	case s.Left > 0:
		fmt.Fprintf(w, "rate\tnot known before the first unit is done\n")
	}
	for _, k := range s.Workers {
		fmt.Fprintf(w, "worker\t%s: %s, %s, last %v ago\n", k.Worker,
			repair.Count(k.Units, "unit"), repair.Count(k.Tested, "case"),
			time.Since(k.Last).Round(time.Second))
	}
	return w.Flush()
}

// continued says how a campaign continues that is not paused, and for which nobody runs units.
func continued(s *campaign.Status, idle bool) string {
	if s.State != string(campaign.Running) || !idle {
		return ""
	}
	return ", but no worker runs: fsward campaign resume continues"
}

// longTime returns a number of seconds for people: in days if it is more than two.
func longTime(seconds float64) string {
	const hour, day = 3600, 24 * 3600
	switch {
	case seconds > 2*day:
		return fmt.Sprintf("%.1f days", seconds/day)
	case seconds > 2*hour:
		return fmt.Sprintf("%.1f hours", seconds/hour)
	}
	return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
}

func campaignResultsCommand() *cobra.Command {
	var f campaignFlags
	var out string
	c := &cobra.Command{
		Use:   "results --dir DIR | --nats URL",
		Short: "Print the findings of a campaign, and get their files",
		Long: `Prints each kind of finding once, with the unit that found it first and how often it was
found. --out writes a folder for each, which fsward explore replay or fsward fsck replay shows
again.

Exit status: 0 found nothing, 1 found errors, 3 not everything was tested, or a finding
cannot be read.`,
		Example: "  fsward campaign results --dir ext3-seq-1 --out found",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.withQueue(c, func(ctx context.Context, _ *campaign.Client, q *campaign.Queue) error {
				t := q.NewTally()
				if err := t.Read(ctx); err != nil {
					return err
				}
				list, _, err := q.Findings(ctx)
				if err != nil {
					return err
				}
				for _, e := range list {
					if err := f.printFinding(ctx, c, q, t, e, out); err != nil {
						return err
					}
				}
				if err := f.printCoverage(ctx, c, q, t, len(list)); err != nil {
					return err
				}
				return outcomeOf(ctx, q, t)
			})
		},
	}
	f.add(c)
	c.Flags().StringVar(&out, "out", "", "write the files of each finding to a folder in `DIR`")
	return c
}

// printCoverage says on stderr how much was tested: little means that the findings are few.
func (f *campaignFlags) printCoverage(ctx context.Context, c *cobra.Command, q *campaign.Queue,
	t *campaign.Tally, findings int) error {
	s, err := q.Status(ctx, t)
	if err != nil || f.json {
		return err
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s: %s in %d of %d cases\n", s.Name,
		repair.Count(findings, "finding"), s.Tested, s.Size)
	return nil
}

// printFinding prints a finding, and writes its files to a folder in out.
func (f *campaignFlags) printFinding(ctx context.Context, c *cobra.Command, q *campaign.Queue,
	t *campaign.Tally, e campaign.Finding, out string) (err error) {
	dir := ""
	if out != "" {
		if dir, err = q.Unpack(ctx, e, out); err != nil {
			return err
		}
	}
	if f.json {
		return output.NewLines(c.OutOrStdout(), "").Print(struct {
			Event string `json:"event"`
			campaign.Finding
			Count uint64 `json:"count"`
			Dir   string `json:"dir,omitempty"`
		}{"finding", e, t.Found(e.Key), dir})
	}
	class := "found"
	if e.Surprise {
		class = "surprise"
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%s: %s (%s; %s, first in unit %s)\n", class, e.Kind,
		e.Key, repair.Count(t.Found(e.Key), "time"), e.Unit)
	for _, line := range []string{e.Scope, e.Property, e.Skeleton, e.Summary, dir, e.Note} {
		if err == nil && line != "" {
			_, err = fmt.Fprintf(c.OutOrStdout(), "  %s\n", strings.ReplaceAll(line, "\n", "\n  "))
		}
	}
	return err
}
