// Command mutants weakens each rule and lists what no test notices: see docs/MUTANTS.md.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"golang.org/x/sys/unix"

	"fsward/hostd/matrix"
	"fsward/hostd/mutants"
	"fsward/interp/detect"
	"fsward/invariants"
)

func main() {
	dir := flag.String("dir", "build/matrix", "`directory` of the recordings of the corruption matrix")
	cases := flag.String("cases", "invariants/testdata/cases", "`directory` of the unit tests of rules")
	workers := flag.Int("workers", 2, "mutants at a time")
	flag.Parse()
	if err := run(*dir, *cases, *workers); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(3)
	}
}

func run(dir, cases string, workers int) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM)
	defer stop()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	files, err := invariants.Builtin("btrfs")
	if err != nil {
		return err
	}
	subjects, err := mutants.Cases("btrfs", filepath.Join(cases, "btrfs"))
	if err != nil {
		return err
	}
	commits, closeAll, err := matrix.Commits(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	var altered []*mutants.Subject
	for _, c := range commits {
		altered = append(altered, &mutants.Subject{Name: c.Name, Kind: c.Kind, Txn: c.Txn, View: c.View})
	}
	schema := detect.Schema("btrfs")
	altered, err = mutants.Learn(ctx, schema, files, altered)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%d unit tests, %d commits\n", len(subjects), len(altered))
	results, err := mutants.Run(ctx, schema, files, append(subjects, altered...), workers, os.Stderr)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(results, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "mutants.json"), text, 0o644); err != nil {
		return err
	}
	return mutants.WriteTable(os.Stdout, results)
}
