package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"fsward/dev/load"
	"fsward/hostd/guard"
)

// folder returns the name of the folder of a round. It differs between runs, so that a failed round
// does not replace that of an earlier run.
func (c *config) folder(round int) string { return fmt.Sprintf("round-%d-%d", c.seed, round) }

// record makes a guard write what explains a refusal to a folder: a recording of all writes, and
// the report of all events, in which each violation has the records that led to it. closed ends the
// report. Without -keep it does nothing.
func (c *config) record(cfg *guard.Config, dir string) (closed func() error, err error) {
	if c.keep == "" {
		return func() error { return nil }, nil
	}
	report, err := os.Create(filepath.Join(dir, "report.json"))
	if err != nil {
		return nil, err
	}
	cfg.Record, cfg.Rules.Why = filepath.Join(dir, "log"), true
	cfg.Sinks = append(cfg.Sinks, guard.NewJSONReport(report, ""))
	return report.Close, nil
}

// keepFailed copies the folder of a round to the folder of -keep if the round failed, and returns
// the error of the round.
func (c *config) keepFailed(ctx context.Context, dir string, err error) error {
	if err == nil || c.keep == "" {
		return err
	}
	return errors.Join(err, os.MkdirAll(c.keep, 0o755),
		load.Command(ctx, "cp", "-r", "--sparse=always", dir, c.keep))
}
