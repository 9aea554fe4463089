package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// What checking may add to the workload of the thesis, by file system.
const maxRatio = 1.02

var maxAdded = map[string]time.Duration{"btrfs": 10 * time.Millisecond, "ext3": 5 * time.Millisecond}

// pairs runs the thesis's workload with and without checks, in turn, each pair in the other order.
func (b *bench) pairs(ctx context.Context, n, commands int) error {
	fmt.Printf("%s: %d commands of the thesis's workload, a commit after each hundredth, through FUSE and a loop device\n", b.fs, commands)
	fmt.Printf("%6s %12s %12s %8s %8s %8s %12s\n", "pair", "unchecked", "checked", "ratio", "commits", "ahead", "longest held")
	var ratios []float64
	var held []time.Duration     // each commit of the checked runs
	var asked [2][]time.Duration // what each sync took as fsload saw it: unchecked, checked
	times := filepath.Join(b.dir, "times")
	for i := range n {
		var took [2]time.Duration
		var longest time.Duration
		var commits []commit
		for k := range 2 {
			which := (i + k) % 2
			t, c, err := b.do(ctx, job{load: fmt.Sprintf("-thesis %d -commits -times %s -seed %d", commands, times, i), size: 4 << 30, checked: which == 1})
			if err != nil {
				return err
			}
			took[which], commits = t, append(commits, c...)
			syncs, err := readTimes(times)
			if err != nil {
				return err
			}
			asked[which] = append(asked[which], syncs...)
		}
		ahead := 0
		for _, c := range commits {
			held = append(held, c.held)
			longest = max(longest, c.held)
			if c.ahead > 0 {
				ahead++
			}
		}
		ratios = append(ratios, took[1].Seconds()/took[0].Seconds())
		fmt.Printf("%6d %12s %12s %8.3f %8d %8d %12s\n", i+1, round(took[0]), round(took[1]), ratios[i], len(commits), ahead, round(longest))
	}
	middle := median(ratios) // sorts them
	fmt.Printf("wall time checked / unchecked: median %.3f, from %.3f to %.3f\n", middle, ratios[0], ratios[n-1])
	for _, list := range [][]time.Duration{held, asked[0], asked[1]} {
		slices.Sort(list)
	}
	fmt.Printf("%-40s %12s %12s %10s\n", "", "median", "p99", "commits")
	for _, row := range []struct {
		what string
		list []time.Duration
	}{{"a commit held until its verdict", held}, {"a sync, unchecked", asked[0]}, {"a sync, checked", asked[1]}} {
		fmt.Printf("%-40s %12s %12s %10d\n", row.what, round(quantile(row.list, 0.5)), round(quantile(row.list, 0.99)), len(row.list))
	}
	added := func(part float64) time.Duration { return quantile(asked[1], part) - quantile(asked[0], part) }
	fmt.Printf("%-40s %12s %12s\n\n", "a sync, checked − unchecked", round(added(0.5)), round(added(0.99)))

	b.aims.ratio("the thesis's workload, wall time checked / unchecked, median of the pairs", middle, maxRatio)
	b.aims.time("a commit held until its verdict, p99", quantile(held, 0.99), maxAdded[b.fs])
	b.aims.time("a sync as its caller sees it, p99 checked − p99 unchecked", added(0.99), maxAdded[b.fs])
	return nil
}

// readTimes reads what fsload -times wrote.
func readTimes(path string) ([]time.Duration, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []time.Duration
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		ns, err := strconv.ParseInt(lines.Text(), 10, 64)
		if err != nil {
			return nil, err
		}
		out = append(out, time.Duration(ns))
	}
	if len(out) == 0 {
		return nil, errors.Join(lines.Err(), errors.New("no commit was timed"))
	}
	return out, lines.Err()
}
