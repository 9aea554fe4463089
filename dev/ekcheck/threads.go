package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"fsward/dev/guestcheck"
	"fsward/explore/ekm"
)

// checkThreads finds who serves a mounted file system, holds all of them, and sees who runs anyway.
func checkThreads(c *ekm.Control) error {
	for _, t := range []struct {
		fs   string
		need []string // how the names of some of them begin
	}{{"ext3", []string{"jbd2/fswrd0-8"}}, {"btrfs", []string{"btrfs-cleaner", "btrfs-transacti", "kworker/"}}} {
		d, err := makeDisk(t.fs)
		if err != nil {
			return err
		}
		dev, err := watch(c, d)
		if err != nil {
			return err
		}
		before, err := c.Threads()
		if err != nil {
			return err
		}
		if err := c.Log(ekm.Writes); err != nil {
			return err
		}
		if err := guestcheck.Mounted(t.fs, d.Path(), "", func(dir string) error { return serve(c, dir, before, t.fs, t.need) }); err != nil {
			return fmt.Errorf("%s: %w", t.fs, err)
		}
		if err := errors.Join(c.Log(0), c.Watch(dev, false), d.Remove()); err != nil {
			return err
		}
	}
	return nil
}

func syncFile(dir, name string) error {
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteString("text"); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return unix.Syncfs(int(f.Fd()))
}

func serve(c *ekm.Control, dir string, before []ekm.Thread, fs string, need []string) error {
	if err := syncFile(dir, "first"); err != nil {
		return err
	}
	now, err := c.Threads()
	if err != nil {
		return err
	}
	serving := ekm.Serving(before, now, "fswrd0")
	var names []string
	for _, t := range serving {
		name := t.Comm
		if t.Work != "" {
			name += " (" + t.Work + ")"
		}
		if t.Rescuer {
			name += " (rescuer of that queue)"
		}
		names = append(names, name)
	}
	guestcheck.Fact("threads", "%s is served by %s", fs, strings.Join(names, ", "))
	for _, n := range need {
		if !slices.ContainsFunc(serving, func(t ekm.Thread) bool { return strings.HasPrefix(t.Comm, n) }) {
			return fmt.Errorf("%s is not among %v", n, names)
		}
	}
	// The one that commits.
	i := slices.IndexFunc(serving, func(t ekm.Thread) bool {
		return strings.HasPrefix(t.Comm, "jbd2/") || strings.HasPrefix(t.Comm, "btrfs-transacti")
	})
	commit := serving[i]
	held := 0
	for _, t := range serving {
		if t.Policy == 0 && !t.Worker { // a worker of queues works for others too
			if err := c.Hold(t.PID); err != nil {
				return err
			}
			held++
		}
	}
	if err := c.Hold(commit.PID); !errors.Is(err, unix.EEXIST) {
		return errors.Join(errors.New("what is held is not refused to be held again as it should be"), err)
	}
	n, strayed, err := c.Stray()
	if err != nil {
		return err
	}
	if n != held {
		return fmt.Errorf("%d are held of %d", n, held)
	}
	guestcheck.Fact("threads", "%d held, %d of them ran at once", n, len(strayed))
	// What has to run does, and is told of.
	forced := func() error { return syncFile(dir, "second") }
	if fs == "btrfs" { // a commit is made by who syncs; the thread is asked by a timer, or woken when memory is short
		forced = func() error { _, err := c.Run(commit.PID, 0); return err }
	}
	if err := forced(); err != nil {
		return err
	}
	_, strayed, err = c.Stray()
	if err != nil {
		return err
	}
	ran := slices.ContainsFunc(strayed, func(s ekm.Strayed) bool { return s.PID == commit.PID && s.RunNS > 0 && s.LastRunNS > 0 })
	if fs == "ext3" {
		if !ran {
			return fmt.Errorf("%s has committed, and is not among those that ran while held: %+v", commit.Comm, strayed)
		}
		done := make(chan error, 1)
		go func() { done <- syncFile(dir, "third") }()
		ran, err := c.Run(commit.PID, 5*time.Second)
		if err := errors.Join(err, <-done); err != nil {
			return err
		}
		if !ran {
			return fmt.Errorf("%s did not run when it was let to, and had work", commit.Comm)
		}
		guestcheck.Fact("threads", "%s ran though it was held, when it had to, and that was seen; let to run, it did", commit.Comm)
	}
	now, err = c.Threads()
	if err != nil {
		return err
	}
	for _, t := range now {
		if t.Held && t.Nice != 19 {
			return fmt.Errorf("%s is held and has priority %d", t.Comm, t.Nice)
		}
		if !t.Held {
			continue
		}
		if err := c.Release(t.PID); err != nil {
			return err
		}
		held--
	}
	if held != 0 {
		return fmt.Errorf("%d held threads are not listed", held)
	}
	now, err = c.Threads()
	if err != nil {
		return err
	}
	for _, t := range now {
		if t.PID == commit.PID && (t.Held || t.Nice != commit.Nice) {
			return fmt.Errorf("released, %+v; was %+v", t, commit)
		}
	}
	return nil
}
