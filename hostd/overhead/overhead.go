// Command overhead measures what checking costs a real file system of the host's kernel: the same load
// through the same transport with and without checks, in turn, and how the time of a commit grows with it.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"go.uber.org/zap"

	"fsward/hostd"
	"fsward/hostd/load"
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
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flag.Arg(0))
	}
	var err error
	if b.dir, err = os.MkdirTemp("", "fsward-overhead-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if b.fsload, err = load.Build(ctx, b.dir); err != nil {
		return err
	}
	if err := b.pairs(ctx, *pairs, *commands); err != nil {
		return err
	}
	return b.growth(ctx, *largest)
}

type bench struct {
	fs, dir, fsload string
	log             *zap.Logger
}

// seen is a Sink that keeps what each commit was and took.
type seen struct {
	mu      sync.Mutex
	commits []commit
	bad     int
}

type commit struct {
	records int
	took    time.Duration // what was left to be interpreted and checked when the commit write came
	ahead   bool          // the rest was done before
}

func (s *seen) Event(ev *hostd.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ev.Action == hostd.Refused {
		s.bad++
	}
	if ev.Kind == hostd.KindCommit || ev.Kind == hostd.KindLogCommit {
		s.commits = append(s.commits, commit{ev.Records, time.Duration(ev.CheckNS), ev.AheadNS > 0})
	}
}

// once does a load on a new file system, behind a shell command, and returns how long it took and, if it was checked, the commits.
func (b *bench) once(ctx context.Context, first, script string, size int64, checked bool) (time.Duration, []commit, error) {
	image := filepath.Join(b.dir, "image")
	defer os.Remove(image)
	if err := load.Make(ctx, b.fs, []string{image}, size); err != nil {
		return 0, nil, err
	}
	r := load.Run{FS: b.fs, Script: first + b.fsload + " -dir . " + script, Timeout: 10 * time.Minute}
	if !checked {
		took, err := r.Unguarded(ctx, image, b.log)
		return took, nil, err
	}
	s := &seen{}
	cfg := hostd.Config{Disks: []hostd.DiskSpec{{Name: "disk", Path: image}}, FS: detect.Auto, OnViolation: hostd.OnRefuse, Sinks: []hostd.Sink{s}}
	took, err := r.Guarded(ctx, cfg, b.log)
	if err == nil && s.bad > 0 {
		err = fmt.Errorf("%d writes were refused", s.bad)
	}
	if err == nil && len(s.commits) == 0 {
		err = errors.New("no commit was seen")
	}
	return took, s.commits, err
}

// pairs runs the thesis's workload with and without checks, in turn, each pair in the other order.
func (b *bench) pairs(ctx context.Context, n, commands int) error {
	fmt.Printf("%s: %d commands of the thesis's workload, a commit after each hundredth, through FUSE and a loop device\n", b.fs, commands)
	fmt.Printf("%6s %12s %12s %8s %8s %8s %12s\n", "pair", "unchecked", "checked", "ratio", "commits", "ahead", "longest")
	var ratios []float64
	var all []commit
	for i := range n {
		script := fmt.Sprintf("-thesis %d -commits -seed %d", commands, i)
		var took [2]time.Duration
		var commits []commit
		for j := range 2 {
			checked := (i+j)%2 == 1
			t, c, err := b.once(ctx, "", script, 4<<30, checked)
			if err != nil {
				return err
			}
			if checked {
				took[1], commits = t, c
			} else {
				took[0] = t
			}
		}
		ratio := took[1].Seconds() / took[0].Seconds()
		ratios = append(ratios, ratio)
		all = append(all, commits...)
		longest := slices.MaxFunc(commits, func(a, b commit) int { return cmp.Compare(a.took, b.took) })
		ahead := 0
		for _, c := range commits {
			if c.ahead {
				ahead++
			}
		}
		fmt.Printf("%6d %12s %12s %8.3f %8d %8d %12s\n", i+1, round(took[0]), round(took[1]), ratio, len(commits), ahead, round(longest.took))
	}
	slices.Sort(ratios)
	slices.SortFunc(all, func(a, b commit) int { return cmp.Compare(a.took, b.took) })
	fmt.Printf("median of wall time checked / unchecked: %.3f\n", (ratios[(n-1)/2]+ratios[n/2])/2)
	fmt.Printf("added to a commit: median %s, p99 %s (%d commits)\n\n", round(all[len(all)/2].took), round(all[len(all)*99/100].took), len(all))
	return nil
}

// growth makes commits of more and more new files, behind the first commit of the mount, which says so in the
// superblock and cannot be foreseen.
func (b *bench) growth(ctx context.Context, largest int) error {
	fmt.Printf("%s: one commit of new files\n%10s %10s %12s %14s\n", b.fs, "files", "records", "checked in", "ns per record")
	for files := min(100, largest); ; files = min(files*10, largest) {
		_, commits, err := b.once(ctx, "touch first; sync -f .; ", fmt.Sprintf("-fill %d", files), 8<<30, true)
		if err != nil {
			return err
		}
		// The kernel may have committed earlier by itself: all that it took, for all the files.
		var total commit
		for _, c := range commits {
			total.records += c.records
			total.took += c.took
		}
		fmt.Printf("%10d %10d %12s %14.0f\n", files, total.records, round(total.took), float64(total.took.Nanoseconds())/float64(total.records))
		if files == largest {
			return nil
		}
	}
}

func round(d time.Duration) string { return d.Round(10 * time.Microsecond).String() }
