// Command shapes measures commits whose shape could make the guard slow: a snapshot of a fragmented
// file, thousands of names with one hash, and others (package shape). It makes each shape at three
// sizes, a factor of four apart, on a real file system under the guard. It prints the change
// records of the commit that was held longest and the time that it was held. Of all commits, it
// prints the records and the processor time, with its slope: 1 if the time grows as the records do.
// A shape that is refused or undecided fails the run. Start reading at measure.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"fsward/dev/cost"
	"fsward/dev/load"
	"fsward/dev/shape"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "shapes:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	only := flag.String("only", ".", "measure only the shapes whose names match `REGEXP`")
	sizes := flag.Int("sizes", 3, "measure each shape at `N` sizes, a factor of four apart")
	full := flag.Bool("full", false, "end with the largest size of each shape, which takes hours")
	flag.Var(&limits, "memory", "as --memory of fsward guard, and --reserve after a comma, in MiB")
	list := flag.Bool("list", false, "instead, list the shapes with their largest sizes")
	one := flag.String("one", "",
		"instead, measure one `SHAPE` at the size that follows, and print the result as JSON")
	fsload := flag.String("fsload", "", "with -one: `PATH` of fsload")
	flag.StringVar(&profiles.dir, "profile", "", "with -one: write cpu.pprof of the guard, and "+
		"heap.pprof as it was when the heap was largest, to the folder `DIR`")
	flag.Parse()
	dir, err := os.MkdirTemp("", "fsward-shapes-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	switch {
	case *one != "":
		size, err := strconv.Atoi(flag.Arg(0))
		if err != nil {
			return err
		}
		return printOne(ctx, dir, *fsload, *one, size)
	case flag.NArg() > 0:
		return fmt.Errorf("unexpected argument %q", flag.Arg(0))
	}
	match, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	if *list {
		for _, s := range shape.All {
			fmt.Printf("%-60s %9d %9d\n", s.Name, s.Smallest, s.Full)
		}
		return nil
	}
	path, err := load.Build(ctx, dir)
	if err != nil {
		return err
	}
	return table(ctx, match, path, *sizes, *full)
}

// table measures the shapes and prints a row for each size. It returns an error if any commit did
// not hold.
func table(ctx context.Context, match *regexp.Regexp, fsload string, sizes int, full bool) error {
	fmt.Printf("%-62s %8s %9s %8s %9s %8s %9s %6s %8s %8s %6s %8s %s\n", "shape", "n", "records",
		"held s", "judged", "CPU s", "µs/record", "slope", "RSS MiB", "check s", "slope", "RSS MiB",
		"verdict")
	var failed error
	for _, s := range shape.All {
		if !match.MatchString(s.Name) {
			continue
		}
		var last result
		for i, n := range s.Sizes(sizes, full) {
			r, err := whole(ctx, &s, fsload, n)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				fmt.Printf("%-58s %8d failed: %v\n", s.Name, n, err)
				failed = errors.Join(failed, fmt.Errorf("%s, %d: %w", s.Name, n, err))
				break
			}
			spent, check := "-", "-"
			if i > 0 {
				spent = slope(last.Judged, r.Judged, last.CPU, r.CPU)
				check = slope(last.Checked, r.Checked, last.Check, r.Check)
			}
			fmt.Printf("%-62s %8d %9d %8.3f %9d %8.2f %9.2f %6s %8d %8.2f %6s %8d %s\n", s.Name, n,
				r.Records, r.Held.Seconds(), r.Judged, r.CPU.Seconds(),
				float64(r.CPU.Microseconds())/float64(max(r.Judged, 1)), spent,
				r.RSS>>10, r.Check.Seconds(), check, r.CheckRSS>>10, r.Verdict)
			if r.Verdict != "holds" {
				failed = errors.Join(failed, fmt.Errorf("%s, %d: %s\n%s", s.Name, n, r.Verdict, r.Alarms))
				break
			}
			last = r
		}
	}
	return failed
}

// slope returns the slope of the logarithm of a time over that of the records, or "-" if there are
// not twice as many records.
func slope(before, now int, t, u time.Duration) string {
	if now < max(1, 2*before) || t <= 0 || u <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", cost.Slope([]float64{float64(before), float64(now)},
		[]float64{t.Seconds(), u.Seconds()}))
}

// whole measures a shape in a process of its own. It repeats that, at most twice, if the commit was
// split.
func whole(ctx context.Context, s *shape.Shape, fsload string, n int) (r result, err error) {
	for range 3 {
		r = result{}
		err = cost.Child(ctx, &r, "-memory", limits.String(), "-fsload", fsload,
			"-one", s.Name, strconv.Itoa(n))
		if err != nil || r.Records >= s.Least*n || r.Verdict != "holds" {
			return r, err
		}
	}
	r.Verdict = fmt.Sprintf("split into commits of at most %d records", r.Records)
	return r, nil
}

// printOne measures a shape in this process.
func printOne(ctx context.Context, dir, fsload, name string, size int) error {
	for _, s := range shape.All {
		if s.Name == name {
			r, err := measure(ctx, &s, dir, fsload, size)
			if err != nil {
				return err
			}
			return json.NewEncoder(os.Stdout).Encode(r)
		}
	}
	return fmt.Errorf("no shape %q", name)
}
