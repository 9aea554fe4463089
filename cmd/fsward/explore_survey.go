package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fsward/change"
	"fsward/explore"
	"fsward/explore/machine"
	"fsward/explore/spec"
)

func exploreSurveyCommand() *cobra.Command {
	var f exploreFlags
	var common spec.Run
	var ask []string
	var budget surveyBudget
	var out string
	c := &cobra.Command{
		Use:   "survey --out DIR FS...",
		Short: "Explore many file systems, each with the same small budget",
		Long: `Explores each file system with each checker, one after the other, in one guest. If a run
fails, the next one boots the guest again. DIR gets a folder for each run, as explore run makes it;
explore report makes a table of them. The command skips a run that has a folder in DIR already.

Exit status: 0 found nothing, 1 found errors, 2 wrong usage, 3 a run could not be made, for instance
because the kernel lacks the file system, or has examined nothing.`,
		Example: `  fsward explore survey --guest build/guest-amd64 --runs 120 --time 1m \
    --out survey ext3 vfat
  fsward explore report -o table.md survey/*`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := siteRules(&common); err != nil {
				return err
			}
			runs, err := surveyRuns(args, ask, common, out)
			if err != nil {
				return usageError{err, c.CommandPath()}
			}
			return f.survey(c, runs, budget)
		},
	}
	f.add(c)
	c.Flags().StringSliceVar(&ask, "ask", []string{"sync", "sync:sync", "reasonable"},
		"run these `CHECKERS`, separated by commas; mount options follow a checker behind a "+
			"colon, and are separated by +")
	c.Flags().StringVar(&out, "out", "", "write the runs to folders in `DIR` (required)")
	addDuration(c, &budget.time, "time", time.Minute,
		"stop each run after `DURATION`; 0 to explore everything")
	c.Flags().Uint64Var(&budget.runs, "runs", 0,
		"stop each run after it has executed `N` steps; 0 for no limit")
	addHowFlags(c, &common)
	_ = c.MarkFlagRequired("out") // the flag exists
	return c
}

type surveyBudget struct {
	time time.Duration
	runs uint64
}

// A surveyRun is one run of a survey.
type surveyRun struct {
	spec.Run
	dir string
}

// suits returns an error if the kernel of the guest, or that of user-mode Linux, cannot make the
// run.
func (r surveyRun) suits(release string) error {
	err := r.CheckKernel(release)
	if err == nil {
		_, err = userMode(r.Run)
	}
	if err != nil {
		return unsuitableError{err}
	}
	return nil
}

// surveyRuns returns the runs of each file system with each checker, except those that have a
// folder.
func surveyRuns(systems, ask []string, common spec.Run, out string) (runs []surveyRun, err error) {
	for _, fs := range systems {
		for _, a := range ask {
			checker, options, _ := strings.Cut(a, ":")
			options = strings.ReplaceAll(options, "+", ",") // a comma separates checkers
			r := surveyRun{Run: common, dir: filepath.Join(out,
				strings.NewReplacer("/", "_", ":", "-").Replace(fs+"-"+a))}
			if _, err := explore.Origin(r.dir); err == nil {
				continue
			}
			if r.Spec, err = spec.FileSystem(fs, options, "", checker, ""); err != nil {
				return nil, err
			}
			if _, err := r.Config(); err != nil {
				return nil, err
			}
			runs = append(runs, r)
		}
	}
	return runs, nil
}

// survey makes the runs.
func (f *exploreFlags) survey(c *cobra.Command, runs []surveyRun, budget surveyBudget) error {
	found, undecided := 0, 0
	warnOfOldGuest(c.ErrOrStderr(), f.guest.Dir)
	job := func(m explore.System, r surveyRun) error {
		fmt.Fprintf(c.ErrOrStderr(), "%s: %s\n", r.dir, r.Spec)
		if m, is := m.(*machine.Machine); is { // UserMode knows whether user-mode Linux suits
			if err := r.suits(m.Hello().Release); err != nil {
				return err
			}
		}
		verdict, err := f.surveyOne(c, m, r, budget)
		switch {
		case err != nil:
			return err
		case verdict == change.Violated:
			found++
		case verdict == change.Undecided:
			undecided++
		}
		return nil
	}
	failed, err := batch[surveyRun]{f, job, func(r surveyRun) string { return r.dir },
		func(r surveyRun) spec.Run { return r.Run }}.perform(c, runs)
	switch {
	case err != nil:
		return err
	case failed+undecided > 0:
		return outcome(change.Undecided)
	case found > 0:
		return outcome(change.Violated)
	}
	return nil
}

// surveyOne makes one run, and returns its verdict.
func (f *exploreFlags) surveyOne(c *cobra.Command, m explore.System, r surveyRun,
	budget surveyBudget) (change.Outcome, error) {
	cfg, err := r.Config()
	if err != nil {
		return change.Undecided, err
	}
	p := &exploreProgress{out: c.OutOrStdout(), err: c.ErrOrStderr(), json: f.json,
		limit: budget.time, runs: budget.runs, began: time.Now()}
	cfg.System, cfg.Dir, cfg.Runs, cfg.OnEvent = m, r.dir, budget.runs, p.event
	cfg.ReplayFlags = f.replayFlags()
	ctx := c.Context()
	if budget.time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, budget.time)
		defer cancel()
	}
	var sum explore.Summary
	err = f.recovering(c.Context(), r.Run, &cfg, func() (err error) {
		sum, err = explore.Run(ctx, cfg)
		return err
	})
	if err != nil {
		return change.Undecided, err
	}
	p.explored(sum, r.dir)
	verdict, _ := exploredVerdict(&sum)
	return verdict, nil
}
