// Command shapes measures commits whose shape could make the guard slow: a snapshot of a fragmented
// file, thousands of names with one hash, and others (shapes.go). It makes each shape at three
// sizes, a factor of four apart, on a real file system under the guard, and prints for the commit
// that was held longest: its change records, the time that it was held, this time for each record,
// and the slope, which is 1 if the time grows as the records do. A shape that is refused or
// undecided fails the run. Start reading at measure.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"fsward/dev/mix"
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
	flag.Var(&limits, "memory", "as --memory of fsward guard, and --reserve after a comma, in MiB")
	collide := flag.Int("collide", 0,
		"instead, make `N` empty files, 32 names to a hash of Btrfs, in the folder that follows")
	one := flag.String("one", "",
		"instead, measure one `SHAPE` at the size that follows, and print the result as JSON")
	flag.Parse()
	switch {
	case *collide > 0:
		return mix.MakeColliding(flag.Arg(0), *collide, 32)
	case *one != "":
		size, err := strconv.Atoi(flag.Arg(0))
		if err != nil {
			return err
		}
		return printOne(ctx, *one, size)
	case flag.NArg() > 0:
		return fmt.Errorf("unexpected argument %q", flag.Arg(0))
	}
	match, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	return table(ctx, match, *sizes)
}

// A result is what was measured of a shape at one size.
type result struct {
	Records int           // of the commit that was held longest
	Held    time.Duration // of that commit
	RSS     int64         // peak of the process while it guarded, KiB
	Check   time.Duration // of fsward check on the image afterwards
	Verdict string        // the worst of all commits and of the check
}

// table measures the shapes and prints a row for each size. It returns an error if any commit did
// not hold.
func table(ctx context.Context, match *regexp.Regexp, sizes int) error {
	fmt.Printf("%-52s %9s %9s %9s %9s %6s %9s %9s %s\n", "shape", "n", "records", "held s",
		"µs/record", "slope", "RSS MiB", "check s", "verdict")
	var failed error
	for _, s := range shapes {
		if !match.MatchString(s.name) {
			continue
		}
		var last result
		for i, n := 0, s.smallest; i < sizes; i, n = i+1, n*4 {
			r, err := inProcess(ctx, s.name, n)
			if err != nil {
				return fmt.Errorf("%s, %d: %w", s.name, n, err)
			}
			slope := "-"
			if i > 0 && last.Records > 0 && r.Records > last.Records {
				slope = fmt.Sprintf("%.2f", math.Log(r.Held.Seconds()/last.Held.Seconds())/
					math.Log(float64(r.Records)/float64(last.Records)))
			}
			fmt.Printf("%-52s %9d %9d %9.3f %9.2f %6s %9d %9.2f %s\n", s.name, n, r.Records,
				r.Held.Seconds(), float64(r.Held.Microseconds())/float64(max(r.Records, 1)), slope, r.RSS>>10,
				r.Check.Seconds(), r.Verdict)
			if r.Verdict != "holds" {
				failed = errors.Join(failed, fmt.Errorf("%s, %d: %s", s.name, n, r.Verdict))
				break
			}
			last = r
		}
	}
	return failed
}

// inProcess measures a shape in a process of its own.
func inProcess(ctx context.Context, name string, size int) (r result, err error) {
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	cmd := exec.CommandContext(ctx, self, "-memory", limits.String(), "-one", name,
		strconv.Itoa(size))
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(out, &r)
}

// printOne measures a shape in this process.
func printOne(ctx context.Context, name string, size int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "fsward-shapes-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, s := range shapes {
		if s.name == name {
			r, err := s.measure(ctx, filepath.Join(dir, "disk.img"), self, size)
			if err != nil {
				return err
			}
			return json.NewEncoder(os.Stdout).Encode(r)
		}
	}
	return fmt.Errorf("no shape %q", name)
}
