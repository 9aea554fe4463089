// Command mutants weakens each rule in one place at a time and lists the mutants that no test
// notices. See docs/dev/mutants.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/dev/matrix"
	"fsward/dev/mutants"
	"fsward/interp/detect"
	"fsward/invariants"
)

// config has the values of the flags.
type config struct {
	dir, cases, fs, only string
	commits              bool
	workers              int
}

func main() {
	var c config
	flag.StringVar(&c.dir, "dir", "build/matrix/btrfs",
		"`directory` of the recordings of the corruption matrix")
	flag.StringVar(&c.cases, "cases", "invariants/testdata/cases",
		"`directory` of the unit tests of rules")
	flag.StringVar(&c.fs, "fs", "btrfs",
		"weaken the rules of this `file system`: btrfs, ext3 or volume")
	flag.StringVar(&c.only, "only", "",
		"check only mutants of these `rules` (numbers or files name.pl), separated by commas")
	flag.BoolVar(&c.commits, "commits", true, "also check with real commits, after the unit tests")
	flag.IntVar(&c.workers, "workers", 2, "`number` of mutants to check at the same time")
	flag.Parse()
	if err := run(c); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(3)
	}
}

func run(c config) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM)
	defer stop()
	files, err := invariants.Builtin(c.fs)
	if err != nil {
		return err
	}
	schema := detect.Schema(c.fs)
	subjects, err := mutants.Cases(c.fs, filepath.Join(c.cases, c.fs))
	if err != nil {
		return err
	}
	if c.commits {
		dir := filepath.Join(c.dir, c.fs)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		commits, closeAll, err := matrix.Commits(ctx, dir, c.fs)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, closeAll()) }()
		var recorded []*mutants.Subject
		for _, c := range commits {
			s := &mutants.Subject{Name: c.Name, Kind: c.Kind, Txn: c.Txn, View: c.View}
			recorded = append(recorded, s)
		}
		if recorded, err = mutants.Learn(ctx, schema, files, recorded); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "%d unit tests, %d commits\n", len(subjects), len(recorded))
		subjects = append(subjects, recorded...)
	}
	list := slices.DeleteFunc(mutants.Mutants(files), func(m *mutants.Mutant) bool {
		only := strings.Split(c.only, ",")
		return c.only != "" && !slices.Contains(only, m.Rule) &&
			!slices.Contains(only, filepath.Base(m.File))
	})
	results, err := mutants.Run(ctx, schema, list, subjects, c.workers, os.Stderr)
	if err != nil {
		return err
	}
	return mutants.WriteTable(os.Stdout, results)
}
