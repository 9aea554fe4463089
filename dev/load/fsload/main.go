// Command fsload changes a mounted file system at random, as fsstress does: what it does follows from its
// seed and from what the file system answers. It ends with status 0 if every operation succeeded or failed
// in a way that is allowed (no space, no such file), and with 1 as soon as one failed otherwise.
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

func run() error {
	dir := flag.String("dir", "", "`DIR` on the file system to change")
	seed := flag.Uint64("seed", 1, "what is done follows from this number")
	seconds := flag.Float64("seconds", 10, "stop after this many seconds")
	ops := flag.Int("ops", 0, "stop after this many operations of each worker; 0: no limit")
	workers := flag.Int("workers", 2, "how many do operations at the same time")
	profile := flag.String("profile", "mixed", "what to do most: "+profileNames())
	admin := flag.Bool("btrfs", false, "besides, snapshots, quota, balance, resize, scrub, defragmentation by the btrfs program")
	devices := flag.String("devices", "", "with -btrfs: besides, add, remove and replace these `DEVICES`, with commas between, and convert from one profile to another")
	thesis := flag.Int("thesis", 0, "instead, so many commands of the Brunch thesis's workload, by one worker")
	files := flag.Int("fill", 0, "instead, make so many small files and commit them at once")
	programs := flag.Bool("programs", false, "with -thesis: each command is a program, as in the thesis: dd, mkdir, rm")
	commits := flag.Bool("commits", false, "with -thesis: commit after every hundredth command")
	times := flag.String("times", "", "with -commits: write to `FILE` what each commit took, nanoseconds, one a line")
	flag.Parse()
	mix, ok := profiles[*profile]
	if *dir == "" || !ok || flag.NArg() > 0 {
		flag.Usage()
		return errors.New("-dir is needed, and a profile that exists")
	}
	random := rand.New(rand.NewPCG(*seed, 0))
	switch {
	case *thesis > 0:
		took, err := plant(random, *dir, *thesis, *programs, *commits)
		if err == nil && *times != "" {
			err = writeTimes(*times, took)
		}
		return err
	case *files > 0:
		return fill(random, *dir, *files)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, time.Duration(*seconds*float64(time.Second)))
	defer cancel()

	work := filepath.Join(*dir, "work")
	if *admin {
		if err := subvolume(*dir, work); err != nil {
			return err
		}
	} else if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	var working, administering sync.WaitGroup
	errs := make(chan error, *workers+1)
	start := func(group *sync.WaitGroup, f func() error) {
		group.Go(func() {
			if err := f(); err != nil {
				errs <- err
				cancel()
			}
		})
	}
	counts, verities := make([]int, *workers), make([]int, *workers)
	for i := range *workers {
		w := &worker{Rand: rand.New(rand.NewPCG(*seed, uint64(i))), number: i, dir: work, mix: mix}
		start(&working, func() error {
			defer func() { counts[i], verities[i] = w.done, w.verity }()
			return w.run(ctx, *ops)
		})
	}
	if *admin {
		a := &administrator{Rand: rand.New(rand.NewPCG(*seed, 1<<32)), top: *dir, work: work, devices: strings.FieldsFunc(*devices, func(c rune) bool { return c == ',' })}
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
	return writable(*dir)
}

// writable tells whether a file system still takes writes: one that aborted a transaction does not.
func writable(dir string) error {
	probe := filepath.Join(dir, "probe")
	if err := os.WriteFile(probe, []byte("probe\n"), 0o600); err != nil && !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EDQUOT) {
		return err
	}
	if err := os.Remove(probe); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EDQUOT) {
		return err
	}
	return nil
}
