//go:build vmtest

package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/machine"
	"fsward/explore/spec"
	"fsward/explore/usermode"
	"fsward/hostd/guardtest"
)

// BenchmarkGuestUserMode compares the processor time that the parts of a recovery take in the
// emulated guest and in user-mode Linux. The crash states are those of an exploration that recovers
// each in both. $FSWARD_FS has the file systems, separated by commas.
func BenchmarkGuestUserMode(b *testing.B) {
	dir, err := os.MkdirTemp("/tmp", "u")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(dir)
	b.Setenv("TMPDIR", dir) // by it the processes of the guest are found
	systems := os.Getenv("FSWARD_FS")
	if systems == "" {
		systems = "ext3,btrfs"
	}
	err = WithMachine(b.Context(), GuestConfig{Dir: guardtest.GuestDir(b)}, zap.NewNop(),
		func(m *machine.Machine) error {
			for fs := range strings.SplitSeq(systems, ",") {
				if err := benchUserMode(b, m, fs, dir); err != nil {
					return fmt.Errorf("%s: %w", fs, err)
				}
			}
			return nil
		})
	if err != nil {
		b.Fatal(err)
	}
}

// A timed recovers each crash state in both, and measures with one of them.
type timed struct {
	explore.System // user-mode Linux
	guest          *machine.Machine
	fs             string
	user, emulated func() time.Duration // processor time so far
	requests       int
	parted         bool
	snapshot       string
	pages          map[uint32][]agent.Page // of the present crash state
}

func (w *timed) Restore(ctx context.Context, disk uint32, name string) error {
	w.snapshot = name
	delete(w.pages, disk)
	return errors.Join(w.System.Restore(ctx, disk, name), w.guest.Restore(ctx, disk, name))
}

func (w *timed) WritePages(ctx context.Context, disk uint32, pages []agent.Page) error {
	w.pages[disk] = append(w.pages[disk], pages...)
	return errors.Join(w.System.WritePages(ctx, disk, pages), w.guest.WritePages(ctx, disk, pages))
}

// Snapshot is only for the new disk.
func (w *timed) Snapshot(ctx context.Context, disk uint32, name string) error {
	return errors.Join(w.System.Snapshot(ctx, disk, name), makeMountPoint(ctx, w.System))
}

// load loads the present crash state again.
func (w *timed) load(ctx context.Context) error {
	pages := slices.Clone(w.pages[0])
	return errors.Join(w.Restore(ctx, 0, w.snapshot), w.WritePages(ctx, 0, pages))
}

// both does a request in both.
func (w *timed) both(ask func(explore.System) error) error {
	return errors.Join(ask(w.guest), ask(w.System))
}

// Run runs a command of a recovery in both.
func (w *timed) Run(ctx context.Context, c agent.Command) (exit agent.Exit, err error) {
	return exit, w.both(func(s explore.System) (err error) {
		exit, err = s.Run(ctx, c)
		return err
	})
}

// Do does a request in both. With a later crash state it also measures the parts, once.
func (w *timed) Do(ctx context.Context, b agent.Batch) (done agent.Done, err error) {
	mounts := len(b.Ops) > 0 && b.Ops[0].Code == agent.Mount("", "", "", 0, "").Code
	if w.requests++; mounts && w.requests > 10 && !w.parted {
		w.parted = true
		if err := w.parts(ctx, b.Ops[0]); err != nil {
			return done, err
		}
	}
	return done, w.both(func(s explore.System) (err error) {
		done, err = s.Do(ctx, b)
		return err
	})
}

// repeats is how often a part is measured.
const repeats = 60

