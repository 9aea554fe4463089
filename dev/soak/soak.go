// Command soak runs real loads on real file systems under the guard and expects no alarm: the guard
// must neither refuse a commit of a sound kernel nor leave it undecided. Each round makes a new
// file system and runs one load. Rounds differ in the options of mkfs and mount (variants.go) and
// in the load (workloads.go). They use the host's own kernel, or with -guest that of user-mode
// Linux. At the end of a round the file system's own checker checks the images. Start reading at
// round.run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"go.uber.org/zap"

	"fsward/dev/load"
	"fsward/explore/uml"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cfg := config{log: zap.NewNop(), out: os.Stdout}
	flag.StringVar(&cfg.fs, "fs", "btrfs", "`file system`: btrfs or ext3")
	flag.IntVar(&cfg.commits, "commits", 20_000,
		"stop after `N` checked commits, log commits included")
	flag.DurationVar(&cfg.time, "time", 0, "stop after this `DURATION`; 0: no limit")
	flag.Uint64Var(&cfg.seed, "seed", uint64(time.Now().UnixNano()),
		"`SEED` that determines the rounds and their loads")
	flag.DurationVar(&cfg.round, "round", 40*time.Second, "`DURATION` of the load of a round")
	flag.StringVar(&cfg.only, "only", "", "run only the load with this `NAME`")
	flag.IntVar(&cfg.disks, "disks", 1, "make only file systems on at least `N` disks")
	flag.StringVar(&cfg.variant, "variant", "",
		"make only the variants with this `TEXT` in their names")
	flag.BoolVar(&cfg.administrator, "administrator", false,
		"run each script of what administrators and programs do once, instead of loads")
	flag.BoolVar(&cfg.pressed, "pressed", false,
		"judge with few steps and little memory while rules are read again; undecided commits pass")
	flag.BoolVar(&cfg.guest, "guest", false,
		"use the kernel of a guest, user-mode Linux 6.1, instead of the host's")
	flag.Func("layout", "divide a blank disk by these `LAYOUTS`, with an ext3 and a Btrfs on it "+
		"under load: "+strings.Join(layouts, ","), func(list string) error {
		cfg.layouts = strings.Split(list, ",")
		return checkLayouts(cfg.layouts)
	})
	flag.StringVar(&cfg.keep, "keep", "", "keep the images and the log of a failed round in `DIR`")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flag.Arg(0))
	}
	dir, err := os.MkdirTemp("", "fsward-soak-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if cfg.fsload, err = load.Build(ctx, dir); err != nil {
		return err
	}
	cfg.dir = dir
	if cfg.guest {
		if cfg.machine, err = uml.New(ctx, dir); err != nil {
			return err
		}
	}
	total, err := cfg.soak(ctx)
	fmt.Fprintf(cfg.out, "soak: %s in %v, seed %d\n", total, time.Since(cfg.start).Round(time.Second),
		cfg.seed)
	return err
}

// config has the values of the flags and the files of the program.
type config struct {
	fs          string
	commits     int           // stop after this many checked commits
	time, round time.Duration // limit of the program, 0: none; length of a round
	seed        uint64
	only        string   // name of the only load; "": all loads
	variant     string   // part of the variant's name; "": all variants
	layouts     []string // of divided disks; nil: file systems have whole disks
	disks       int      // minimum number of disks of a file system
	guest       bool
	// administrator: run each script of administration once, also after one that failed
	administrator bool
	// pressed: undecided commits are no alarm, but a volume that stays unverified is
	pressed bool
	machine *uml.Machine // of the guest; nil for the host's own kernel
	ops     int          // operations of each worker; 0: time is the limit
	keep    string       // folder for the images and the log of a failed round; "" for none
	dir     string       // folder for the files of a round
	fsload  string       // path of the program
	out     io.Writer
	log     *zap.Logger

	start time.Time
}

// counts are the numbers of rounds, of checked commits, of their records, of changes of tables, and
// of undecided events.
type counts struct{ rounds, commits, logCommits, records, changes, undecided int }

func (c *counts) add(o counts) {
	c.rounds += o.rounds
	c.commits += o.commits
	c.logCommits += o.logCommits
	c.records += o.records
	c.changes += o.changes
	c.undecided += o.undecided
}

func (c counts) checked() int { return c.commits + c.logCommits }

func (c counts) String() string {
	text := fmt.Sprintf("%d rounds, %d commits, %d log commits, %d records", c.rounds, c.commits,
		c.logCommits, c.records)
	if c.undecided > 0 {
		text += fmt.Sprintf(", %d of them undecided", c.undecided)
	}
	if c.changes > 0 {
		text += fmt.Sprintf(", %d changes of tables", c.changes)
	}
	return text
}

// A runner is a round, or a dividedRound.
type runner interface {
	name() string
	run(ctx context.Context) (counts, error)
}

// rounds returns a function that returns the n-th round, nil after the last one.
func (c *config) rounds(ctx context.Context) (func(n int) runner, error) {
	if c.layouts != nil {
		return func(n int) runner { return c.dividedRound(n) }, nil
	}
	plan, err := newPlan(ctx, c)
	if err != nil {
		return nil, err
	}
	return func(n int) runner {
		if c.administrator && n >= len(plan.pairs) {
			return nil
		}
		return plan.round(n)
	}, nil
}

// soak runs rounds until enough commits were checked, the time is up, or a round fails. Scripts of
// administration all run.
func (c *config) soak(ctx context.Context) (total counts, err error) {
	c.start = time.Now()
	round, err := c.rounds(ctx)
	if err != nil {
		return total, err
	}
	var failed error
	for n := 0; total.checked() < c.commits && ctx.Err() == nil; n++ {
		if c.time > 0 && time.Since(c.start) >= c.time {
			break
		}
		r := round(n)
		if r == nil {
			break
		}
		got, err := r.run(ctx)
		total.add(got)
		if err != nil {
			err = fmt.Errorf("round %d (%s), repeat it with -seed %d: %w", n, r.name(), c.seed, err)
			if !c.administrator {
				return total, err
			}
			failed = errors.Join(failed, err)
			fmt.Fprintf(c.out, "soak: %v\n", err)
			continue
		}
		done := total.checked()
		fmt.Fprintf(c.out, "soak: round %d, %s: %d commits, %d log commits; in all %d%s\n",
			n, r.name(), got.commits, got.logCommits, done, c.estimate(done))
	}
	if total.checked() == 0 {
		return total, errors.New("no commit was checked")
	}
	return total, errors.Join(failed, ctx.Err())
}

// estimate returns a phrase with the remaining time at the present rate, and "" if it is unknown.
func (c *config) estimate(done int) string {
	if done == 0 || done >= c.commits || c.administrator {
		return ""
	}
	left := time.Duration(float64(time.Since(c.start)) * float64(c.commits-done) / float64(done))
	return fmt.Sprintf(" of %d, about %v left", c.commits, left.Round(time.Second))
}
