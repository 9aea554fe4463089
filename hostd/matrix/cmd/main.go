// Command matrix draws the corruption matrix: see docs/MATRIX.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"fsward/hostd/matrix"
)

func main() {
	var cfg matrix.Config
	flag.StringVar(&cfg.Dir, "dir", "build/matrix", "`directory` of recordings and results")
	flag.IntVar(&cfg.Picks, "picks", 2, "places for each corruption")
	flag.IntVar(&cfg.Workers, "workers", 2, "cells at a time")
	flag.StringVar(&cfg.Only, "only", "", "only cells whose name has this `text`")
	flag.BoolVar(&cfg.Linux, "linux", false, "mount each image with user-mode Linux")
	result := flag.String("result", "", "write the tables for docs/MATRIX_RESULT.md to `FILE`")
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
	rows, err := matrix.Run(ctx, cfg)
	if err != nil {
		return err
	}
	if err := matrix.Write(cfg.Dir, rows); err != nil || result == "" {
		return err
	}
	return matrix.WriteResult(result, rows)
}
