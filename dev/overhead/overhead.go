// Command overhead measures the cost of checking for a real file system of the host's kernel. It
// runs the same load through the same transport alternately with and without checks, and measures
// how the time of a commit grows with its size. It reports for each aim
// (docs/results/benchmarks.md) whether it was met.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"fsward/dev/load"
	"fsward/hostd/guard"
	"fsward/hostd/memory"
	"fsward/interp/detect"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "overhead:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b := bench{log: zap.NewNop()}
	flag.StringVar(&b.fs, "fs", "btrfs", "file system: btrfs or ext3")
	pairs := flag.Int("pairs", 10, "how many pairs of runs, with and without checks")
	commands := flag.Int("commands", 10_000, "commands of the thesis's workload in a run")
	largest := flag.Int("files", 100_000, "new files of the largest commit")
	only := flag.String("only", "", "measure this alone: programs, syncs, growth")
	flag.Parse()
	if flag.NArg() > 0 || *pairs < 1 || *largest < 1 ||
		!slices.Contains([]string{"", "programs", "syncs", "growth"}, *only) {
		return fmt.Errorf("unexpected arguments %q, or too few pairs or files", flag.Args())
	}
	memory.SetLimit(memory.Limits{}.Total(1)) // as fsward guard does
	notePages()
	var err error
	if b.dir, err = os.MkdirTemp("", "fsward-overhead-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if b.fsload, err = load.Build(ctx, b.dir); err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		run  func() error
	}{
		{"programs", func() error { return b.programs(ctx, *pairs, *commands) }},
		{"syncs", func() error { return b.syncs(ctx, *pairs, *commands) }},
		{"growth", func() error { return b.growth(ctx, *largest) }},
	} {
		if *only != "" && *only != part.name {
			continue
		}
		if err := part.run(); err != nil {
			return err
		}
	}
	b.aims.print(b.fs)
	return nil
}

type bench struct {
	fs, dir, fsload string
	log             *zap.Logger
	aims            aims
}

// seen is a Sink that keeps the size and time of each commit.
type seen struct {
	mu      sync.Mutex
	commits []commit
	bad     int
}

type commit struct {
	records int
	held    time.Duration // from the arrival of the commit write to the verdict
	ahead   time.Duration // how long before that its speculative check began; 0 without one
}

func (s *seen) Event(ev *guard.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ev.Action == guard.Refused {
		s.bad++
	}
	if ev.Kind == guard.KindCommit || ev.Kind == guard.KindLogCommit {
		s.commits = append(s.commits, commit{ev.Records, time.Duration(ev.CheckNS),
			time.Duration(ev.AheadNS)})
	}
}

// err returns why a run cannot be measured.
func (s *seen) err() error {
	switch {
	case s.bad > 0:
		return fmt.Errorf("%d writes were refused", s.bad)
	case len(s.commits) == 0:
		return errors.New("no commit was seen")
	}
	return nil
}

// A job is a load on a new file system.
type job struct {
	first   string   // a shell command before it, or ""
	load    string   // arguments of fsload
	mount   []string // options of mount
	size    int64    // of the disk, bytes
	checked bool
	// path for a log of the writes, or ""; record+".base" gets a copy of the disk at the beginning
	record string
}

// done is the cost of a job.
type done struct {
	took    time.Duration
	used             // by this process, which serves the disk and checks it; not by the load
	commits []commit // nil if it was not checked
}

// do runs a job.
func (b *bench) do(ctx context.Context, j job) (out done, err error) {
	image := filepath.Join(b.dir, "image")
	defer os.Remove(image)
	if err := load.Make(ctx, b.fs, []string{image}, j.size); err != nil {
		return done{}, err
	}
	if j.record != "" {
		if err := load.Command(ctx, "cp", "--sparse=always", image, j.record+".base"); err != nil {
			return done{}, err
		}
	}
	before := usage()
	defer func() { out.used = usage().less(before) }()
	r := load.Run{FS: b.fs, Mount: j.mount, Stages: []load.Stage{{Script: j.first + b.fsload +
		" -dir . " + j.load}}, Timeout: 10 * time.Minute}
	if !j.checked {
		out.took, err = r.Unguarded(ctx, image, b.log)
		return out, err
	}
	s := &seen{}
	cfg := guard.Config{Disks: []guard.DiskSpec{{Name: "disk", Path: image}}, FS: detect.Auto,
		OnViolation: guard.OnRefuse, Record: j.record, Sinks: []guard.Sink{s}}
	out.took, err = r.Guarded(ctx, cfg, b.log)
	if err == nil {
		err = s.err()
	}
	out.commits = s.commits
	return out, err
}

// used is what a process used of the machine.
type used struct {
	cpu    time.Duration // user and system
	faults int64         // pages that it used for the first time, or again after it had freed them
}

func usage() used {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic(err) // its arguments are right
	}
	return used{time.Duration(u.Utime.Nano() + u.Stime.Nano()), u.Minflt}
}

func (u used) less(o used) used { return used{u.cpu - o.cpu, u.faults - o.faults} }

// notePages prints a warning if the host takes back the free pages of this virtual machine. Then
// each page that is used for the first time is fetched from the host, and the measurement includes
// that time.
func notePages() {
	const order = "/sys/module/page_reporting/parameters/page_reporting_order"
	text, err := os.ReadFile(order)
	if err != nil {
		return
	}
	if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && n >= 0 && n <= maxOrder {
		fmt.Printf("note: this machine reports free pages to its host, which takes them: times are longer, and differ more. echo %d > %s ends that\n\n", maxOrder+1, order)
	}
}

// maxOrder is the order of the largest block of pages that Linux allocates (MAX_PAGE_ORDER).
const maxOrder = 10

func round(d time.Duration) string { return d.Round(10 * time.Microsecond).String() }
