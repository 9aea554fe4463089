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

// checkThreads finds the threads that serve a mounted file system, holds them, and checks which of
// them run nevertheless.
func checkThreads(c *ekm.Control) error {
	for _, t := range []struct {
		fs   string
		need []string // prefixes of names that must be among them
	}{
		{"ext3", []string{"jbd2/fswrd0-8"}},
		{"btrfs", []string{"btrfs-cleaner", "btrfs-transacti", "kworker/"}},
	} {
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
		if err := guestcheck.Mounted(t.fs, d.Path(), "", func(dir string) error {
			return holdThreads(c, dir, before, t.fs, t.need)
		}); err != nil {
			return fmt.Errorf("%s: %w", t.fs, err)
		}
		if err := errors.Join(c.Log(0), c.Watch(dev, false), d.Remove()); err != nil {
			return err
		}
	}
	return checkEnded(c)
}

// kthreadd is the PID of the thread that starts all others of the kernel.
const kthreadd = 2

// checkEnded checks that a held thread which has ended has nothing to do, and that the module
// forgets it.
func checkEnded(c *ekm.Control) error {
	d, err := makeDisk("ext3")
	if err != nil {
		return err
	}
	before, err := c.Threads()
	if err != nil {
		return err
	}
	var ended uint32
	if err := guestcheck.Mounted("ext3", d.Path(), "", func(string) error {
		now, err := c.Threads()
		if err != nil {
			return err
		}
		served := ekm.Serving(before, now, "fswrd0")
		i := slices.IndexFunc(served, commits)
		if i < 0 {
			return errors.New("no commit thread of a mounted ext3")
		}
		ended = served[i].PID
		return c.Hold(ended)
	}); err != nil {
		return err
	}
	start := time.Now()
	ran, err := c.Run(ended, 5*time.Second)
	if took := time.Since(start); err != nil || ran || took > 4*time.Second {
		return errors.Join(err, fmt.Errorf("a thread that has ended ran: %v; the module waited for %v",
			ran, took))
	}
	if err := c.Hold(kthreadd); err != nil {
		return err
	}
	held, _, err := c.Unscheduled()
	if err := errors.Join(err, c.Release(kthreadd), d.Remove()); err != nil {
		return err
	}
	if held != 1 {
		return fmt.Errorf("the module holds %d threads, want the one that has not ended", held)
	}
	if err := c.Release(ended); !errors.Is(err, unix.ESRCH) {
		return errors.Join(errors.New("the module has not forgotten a thread that has ended"), err)
	}
	guestcheck.Fact("threads", "a held thread that ended was forgotten")
	return nil
}

// syncFile makes a file, syncs it, and syncs the file system.
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

// holdThreads holds the threads that serve a mounted file system, and releases them. before are the
// threads before the mount.
func holdThreads(c *ekm.Control, dir string, before []ekm.Thread, fs string,
	need []string) error {
	if err := syncFile(dir, "first"); err != nil {
		return err
	}
	serving, err := serving(c, before, fs, need)
	if err != nil {
		return err
	}
	commit := serving[slices.IndexFunc(serving, commits)]
	held, err := holdAll(c, serving, commit.PID)
	if err != nil {
		return err
	}
	// In Btrfs the thread that syncs commits. The commit thread wakes for a timer or a lack of memory,
	// so the module has to wake it.
	force := func() error { return syncFile(dir, "second") }
	if fs == "btrfs" {
		force = func() error { _, err := c.Run(commit.PID, 0); return err }
	}
	if err := force(); err != nil {
		return err
	}
	_, unscheduled, err := c.Unscheduled()
	if err != nil {
		return err
	}
	ran := slices.ContainsFunc(unscheduled, func(s ekm.Unscheduled) bool {
		return s.PID == commit.PID && s.RunNS > 0 && s.LastRunNS > 0
	})
	if fs == "ext3" {
		if !ran {
			return fmt.Errorf("%s has committed, but the module does not list it as unscheduled: %+v",
				commit.Comm, unscheduled)
		}
		if err := runHeld(c, dir, commit); err != nil {
			return err
		}
	}
	return releaseAll(c, held, commit)
}

