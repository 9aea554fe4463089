// Command overhead measures the cost of checks for a real file system of the host's kernel. It runs
// the same load through the same transport alternately with and without checks, and measures how
// the time of a commit grows with its size. It reports for each aim of docs/results/benchmarks.md
// whether the figure meets it. Start reading at bench.pairs and bench.growth.
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
	flag.StringVar(&b.fs, "fs", "btrfs", "`file system`: btrfs or ext3")
	pairs := flag.Int("pairs", 10, "`number` of pairs of runs, with and without checks")
	commands := flag.Int("commands", 10_000, "`number` of commands of the thesis's workload in a run")
	largest := flag.Int("files", 100_000, "`number` of new files in the largest commit")
	only := flag.String("only", "", "make only this `measurement`: programs, syncs or growth")
	flag.Parse()
	if flag.NArg() > 0 || *pairs < 1 || *largest < 1 ||
		!slices.Contains([]string{"", "programs", "syncs", "growth"}, *only) {
		return fmt.Errorf("unexpected arguments %q or -only, or fewer than one pair or file", flag.Args())
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

// A bench runs the measurements for one file system.
type bench struct {
	fs, dir, fsload string
	log             *zap.Logger
	aims            aims
}

// A recorder is a guard.Sink that keeps the size and the times of each commit.
type recorder struct {
	mu      sync.Mutex
	commits []commit
	refused int // number of writes
}

// A commit has the measurements of one commit or log commit.
type commit struct {
	records int
	held    time.Duration // from the arrival of the commit write to the verdict
	early   time.Duration // from the begin of its speculative check to that arrival; 0: none
}

// Event keeps the measurements of a commit.
func (s *recorder) Event(ev *guard.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ev.Action == guard.Refused {
		s.refused++
	}
	if ev.Kind == guard.KindCommit || ev.Kind == guard.KindLogCommit {
		s.commits = append(s.commits, commit{ev.Records, time.Duration(ev.CheckNS),
			time.Duration(ev.AheadNS)})
	}
}

// err returns an error if the run is not a measurement: the guard refused writes, or there was no
// commit.
func (s *recorder) err() error {
	switch {
	case s.refused > 0:
		return fmt.Errorf("the guard refused %d writes", s.refused)
	case len(s.commits) == 0:
		return errors.New("the guard saw no commit")
	}
	return nil
}

// A job is a load on a new file system.
type job struct {
	first   string   // a shell command that runs before the load, or ""
	load    string   // arguments of fsload
	mount   []string // options of mount
	size    int64    // of the disk, bytes
	checked bool
	// path for a log of the writes, or ""; record+".base" gets a copy of the disk at the beginning
	record string
}

// A cost is what a job took.
type cost struct {
	took    time.Duration
	used             // by this process, which serves and checks the disk; not by the load
	commits []commit // nil without checks
}

// do runs a job.
func (b *bench) do(ctx context.Context, j job) (out cost, err error) {
	image := filepath.Join(b.dir, "image")
	defer os.Remove(image)
	if err := load.Make(ctx, b.fs, []string{image}, j.size); err != nil {
		return cost{}, err
	}
	if j.record != "" {
		if err := load.Command(ctx, "cp", "--sparse=always", image, j.record+".base"); err != nil {
			return cost{}, err
		}
	}
	before := usage()
	defer func() { out.used = usage().less(before) }()
	r := load.Run{
		FS:      b.fs,
		Mount:   j.mount,
		Stages:  []load.Stage{{Script: j.first + b.fsload + " -dir . " + j.load}},
		Timeout: 10 * time.Minute,
	}
	if !j.checked {
		out.took, err = r.Unguarded(ctx, image, b.log)
		return out, err
	}
	s := &recorder{}
	cfg := guard.Config{
		Disks:    []guard.DiskSpec{{Name: "disk", Path: image}},
		FS:       detect.Auto,
		Policies: guard.Policies{OnViolation: guard.OnRefuse},
		Record:   j.record,
		Sinks:    []guard.Sink{s},
	}
	out.took, err = r.Guarded(ctx, cfg, b.log)
	if err == nil {
		err = s.err()
	}
	out.commits = s.commits
	return out, err
}

// used is the resource usage of a process.
type used struct {
	cpu    time.Duration // user and system
	faults int64         // minor page faults: first uses of pages
}

// usage returns the resource usage of this process so far.
func usage() used {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic(err) // getrusage fails only for wrong arguments
	}
	return used{time.Duration(u.Utime.Nano() + u.Stime.Nano()), u.Minflt}
}

func (u used) less(o used) used { return used{u.cpu - o.cpu, u.faults - o.faults} }

// notePages prints a note if this virtual machine reports its free pages to its host. The host
// takes these pages away, and the measurement then includes the time to get them back.
func notePages() {
	const order = "/sys/module/page_reporting/parameters/page_reporting_order"
	text, err := os.ReadFile(order)
	if err != nil {
		return
	}
	if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && n >= 0 && n <= maxOrder {
		fmt.Printf("note: this machine reports free pages to its host, which takes them away."+
			" Times are longer and vary more.\nTo disable the reports: echo %d > %s\n\n", maxOrder+1, order)
	}
}

// maxOrder is the order of the largest block of pages that Linux allocates (MAX_PAGE_ORDER).
const maxOrder = 10

func round(d time.Duration) string { return d.Round(10 * time.Microsecond).String() }
