package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fsward/explore"
	"fsward/explore/b3"
	"fsward/explore/checkers"
	"fsward/explore/machine"
	"fsward/explore/spec"
)

// b3Run is explore b3 as its flags describe it.
type b3Run struct {
	exploreFlags
	exploreRun
	set, ranks  string
	files       []string
	regressions bool
	noUnmount   bool
	limit       time.Duration
}

func (o *b3Run) addFlags(c *cobra.Command) {
	o.exploreFlags.add(c)
	c.Flags().StringVar(&o.fs, "fs", "",
		"test this file system on one RAM disk: its name, or a YAML `FILE`")
	c.Flags().StringVar(&o.mountOptions, "mount-options", "",
		"mount with `OPTIONS`, separated by commas")
	c.Flags().StringVar(&o.mkfsOptions, "mkfs-options", "",
		"run mkfs with `OPTIONS`, as a shell splits them")
	c.Flags().StringVar(&o.size, "size", "",
		"`SIZE` of the RAM disk, such as 64M (default: what the file system needs)")
	c.Flags().StringVar(&o.set, "set", "", "test the workloads of `SET`: its name, or a YAML file")
	c.Flags().StringVar(&o.ranks, "range", "", "test the ranks `A-B` only")
	c.Flags().StringArrayVar(&o.files, "workload", nil,
		"test the workload in `FILE` in place of a set; may be repeated")
	c.Flags().BoolVar(&o.regressions, "regressions", false,
		"test the workloads of known bugs in place of a set")
	c.Flags().BoolVar(&o.noUnmount, "no-unmount", false,
		"do not compare with the tree after a clean unmount")
	c.Flags().StringVar(&o.out, "out", "", "`DIR` for the run's state and a folder for each finding")
	c.Flags().DurationVar(&o.limit, "time", 0, "stop after `DURATION`; 0 to test everything")
	c.Flags().Uint64Var(&o.Seed, "seed", 1, "`SEED` of samples")
	addCrashFlags(c, &o.Run)
	addCheckFlags(c, &o.Run)
}

// complete checks the flags, and completes the run's description.
func (o *b3Run) complete() (err error) {
	switch {
	case o.fs == "":
		return errors.New("--fs is missing: the file system to test")
	case o.out == "":
		return errors.New("--out is missing: the folder for what is found")
	case o.set == "" && len(o.files) == 0 && !o.regressions:
		return errors.New("give --set, --workload or --regressions")
	case o.set != "" && (len(o.files) > 0 || o.regressions):
		return errors.New("--set excludes --workload and --regressions")
	}
	if o.Workloads, err = o.workloads(); err != nil {
		return err
	}
	o.Checker, o.Strategy, o.Depth, o.Restore = "sync", explore.BreadthFirst, 1, explore.ByReplay
	return o.exploreRun.complete()
}

// workloads returns the workloads that the flags name.
func (o *b3Run) workloads() (*spec.Workloads, error) {
	w := &spec.Workloads{NoUnmount: o.noUnmount}
	for _, file := range o.files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if _, err := b3.Parse(string(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		w.Texts = append(w.Texts, string(text))
	}
	if o.regressions {
		list, err := b3.Regressions()
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			w.Texts = append(w.Texts, r.Text)
		}
	}
	if len(w.Texts) > 0 {
		if o.ranks != "" {
			return nil, errors.New("--range is for --set")
		}
		return w, nil
	}
	s, err := b3.Load(o.set)
	if err != nil {
		return nil, err
	}
	w.Set, w.To = o.set, s.Count()-1
	if strings.Contains(o.set, ".") {
		if w.Set, err = filepath.Abs(o.set); err != nil {
			return nil, err
		}
	}
	if o.ranks != "" {
		first, last, ok := strings.Cut(o.ranks, "-")
		var err1, err2 error
		w.From, err1 = strconv.ParseUint(first, 10, 64)
		w.To, err2 = strconv.ParseUint(last, 10, 64)
		if !ok || err1 != nil || err2 != nil {
			return nil, fmt.Errorf("--range %s: want A-B, such as 0-99", o.ranks)
		}
	}
	_, _, err = w.Load()
	return w, err
}

