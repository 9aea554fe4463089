// Command matrix draws the corruption matrix: see docs/results/matrix.md.
package main

import (
	"context"
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

func main() {
	var cfg matrix.Config
	flag.StringVar(&cfg.FS, "fs", "",
		"`name` of the file system: "+strings.Join(matrix.Formats(), ", ")+"; default all")
	flag.StringVar(&cfg.Dir, "dir", "build/matrix",
		"`directory` of recordings and results; each file system has one below it")
	flag.IntVar(&cfg.Picks, "picks", 2, "maximum `number` of places for each corruption")
	flag.IntVar(&cfg.Workers, "workers", 2, "`number` of cells to work on at the same time")
	flag.StringVar(&cfg.Only, "only", "", "judge only cells with a name that this `regexp` matches")
	flag.BoolVar(&cfg.Linux, "linux", false, "mount each image with user-mode Linux")
	result := flag.String("result", "",
		"write the tables for docs/results/matrix-btrfs.md to `FILE`; needs -fs")
	flag.Parse()
	cfg.Log = os.Stderr
	if err := run(cfg, *result); err != nil {
		fmt.Fprintln(os.Stderr, "matrix:", err)
		os.Exit(3)
	}
}

func run(cfg matrix.Config, result string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM)
	defer stop()
	all := matrix.Formats()
	if cfg.FS != "" {
		all = []string{cfg.FS}
	} else if result != "" {
		return errors.New("-result writes the result of one file system: name it with -fs")
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
		if result != "" {
			return matrix.WriteResult(fs, result, rows)
		}
	}
	return nil
}
