// Command matrix draws the corruption matrix: see docs/results/matrix.md. With -range it is a unit
// of a campaign of fsward.
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
	"strings"

	"golang.org/x/sys/unix"

	"fsward/dev/matrix"
)

// errFound is the end of a unit that found something.
var errFound = errors.New("commits that the checker reports are let through")

// options are the flags that say what becomes of the rows.
type options struct {
	result, part, out string
	count, json       bool
}

func main() {
	var cfg matrix.Config
	var o options
	flag.StringVar(&cfg.FS, "fs", "",
		"`name` of the file system: "+strings.Join(matrix.Formats(), ", ")+"; default all")
	flag.StringVar(&cfg.Dir, "dir", defaultDir(),
		"`directory` of recordings and results; each file system has one below it")
	flag.IntVar(&cfg.Picks, "picks", 2, "maximum `number` of places for each corruption")
	flag.IntVar(&cfg.Workers, "workers", 2, "`number` of cells to work on at the same time")
	flag.StringVar(&cfg.Only, "only", "", "judge only cells with a name that this `regexp` matches")
	flag.BoolVar(&cfg.Linux, "linux", false, "mount each image with user-mode Linux")
	flag.StringVar(&o.result, "result", "",
		"write the tables for docs/results/matrix-btrfs.md to `FILE`; needs -fs")
	flag.BoolVar(&o.count, "count", false, "print the number of corruptions, and end; needs -fs")
	flag.StringVar(&o.part, "range", "",
		"try only the corruptions with the numbers `A-B`, write no tables, and end with status 1 if "+
			"one is missed; needs -fs")
	flag.StringVar(&o.out, "out", "", "with -range, write a `folder` with a file for each miss")
	flag.BoolVar(&o.json, "json", false, "with -range, print the misses as lines of JSON")
	flag.Parse()
	cfg.Log = os.Stderr
	switch err := run(cfg, o); {
	case errors.Is(err, errFound):
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "matrix:", err)
		os.Exit(3)
	}
}

// defaultDir returns the folder that all units of campaigns on this machine have.
func defaultDir() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "fsward-matrix")
}

func run(cfg matrix.Config, o options) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM)
	defer stop()
	all := matrix.Formats()
	switch {
	case cfg.FS != "":
		all = []string{cfg.FS}
	case o.result != "" || o.count || o.part != "":
		return errors.New("-result, -count and -range are of one file system: name it with -fs")
	}
	switch {
	case o.count:
		n, err := matrix.Count(cfg.FS)
		fmt.Println(n)
		return err
	case o.part != "":
		return runPart(ctx, cfg, o)
	}
	dir := cfg.Dir
	for _, fs := range all {
		cfg.FS, cfg.Dir = fs, filepath.Join(dir, fs)
		rows, err := matrix.Run(ctx, cfg)
		if err != nil {
			return err
		}
		if err := matrix.Write(fs, cfg.Dir, rows); err != nil {
			return err
		}
		if o.result != "" {
			return matrix.WriteResult(fs, o.result, rows)
		}
	}
	return nil
}

// runPart tries a part of the corruptions, and prints what is missed.
func runPart(ctx context.Context, cfg matrix.Config, o options) error {
	part, err := matrix.ParsePart(o.part)
	if err != nil {
		return err
	}
	cfg.Part, cfg.Dir = &part, filepath.Join(cfg.Dir, cfg.FS)
	rows, err := matrix.Run(ctx, cfg)
	if err != nil {
		return err
	}
	misses, err := matrix.Misses(rows, o.out)
	if err != nil || !o.json {
		return errors.Join(err, found(misses))
	}
	lines := json.NewEncoder(os.Stdout)
	for _, m := range misses {
		if err := lines.Encode(m); err != nil {
			return err
		}
	}
	end := struct {
		Event    string `json:"event"`
		Cells    int    `json:"cells"`
		Complete bool   `json:"complete"`
	}{"tested", len(rows), true}
	return errors.Join(lines.Encode(end), found(misses))
}

// found returns errFound if anything was missed.
func found(misses []matrix.Miss) error {
	if len(misses) > 0 {
		return errFound
	}
	return nil
}