// parts measures the parts of a recovery that a mount begins.
func (w *timed) parts(ctx context.Context, mount agent.Op) error {
	_, _, texts, _ := mount.Fields()
	unmount, tree := agent.Unmount(texts[1], 0), agent.Tree(texts[1])
	for _, part := range []struct {
		name  string
		crash bool
		ops   []agent.Op
	}{
		{"an empty request", false, nil},
		{"mount with recovery, unmount", true, []agent.Op{mount, unmount}},
		{"the same of a clean disk", false, []agent.Op{mount, unmount}},
		{"mount with recovery, tree, unmount", true, []agent.Op{mount, tree, unmount}},
	} {
		guest, err := w.measure(ctx, w.guest, w.emulated, part.crash, part.ops)
		if err != nil {
			return err
		}
		user, err := w.measure(ctx, w.System, w.user, part.crash, part.ops)
		if err != nil {
			return err
		}
		fmt.Printf("%s, %s: guest %.2f ms, user-mode Linux %.2f ms, factor %.1f\n", w.fs, part.name,
			guest, user, guest/user)
	}
	return w.load(ctx)
}

// measure returns the processor time of a request, in milliseconds. With crash, the present crash
// state is loaded before each.
func (w *timed) measure(ctx context.Context, s explore.System, clock func() time.Duration,
	crash bool, ops []agent.Op) (float64, error) {
	began := clock()
	for range repeats {
		if crash {
			pages := w.pages[0]
			if err := errors.Join(s.Restore(ctx, 0, w.snapshot), s.WritePages(ctx, 0, pages)); err != nil {
				return 0, err
			}
		}
		done, err := s.Do(ctx, agent.Batch{Ops: ops, Timeout: time.Minute})
		if err = errors.Join(err, agent.CheckResults(ops, done.Results, time.Minute)); err != nil {
			return 0, err
		}
	}
	return (clock() - began).Seconds() * 1e3 / repeats, nil
}

// processorTime returns the processor time of processes.
func processorTime(pids map[string]bool) (sum time.Duration) {
	for pid := range pids {
		list, _ := filepath.Glob("/proc/" + pid + "/task/*/schedstat")
		for _, name := range list {
			var ns int64
			if text, err := os.ReadFile(name); err == nil {
				_, _ = fmt.Sscan(string(text), &ns)
			}
			sum += time.Duration(ns)
		}
	}
	return sum
}

// processesWith returns the PIDs of the processes whose command line has both texts.
func processesWith(a, b string) map[string]bool {
	out := make(map[string]bool)
	list, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range list {
		text, err := os.ReadFile(name)
		if err == nil && strings.Contains(string(text), a) && strings.Contains(string(text), b) {
			out[strings.Split(name, "/")[2]] = true
		}
	}
	return out
}

// benchUserMode explores a file system, and measures.
func benchUserMode(b *testing.B, m *machine.Machine, fs, dir string) error {
	s, err := spec.FileSystem(fs, "", "", "sync", "")
	if err != nil {
		return err
	}
	run := spec.Run{Spec: s, Strategy: explore.BreadthFirst, Depth: 1, Limit: 12, Seed: 1, Files: 1,
		Dirs: 1, NoAccount: true, NoJudge: true, NoCommits: true, RecoverIn: spec.InUserMode}
	cfg, bytes, err := inUserMode(&run)
	if err != nil {
		return err
	}
	emulator := processesWith("qemu-system", dir)
	return WithUserMode(b.Context(), userModeGuest(b, bytes),
		func(u *usermode.Machine) error {
			w := &timed{System: u, guest: m, fs: fs, pages: make(map[uint32][]agent.Page),
				emulated: func() time.Duration { return processorTime(emulator) },
				user:     func() time.Duration { return processorTime(userModeProcesses()) }}
			cfg.System, cfg.Recovery, cfg.Dir = m, w, b.TempDir()
			ctx, cancel := context.WithTimeout(b.Context(), 4*time.Minute)
			defer cancel()
			_, err := explore.Run(ctx, cfg)
			return err
		})
}

// userModeProcesses returns the PIDs of the descendants of this process, which are user-mode Linux,
// its sandbox, and the private libvirt, which then idles.
func userModeProcesses() map[string]bool {
	children := make(map[string][]string)
	list, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range list {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		children[fields[1]] = append(children[fields[1]], strings.Split(name, "/")[2])
	}
	out := make(map[string]bool)
	for todo := []string{fmt.Sprint(os.Getpid())}; len(todo) > 0; todo = todo[1:] {
		for _, pid := range children[todo[0]] {
			out[pid] = true
			todo = append(todo, pid)
		}
	}
	return out
}