// run tests the workloads, minimizes what it finds, and says what it left out.
func (o *b3Run) run(c *cobra.Command) error {
	skipped, err := skippedWorkloads(o.Workloads)
	if err != nil {
		return err
	}
	for _, line := range skipped {
		fmt.Fprintln(c.ErrOrStderr(), line)
	}
	return o.exploreThen(c, o.Run, o.out, o.limit,
		func(m *machine.Machine, sum *explore.Summary) error {
			for i := range sum.Errors {
				if err := o.describe(c.Context(), m, &sum.Errors[i]); err != nil {
					return err
				}
			}
			if !o.json {
				printPhases(c, sum, skipped)
			}
			return nil
		})
}

// skippedWorkloads counts the workloads that cannot run, by the operation that is missing, a line
// each.
func skippedWorkloads(w *spec.Workloads) (lines []string, err error) {
	count, at, err := w.Load()
	if err != nil {
		return nil, err
	}
	missing := make(map[b3.Verb]int)
	for i := range count {
		one, err := at(i)
		if err != nil {
			return nil, err
		}
		if v := checkers.Missing(one.Complete()); v != 0 {
			missing[v]++
		}
	}
	for _, v := range slices.Sorted(maps.Keys(missing)) {
		lines = append(lines, fmt.Sprintf("%d of %d workloads are left out: %s is not available yet",
			missing[v], count, v))
	}
	return lines, nil
}

// printPhases prints the rate of a run, and how its time divides.
func printPhases(c *cobra.Command, sum *explore.Summary, skipped []string) {
	s := sum.Seconds
	rest := s - sum.Restoring - sum.Running - sum.Judging - sum.Recovering
	fmt.Fprintf(c.OutOrStdout(), "%d workloads, %.1f a second: restore %.0f s, run %.0f s, "+
		"judge %.0f s, recover and check %.0f s, form and the rest %.0f s\n", sum.Runs,
		float64(sum.Runs)/max(s, 1e-9), sum.Restoring, sum.Running, sum.Judging, sum.Recovering, rest)
	for _, line := range skipped {
		fmt.Fprintln(c.OutOrStdout(), line)
	}
}

// describe adds to the folder of a finding the workload, a smaller one that shows the same, and a
// script that runs it.
func (o *b3Run) describe(ctx context.Context, m *machine.Machine, e *explore.Error) error {
	_, at, err := o.Workloads.Load()
	if err != nil {
		return err
	}
	i := e.Steps[0][0].Value
	w, err := at(i)
	if err != nil {
		return err
	}
	dir := filepath.Join(o.out, e.Dir)
	if _, err := os.Stat(filepath.Join(dir, "workload.txt")); err == nil {
		return nil // an earlier part of the run has done it
	}
	small := w
	if !e.Surprise {
		if small, err = o.minimize(ctx, m, e, w); err != nil {
			return err
		}
	}
	text := fmt.Sprintf("# rank %d of %s\n# skeleton: %s; property: %s\n%s\n", o.Workloads.Name(i),
		o.set, w.Skeleton(), e.Property, strings.ReplaceAll(w.String(), "; ", "\n"))
	about := e.Kind + ": " + e.Summary
	return errors.Join(os.WriteFile(filepath.Join(dir, "workload.txt"), []byte(text), 0o644),
		os.WriteFile(filepath.Join(dir, "minimal.txt"),
			[]byte(strings.ReplaceAll(small.String(), "; ", "\n")+"\n"), 0o644),
		os.WriteFile(filepath.Join(dir, "xfstest.sh"), []byte(small.Complete().Script(o.fs, about)),
			0o755))
}

// minimize leaves out steps of a workload while it shows the same kind of finding.
func (o *b3Run) minimize(ctx context.Context, m *machine.Machine, e *explore.Error,
	w b3.Workload) (b3.Workload, error) {
	for again := true; again; {
		again = false
		for _, small := range w.Smaller() {
			shows, err := o.shows(ctx, m, e, small)
			if err != nil {
				return nil, err
			}
			if shows {
				w, again = small, true
				break
			}
		}
	}
	return w, nil
}

// shows reports whether a workload shows a finding.
func (o *b3Run) shows(ctx context.Context, m *machine.Machine, e *explore.Error,
	w b3.Workload) (bool, error) {
	dir, err := os.MkdirTemp("", "fsward-b3-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	r := o.Run
	r.Workloads = &spec.Workloads{Texts: []string{w.String()}, NoUnmount: o.noUnmount}
	cfg, err := r.Config()
	if err != nil {
		return false, err
	}
	cfg.Dir, cfg.System = dir, m
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
