// Command fsload changes a mounted file system at random, as fsstress does. The seed and the
// results of the operations determine the next operations. The exit status is 0 if all operations
// succeeded or failed with an allowed error (no space, no such file), and 1 after the first other
// error. Start reading at worker.run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "fsload:", err)
		os.Exit(1)
	}
}

// options are the values of the flags.
type options struct {
	dir, profile, devices, times string
	seed                         uint64
	seconds                      float64
	ops, workers, thesis, files  int
	admin, programs, commits     bool
	shape                        shapeOptions
}

func parse() (o options, err error) {
	flag.StringVar(&o.dir, "dir", "", "change the file system that `DIR` is on (required)")
	flag.Uint64Var(&o.seed, "seed", 1, "`SEED` that determines all operations")
	flag.Float64Var(&o.seconds, "seconds", 10, "stop after this many `SECONDS`")
	flag.IntVar(&o.ops, "ops", 0, "stop after `N` operations of each worker; 0 for no limit")
	flag.IntVar(&o.workers, "workers", 2, "run `N` workers at the same time")
	flag.StringVar(&o.profile, "profile", "mixed", "kind of load: "+profileNames())
	flag.BoolVar(&o.admin, "btrfs", false,
		"also run the btrfs program: snapshots, quota, balance, resize, scrub, defragmentation")
	flag.StringVar(&o.devices, "devices", "", "with -btrfs: also add, remove and replace these"+
		" `DEVICES`, separated by commas, and convert between profiles")
	flag.IntVar(&o.thesis, "thesis", 0,
		"run only `N` commands of the Brunch thesis's workload, with one worker")
	flag.IntVar(&o.files, "fill", 0, "only make `N` small files, in one commit")
	flag.BoolVar(&o.programs, "programs", false,
		"with -thesis: run each command as a program, as the thesis does: dd, mkdir, rm")
	flag.BoolVar(&o.commits, "commits", false, "with -thesis: commit after every hundredth command")
	flag.StringVar(&o.times, "times", "",
		"with -commits: write the time of each commit in nanoseconds to `FILE`, one a line")
	o.shape.define()
	flag.Parse()
	if _, ok := profiles[o.profile]; o.dir == "" || !ok || flag.NArg() > 0 {
		flag.Usage()
		return o, errors.New("-dir is required, the profile must exist, and no arguments are allowed")
	}
	return o, nil
}

func run() error {
	o, err := parse()
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(o.seed, 0))
	switch {
	case o.thesis > 0:
		took, err := runThesis(random, o.dir, o.thesis, o.programs, o.commits)
		if err == nil && o.times != "" {
			err = writeTimes(o.times, took)
		}
		return err
	case o.files > 0:
		return fill(random, o.dir, o.files)
	case o.shape.chosen():
		o.shape.seed = o.seed
		return o.shape.run(o.dir)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, time.Duration(o.seconds*float64(time.Second)))
	defer cancel()
	work := filepath.Join(o.dir, "work")
	if o.admin {
		if err := subvolume(o.dir, work); err != nil {
			return err
		}
	} else if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	if err := o.load(ctx, cancel, work); err != nil {
		return err
	}
	return writable(o.dir)
}

// load runs the workers in the folder work, and the administrator at the same time, until ctx is
// done, the workers reach their limit, or one of them fails. It then prints the number of
// operations.
func (o options) load(ctx context.Context, cancel context.CancelFunc, work string) error {
	var working, administering sync.WaitGroup
	errs := make(chan error, o.workers+1)
	start := func(group *sync.WaitGroup, f func() error) {
		group.Go(func() {
			if err := f(); err != nil {
				errs <- err
				cancel()
			}
		})
	}
	counts, verities := make([]int, o.workers), make([]int, o.workers)
	for i := range o.workers {
		w := &worker{Rand: rand.New(rand.NewPCG(o.seed, uint64(i))), number: i, dir: work,
			mix: profiles[o.profile]}
		start(&working, func() error {
			defer func() { counts[i], verities[i] = w.done, w.verity }()
			return w.run(ctx, o.ops)
		})
	}
	if o.admin {
		comma := func(c rune) bool { return c == ',' }
		a := &administrator{Rand: rand.New(rand.NewPCG(o.seed, 1<<32)), top: o.dir, work: work,
			devices: strings.FieldsFunc(o.devices, comma)}
		start(&administering, func() error { return a.run(ctx) })
	}
	working.Wait()
	cancel()
	administering.Wait()
	select {
	case err := <-errs:
		return err
	default:
	}
	total, verity := 0, 0
	for i, n := range counts {
		total += n
		verity += verities[i]
	}
	fmt.Printf("%d operations, fs-verity on %d files\n", total, verity)
	return nil
}

// writable returns an error if a file system accepts no more writes, as after an aborted
// transaction. A full file system is no error.
func writable(dir string) error {
	probe := filepath.Join(dir, "probe")
	if err := os.WriteFile(probe, []byte("probe\n"), 0o600); err != nil &&
		!errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EDQUOT) {
		return err
	}
	if err := os.Remove(probe); err != nil && !errors.Is(err, os.ErrNotExist) &&
		!errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EDQUOT) {
		return err
	}
	return nil
}