// commits reports whether a thread is the commit thread of a file system.
func commits(t ekm.Thread) bool {
	return strings.HasPrefix(t.Comm, "jbd2/") || strings.HasPrefix(t.Comm, "btrfs-transacti")
}

// serving returns the threads that serve the file system. It fails if none of their names has one
// of the prefixes need.
func serving(c *ekm.Control, before []ekm.Thread, fs string,
	need []string) ([]ekm.Thread, error) {
	now, err := c.Threads()
	if err != nil {
		return nil, err
	}
	found := ekm.Serving(before, now, "fswrd0")
	var names []string
	for _, t := range found {
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
		hasPrefix := func(t ekm.Thread) bool { return strings.HasPrefix(t.Comm, n) }
		if !slices.ContainsFunc(found, hasPrefix) {
			return nil, fmt.Errorf("no thread %s among %v", n, names)
		}
	}
	return found, nil
}

// holdAll holds threads and returns their number. It leaves out workers of work queues, which have
// other work too, and ext4lazyinit, which ends when it has no more work. It checks that a thread
// cannot be held twice.
func holdAll(c *ekm.Control, serving []ekm.Thread, commit uint32) (held int, err error) {
	for _, t := range serving {
		if t.Policy == 0 && !t.Worker && t.Comm != "ext4lazyinit" {
			if err := c.Hold(t.PID); err != nil {
				return 0, err
			}
			held++
		}
	}
	if err := c.Hold(commit); !errors.Is(err, unix.EEXIST) {
		return 0, errors.Join(errors.New("to hold a thread twice does not fail with EEXIST"), err)
	}
	n, unscheduled, err := c.Unscheduled()
	if err != nil {
		return 0, err
	}
	if n != held {
		return 0, fmt.Errorf("the module holds %d threads, want %d", n, held)
	}
	guestcheck.Fact("threads", "%d held, %d of them ran at once", n, len(unscheduled))
	return held, nil
}

// runHeld checks that the module lets the held commit thread run when it has work.
func runHeld(c *ekm.Control, dir string, commit ekm.Thread) error {
	done := make(chan error, 1)
	go func() {
		time.Sleep(100 * time.Millisecond) // c.Run waits by then; the thread must not commit before
		done <- syncFile(dir, "third")
	}()
	ran, err := c.Run(commit.PID, 5*time.Second)
	if err := errors.Join(err, <-done); err != nil {
		return err
	}
	if !ran {
		return fmt.Errorf("%s had work and was allowed to run, and did not", commit.Comm)
	}
	guestcheck.Fact("threads", "%s ran while it was held, and was listed; allowed to run, it ran",
		commit.Comm)
	return nil
}

// releaseAll releases the held threads. It checks that each held thread has the lowest priority,
// and that the commit thread has its old priority afterwards.
func releaseAll(c *ekm.Control, held int, commit ekm.Thread) error {
	now, err := c.Threads()
	if err != nil {
		return err
	}
	for _, t := range now {
		if !t.Held {
			continue
		}
		if t.Nice != 19 {
			return fmt.Errorf("%s is held and has the nice value %d, want 19", t.Comm, t.Nice)
		}
		if err := c.Release(t.PID); err != nil {
			return err
		}
		held--
	}
	if held != 0 {
		return fmt.Errorf("the list of threads lacks %d held threads", held)
	}
	if now, err = c.Threads(); err != nil {
		return err
	}
	for _, t := range now {
		if t.PID == commit.PID && (t.Held || t.Nice != commit.Nice) {
			return fmt.Errorf("the released thread is %+v, it was %+v", t, commit)
		}
	}
	return nil
}
