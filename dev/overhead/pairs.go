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

// maxRatio is the aim for the wall time of the thesis's workload, with over without checks.
const maxRatio = 1.02

// maxAdded is the aim for the time that checks add to a commit, by file system.
var maxAdded = map[string]time.Duration{
	"btrfs": 10 * time.Millisecond,
	"ext3":  5 * time.Millisecond,
}

// commitEvery is the interval of the kernel's own commits in seconds. The thesis's machine took
// 242 s for the workload, and its kernel committed every 30 s, that is every 1,250 commands. A
// machine of today runs as many commands in a few seconds.
const commitEvery = 2

// programs runs n pairs of the workload as the thesis describes it: each command is a program, and
// nothing syncs before the unmount.
func (b *bench) programs(ctx context.Context, n, commands int) error {
	fmt.Printf("%s: %d commands of the thesis's workload, each a program;"+
		" commits by the kernel's timer (commit=%d); through FUSE and a loop device\n",
		b.fs, commands, commitEvery)
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

// syncs runs n pairs of the same commands as system calls of one process, with a sync after each
// hundredth. It measures the time that checks add to a sync.
func (b *bench) syncs(ctx context.Context, n, commands int) error {
	fmt.Printf("%s: %d commands of the same kinds in one process, a sync after each hundredth\n",
		b.fs, commands)
	var held []time.Duration     // of each commit of the checked runs
	var syncs [2][]time.Duration // time of each sync as fsload measures it: unchecked, checked
	times := filepath.Join(b.dir, "times")
	load := fmt.Sprintf("-thesis %d -commits -times %s", commands, times)
	_, err := b.pairs(ctx, n, load, nil, func(which int, commits []commit) error {
		for _, c := range commits {
			held = append(held, c.held)
		}
		took, err := readTimes(times)
		syncs[which] = append(syncs[which], took...)
		return err
	})
	if err != nil {
		return err
	}
	for _, list := range [][]time.Duration{held, syncs[0], syncs[1]} {
		slices.Sort(list)
	}
	fmt.Printf("%-40s %12s %12s %10s\n", "", "median", "p99", "commits")
	for _, row := range []struct {
		what string
		list []time.Duration
	}{
		{"a commit held until its verdict", held},
		{"a sync, unchecked", syncs[0]},
		{"a sync, checked", syncs[1]},
	} {
		fmt.Printf("%-40s %12s %12s %10d\n", row.what, round(quantile(row.list, 0.5)),
			round(quantile(row.list, 0.99)), len(row.list))
	}
	added := func(part float64) time.Duration {
		return quantile(syncs[1], part) - quantile(syncs[0], part)
	}
	fmt.Printf("%-40s %12s %12s\n\n", "a sync, checked − unchecked", round(added(0.5)),
		round(added(0.99)))

	b.aims.time("a commit held until its verdict, p99", quantile(held, 0.99), maxAdded[b.fs])
	b.aims.time("a sync as its caller sees it, p99 checked − p99 unchecked", added(0.99),
		maxAdded[b.fs])
	return nil
}

// pairs runs n pairs of a load, once with and once without checks; the order alternates. It returns
// the median of the ratios of wall times. It also prints the processor time and the page faults
// that checks add, since wall times vary by more than that on most machines. If after is not nil,
// pairs calls it after each run; which is 0 for an unchecked run and 1 for a checked one.
func (b *bench) pairs(ctx context.Context, n int, load string, mount []string,
	after func(which int, commits []commit) error) (float64, error) {
	// early: commits with a speculative check
	fmt.Printf("%6s %12s %12s %8s %9s %8s %8s %8s %9s %9s %12s\n", "pair", "unchecked", "checked",
		"ratio", "more CPU", "faults", "commits", "early", "records", "largest", "longest held")
	var ratios []float64
	for i := range n {
		var runs [2]cost
		for k := range 2 {
			which := (i + k) % 2
			r, err := b.do(ctx, job{
				load:    fmt.Sprintf("%s -seed %d", load, i),
				mount:   mount,
				size:    4 << 30,
				checked: which == 1,
			})
			if err == nil && after != nil {
				err = after(which, r.commits)
			}
			if err != nil {
				return 0, err
			}
			runs[which] = r
		}
		early, records, largest, longest := 0, 0, 0, time.Duration(0)
		for _, c := range runs[1].commits {
			records, largest, longest = records+c.records, max(largest, c.records), max(longest, c.held)
			if c.early > 0 {
				early++
			}
		}
		more := runs[1].less(runs[0].used)
		ratios = append(ratios, runs[1].took.Seconds()/runs[0].took.Seconds())
		fmt.Printf("%6d %12s %12s %8.3f %9s %8d %8d %8d %9d %9d %12s\n", i+1, round(runs[0].took),
			round(runs[1].took), ratios[i], round(more.cpu), more.faults, len(runs[1].commits), early,
			records, largest, round(longest))
	}
	middle := median(ratios) // sorts them
	fmt.Printf("wall time checked / unchecked: median %.3f, from %.3f to %.3f\n", middle, ratios[0],
		ratios[n-1])
	return middle, nil
}

// readTimes reads the file that fsload -times writes.
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
