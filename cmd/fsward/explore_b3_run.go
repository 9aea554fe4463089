package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fsward/explore"
	"fsward/explore/b3"
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
	o.addFileSystem(c)
	c.Flags().StringVar(&o.set, "set", "", "test the workloads of `SET`: its name, or a YAML file")
	c.Flags().StringVar(&o.ranks, "range", "", "test the ranks `A-B` only")
	c.Flags().StringArrayVar(&o.files, "workload", nil,
		"test the workload in `FILE` in place of a set; may be repeated")
	c.Flags().BoolVar(&o.regressions, "regressions", false,
		"test the workloads of known bugs in place of a set")
	c.Flags().BoolVar(&o.noUnmount, "no-unmount", false,
		"do not compare with the tree after a clean unmount")
	c.Flags().StringVar(&o.out, "out", "",
		"write the run's state and a folder for each finding to `DIR`")
	addDuration(c, &o.limit, "time", 0, "stop after `DURATION`; 0 to test everything")
	c.Flags().Uint64Var(&o.Seed, "seed", 1,
		"choose samples by `SEED`: the same SEED gives the same samples")
	c.Flags().BoolVar(&o.InOrder, "in-order", false,
		"form only crash states that have all writes up to some write, and none after it: fewer "+
			"states")
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
		text, err := os.ReadFile(o.set)
		if err != nil {
			return nil, err
		}
		w.SetText = string(text)
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
