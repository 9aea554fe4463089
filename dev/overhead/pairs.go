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

// Upper bounds of what checking may add to the workload of the thesis, by file system.
const maxRatio = 1.02

var maxAdded = map[string]time.Duration{"btrfs": 10 * time.Millisecond,
	"ext3": 5 * time.Millisecond}

// commitEvery is the interval of the kernel's own commits, in seconds. On the thesis's machine the
// workload took 242 s, and the kernel committed every 30 s or 1,250 commands. This machine runs as
// many commands in a few seconds.
const commitEvery = 2

// programs runs the workload as the thesis describes it, with and without checks: each command is a
// program, and only the unmount syncs.
func (b *bench) programs(ctx context.Context, n, commands int) error {
	fmt.Printf("%s: %d commands of the thesis's workload, each by a program, commits by the kernel's timer (commit=%d), through FUSE and a loop device\n", b.fs, commands, commitEvery)
	load := fmt.Sprintf("-thesis %d -programs", commands)
	r, err := b.pairs(ctx, n, load, []string{fmt.Sprintf("commit=%d", commitEvery)}, nil)
	if err != nil {
		return err
	}
	fmt.Println()
	b.aims.ratio("the thesis's workload, wall time checked / unchecked, median of the pairs", r,
		maxRatio)
	return nil
}

// syncs runs the same commands in one process at full speed, with a sync after each hundredth. It
// measures what checking adds to the time of a commit that somebody waits for.
func (b *bench) syncs(ctx context.Context, n, commands int) error {
	fmt.Printf("%s: %d commands of the same kinds in one process, a sync after each hundredth: nothing but commits\n", b.fs, commands)
	var held []time.Duration     // each commit of the checked runs
	var asked [2][]time.Duration // time of each sync as fsload saw it: unchecked, checked
	times := filepath.Join(b.dir, "times")
	load := fmt.Sprintf("-thesis %d -commits -times %s", commands, times)
	_, err := b.pairs(ctx, n, load, nil, func(which int, commits []commit) error {
		for _, c := range commits {
			held = append(held, c.held)
		}
		syncs, err := readTimes(times)
		asked[which] = append(asked[which], syncs...)
		return err
	})
	if err != nil {
		return err
	}
	for _, list := range [][]time.Duration{held, asked[0], asked[1]} {
		slices.Sort(list)
	}
	fmt.Printf("%-40s %12s %12s %10s\n", "", "median", "p99", "commits")
	for _, row := range []struct {
		what string
		list []time.Duration
	}{{"a commit held until its verdict", held}, {"a sync, unchecked", asked[0]}, {"a sync, checked",
		asked[1]}} {
		fmt.Printf("%-40s %12s %12s %10d\n", row.what, round(quantile(row.list, 0.5)),
			round(quantile(row.list, 0.99)), len(row.list))
	}
	added := func(part float64) time.Duration {
		return quantile(asked[1], part) - quantile(asked[0],
			part)
	}
	fmt.Printf("%-40s %12s %12s\n\n", "a sync, checked − unchecked", round(added(0.5)),
		round(added(0.99)))

	b.aims.time("a commit held until its verdict, p99", quantile(held, 0.99), maxAdded[b.fs])
	b.aims.time("a sync as its caller sees it, p99 checked − p99 unchecked", added(0.99),
		maxAdded[b.fs])
	return nil
}

// pairs runs a load alternately with and without checks; each pair has the other order. It returns
// the median ratio of wall times. It also prints the processor time and the new pages that checking
// used, since wall times vary by more than that on most machines. after, if not nil, is called
// after each run, which is unchecked (0) or checked (1).
func (b *bench) pairs(ctx context.Context, n int, load string, mount []string,
	after func(which int, commits []commit) error) (float64, error) {
	fmt.Printf("%6s %12s %12s %8s %9s %8s %8s %8s %9s %9s %12s\n", "pair", "unchecked", "checked",
		"ratio", "more CPU", "faults", "commits", "ahead", "records", "largest", "longest held")
	var ratios []float64
	for i := range n {
		var runs [2]done
		for k := range 2 {
			which := (i + k) % 2
			r, err := b.do(ctx, job{load: fmt.Sprintf("%s -seed %d", load, i), mount: mount, size: 4 << 30,
				checked: which == 1})
			if err == nil && after != nil {
				err = after(which, r.commits)
			}
			if err != nil {
				return 0, err
			}
			runs[which] = r
		}
		ahead, records, largest, longest := 0, 0, 0, time.Duration(0)
		for _, c := range runs[1].commits {
			records, largest, longest = records+c.records, max(largest, c.records), max(longest, c.held)
			if c.ahead > 0 {
				ahead++
			}
		}
		more := runs[1].less(runs[0].used)
		ratios = append(ratios, runs[1].took.Seconds()/runs[0].took.Seconds())
		fmt.Printf("%6d %12s %12s %8.3f %9s %8d %8d %8d %9d %9d %12s\n", i+1, round(runs[0].took),
			round(runs[1].took), ratios[i], round(more.cpu), more.faults, len(runs[1].commits), ahead,
			records, largest, round(longest))
	}
	middle := median(ratios) // sorts them
	fmt.Printf("wall time checked / unchecked: median %.3f, from %.3f to %.3f\n", middle, ratios[0],
		ratios[n-1])
	return middle, nil
}

// readTimes reads the file of fsload -times.
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
