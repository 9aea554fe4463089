package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"fsward/change"
	"fsward/explore/audit"
	"fsward/explore/audit/live"
	"fsward/explore/oracle"
	"fsward/hostd/output"
	"fsward/invariants/bundle"
)

// followPoll is how often the end of a recording is looked at.
const followPoll = 100 * time.Millisecond

// completeFollow checks the flags that --follow excludes.
func (l *exploreLog) completeFollow() error {
	switch {
	case !l.follow:
		return nil
	case l.record.Script != "" || l.out != "":
		return errors.New("--follow excludes --check and --out")
	case len(l.record.Logs) != 1:
		return errors.New("--follow takes one LOG, the first segment")
	}
	return nil
}

// runFollow audits a recording that goes on, until stdin ends.
func (l *exploreLog) runFollow(c *cobra.Command) error {
	if err := beIdle(); err != nil {
		return fmt.Errorf("cannot take a low priority: %w", err)
	}
	site, err := bundle.OpenAll(l.record.AddRules)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, c.InOrStdin()) // its end is the end, whatever the reason
		close(ended)
	}()
	p := &followPrinter{out: c.OutOrStdout(), err: c.ErrOrStderr(), json: l.json}
	totals, err := live.Follow(c.Context(), live.Config{
		Audit: audit.Config{FS: l.record.Asked, Volume: l.record.Only, Crash: l.record.Crash,
			Oracle: oracle.Options{Site: site, RulesDir: l.record.RulesDir}},
		Base: l.record.Base, Log: l.record.Logs[0], Poll: followPoll, Ended: ended, Report: p.report})
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	if err := p.totals("audited", &totals); err != nil {
		return err
	}
	switch {
	case totals.Violated > 0:
		return outcome(change.Violated)
	case totals.Undecided > 0 || totals.Skipped > 0 || totals.Losses > 0:
		return outcome(change.Undecided)
	}
	return nil
}

// followPrinter prints the reports of an audit that follows a recording.
type followPrinter struct {
	out, err io.Writer
	json     bool
	shown    time.Time
}

func (p *followPrinter) report(r live.Report) error {
	switch {
	case r.Finding != nil:
		return (&logProgress{out: p.out, err: p.err, json: p.json}).found(r.Finding, "")
	case r.Progress != nil && p.json:
		return p.totals("progress", r.Progress)
	case r.Progress != nil:
		if time.Since(p.shown) < progressLine {
			return nil
		}
		p.shown = time.Now()
		_, err := fmt.Fprintln(p.err, r.Progress)
		return err
	case p.json:
		return output.NewLines(p.out, "").Print(struct {
			Event string `json:"event"`
			live.Report
		}{"skipped", r})
	}
	_, err := fmt.Fprintf(p.out, "not audited from entry %d of %s on: %s\n", r.From.Entry, r.From.Log,
		r.Skipped)
	return err
}

func (p *followPrinter) totals(event string, t *live.Totals) error {
	if p.json {
		return output.NewLines(p.out, "").Print(struct {
			Event string `json:"event"`
			*live.Totals
		}{event, t})
	}
	_, err := fmt.Fprintln(p.out, t)
	return err
}
