package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"fsward/change"
	"fsward/explore"
	"fsward/explore/host"
	"fsward/explore/spec"
	"fsward/hostd/guard"
	"fsward/hostd/output"
	"fsward/repair"
)

func exploreReplayCommand() *cobra.Command {
	var f exploreFlags
	var times int
	c := &cobra.Command{
		Use:   "replay DIR...",
		Short: "Replay errors that runs found",
		Long: `Makes the stack again, takes the same choices and tries the crash that showed the error.
Each DIR is a folder that explore run made for an error. Several errors are replayed in one guest,
which is booted again after an error that ends it.

Exit status: 1 each error was found each time, 0 no error was found, 2 wrong usage, 3 some errors
were found only sometimes or not at all, or the command could not run.`,
		Example: `  fsward explore replay ext3/001-file-gone
  fsward explore replay --times 10 survey/*/0*`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var list []*replaying
			for _, dir := range args {
				r, err := newReplaying(dir, times)
				if err != nil {
					return err
				}
				needs, err := r.run.AllNeeds()
				if err != nil {
					return fmt.Errorf("%s: %w", dir, err)
				}
				f.guest.Needs.Add(needs)
				list = append(list, r)
			}
			return f.replay(c, list)
		},
	}
	f.add(c)
	addNumber(c, &times, "times", 1, 1, "replay each error `N` times")
	return c
}

// replaying is an error that is replayed.
type replaying struct {
	run                spec.Run
	dir                string
	again              explore.Error
	cfg                explore.Config
	times, done, found int
}

func newReplaying(dir string, times int) (*replaying, error) {
	e, err := explore.ReadError(dir)
	if err != nil {
		return nil, err
	}
	r, err := spec.Saved(e.Origin)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	cfg, err := r.Config()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return &replaying{dir: dir, again: e, cfg: cfg, run: r, times: times}, nil
}

// replay replays errors.
func (f *exploreFlags) replay(c *cobra.Command, list []*replaying) error {
	failed, err := batch[*replaying]{f,
		func(m explore.System, r *replaying) error { return f.replayOne(c, m, r) },
		func(r *replaying) string { return r.dir },
		func(r *replaying) spec.Run { return r.run }}.perform(c, list)
	if err != nil {
		return err
	}
	for _, r := range list {
		if len(list) > 1 && !f.json {
			fmt.Fprintf(c.OutOrStdout(), "found %s of %d: %s\n", repair.Count(r.found, "time"), r.times,
				r.dir)
		}
	}
	return replayOutcome(list, failed)
}

// replayOutcome returns the outcome of all replays; failed of the errors could not be replayed.
func replayOutcome(list []*replaying, failed int) error {
	every, none := failed == 0, failed == 0
	for _, r := range list {
		every, none = every && r.found == r.times, none && r.found == 0
	}
	switch {
	case every:
		return outcome(change.Violated)
	case !none:
		return outcome(change.Undecided)
	}
	return nil
}

// replayOne replays one error as many times as --times says.
func (f *exploreFlags) replayOne(c *cobra.Command, m explore.System, r *replaying) error {
	r.cfg.System = m
	r.cfg.Guard = &host.Guard{Log: f.log(), Rules: guard.RulesConfig{Add: r.run.AddRules}}
	return f.recovering(c.Context(), r.run, &r.cfg, func() error {
		for r.done < r.times {
			found, err := explore.Replay(c.Context(), r.cfg, r.again)
			if err != nil {
				return err
			}
			r.done++
			if found != nil {
				r.found++
			}
			f.replayed(c.OutOrStdout(), r, found)
		}
		return nil
	})
}

// replayed prints the result of the last replay of an error.
func (f *exploreFlags) replayed(w io.Writer, r *replaying, found *explore.Failure) {
	line := struct {
		Event  string `json:"event"`
		Dir    string `json:"dir"`
		Number int    `json:"number"`
		Found  bool   `json:"found"`
		Kind   string `json:"kind,omitempty"`
		Text   string `json:"text,omitempty"`
	}{Event: "replayed", Dir: r.dir, Number: r.done, Found: found != nil}
	if found != nil {
		line.Kind, line.Text = found.Kind, found.Text
	}
	switch {
	case f.json:
		_ = output.NewLines(w, "").Print(line)
	case found != nil:
		fmt.Fprintf(w, "%d: found again: %v\n", r.done, found)
	default:
		fmt.Fprintf(w, "%d: not found\n", r.done)
	}
}
