package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fsward/explore"
	"fsward/explore/b3"
	"fsward/explore/spec"
	"fsward/repair"
)

// printPhases prints the rate of a run of workloads, and how its time divides.
func printPhases(w io.Writer, sum *explore.Summary) {
	s := sum.Seconds
	rest := s - sum.Restoring - sum.Running - sum.Forming - sum.Judging - sum.Recovering
	fmt.Fprintf(w, "%s, %.1f a second: restore %.1f s, generate and run %.1f s, "+
		"form %.1f s, judge %.1f s, recover %.1f s, check %.1f s, the rest %.1f s; "+
		"%d of %d crash states recovered, %d become the disk of another\n",
		repair.Count(sum.Runs, "workload"),
		float64(sum.Runs)/max(s, 1e-9), sum.Restoring, sum.Running, sum.Forming, sum.Judging,
		sum.Recovering-sum.Checking, sum.Checking, rest, sum.Recovered, sum.CrashStates, sum.Alike)
}

// A workloadDescriber adds to the folders of findings the workload, a smaller one that shows the
// same, and a script that runs it.
type workloadDescriber struct {
	run     spec.Run
	dir     string // of the run
	machine explore.System
	say     func(text string) // prints what it does, which can take minutes

	recovery explore.System // explore.Config.Recovery
}

// Names of the files that it adds.
const (
	workloadName = "workload.txt"
	minimalName  = "minimal.txt"
	scriptName   = "xfstest.sh"
)

// describe describes the findings that are not described yet.
func (d *workloadDescriber) describe(ctx context.Context, list []explore.Error) error {
	_, at, err := d.run.Workloads.Load()
	if err != nil {
		return err
	}
	for i := range list {
		e := &list[i]
		if _, err := os.Stat(filepath.Join(d.dir, e.Dir, workloadName)); err == nil {
			continue
		}
		number := workloadNumber(e)
		w, err := at(number)
		if err != nil {
			return err
		}
		small := w
		if !e.Surprise { // there are many
			d.say(fmt.Sprintf("%s: leaving out what it does not need, for at most %v", e.Dir, minimizeTime))
			if small, err = d.minimize(ctx, e, w); err != nil {
				return err
			}
		}
		if err := d.write(e, d.run.Workloads.Name(number), w, small); err != nil {
			return err
		}
	}
	return nil
}

// workloadNumber returns the number of the workload of a finding. Choices that are 0 may be left
// out of a finding.
func workloadNumber(e *explore.Error) uint32 {
	if len(e.Steps) == 0 || len(e.Steps[0]) == 0 {
		return 0
	}
	return e.Steps[0][0].Value
}

// write writes the files of a finding of workload number rank.
func (d *workloadDescriber) write(e *explore.Error, rank uint64, w, small b3.Workload) error {
	lines := func(w b3.Workload) string { return strings.ReplaceAll(w.String(), "; ", "\n") + "\n" }
	from := "the list"
	if set := d.run.Workloads.Set; set != "" {
		from = set
	}
	head := fmt.Sprintf("# number %d of %s\n# skeleton: %s; property: %s\n", rank, from, w.Skeleton(),
		e.Property)
	script := small.Complete().Script(d.run.Layers[0].Component, e.Kind+": "+e.Summary)
	dir := filepath.Join(d.dir, e.Dir)
	return errors.Join(os.WriteFile(filepath.Join(dir, minimalName), []byte(lines(small)), 0o644),
		os.WriteFile(filepath.Join(dir, scriptName), []byte(script), 0o755),
		os.WriteFile(filepath.Join(dir, workloadName), []byte(head+lines(w)), 0o644))
}

// minimizeTime bounds the search for a smaller workload. A workload of a thousand names has as many
// that are one step smaller.
const minimizeTime = 2 * time.Minute

// minimize leaves out steps of a workload while it shows the same kind of finding. It returns the
// smallest workload that it found in time.
func (d *workloadDescriber) minimize(ctx context.Context, e *explore.Error,
	w b3.Workload) (b3.Workload, error) {
	ctx, cancel := context.WithTimeout(ctx, minimizeTime)
	defer cancel()
	small, err := w.Smallest(func(small b3.Workload) (bool, error) {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		return d.shows(ctx, e, small)
	})
	if ctx.Err() != nil {
		err = nil
	}
	return small, err
}

// shows reports whether a workload shows a finding.
func (d *workloadDescriber) shows(ctx context.Context, e *explore.Error,
	w b3.Workload) (bool, error) {
	dir, err := os.MkdirTemp("", "fsward-b3-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	r := d.run
	r.Workloads = &spec.Workloads{Texts: []string{w.String()}, NoUnmount: d.run.Workloads.NoUnmount}
	cfg, err := r.Config()
	if err != nil {
		return false, err
	}
	cfg.Dir, cfg.System, cfg.Recovery = dir, d.machine, d.recovery
	sum, err := explore.Run(ctx, cfg)
	if err != nil {
		return false, err
	}
	for _, other := range sum.Errors {
		if other.Kind == e.Kind && other.Property == e.Property {
			return true, nil
		}
	}
	return false, nil
}
