// Command cliffs looks for commits on which the guard spends more than in proportion: it draws
// random mixtures of operations (dev/mix), runs each at n, 2n and 4n on a real file system under
// the guard, and fits the slope of the processor time. A slope above 1.15 that a second measurement
// at 2n, 4n and 8n confirms is a cliff. It names the rule, or the function of the interpreter, that
// costs most, drops operations that the cliff does not need, and keeps a folder with the program. A
// verdict other than "holds" on a sound file system is an alarm and kept too. Start reading at
// search.run.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"fsward/dev/load"
	"fsward/dev/mix"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "cliffs:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s := search{out: os.Stdout}
	var only string
	flag.Uint64Var(&s.seed, "seed", uint64(time.Now().UnixNano()),
		"`SEED` of the first mixture; each of the next ones has the next number")
	flag.Float64Var(&s.hours, "hours", 1, "stop after this many `HOURS`")
	flag.StringVar(&s.fs, "fs", "", "only this `file system`: btrfs or ext3")
	flag.StringVar(&only, "only", ".", "run only mixtures whose lines match `REGEXP`")
	flag.IntVar(&s.n, "n", 2000, "`N`, the number of operations in a phase at the smallest size")
	flag.IntVar(&s.most, "mixtures", 0, "stop after this many mixtures; 0: no limit")
	flag.StringVar(&s.keep, "keep", "build/cliffs", "folder `DIR` for what is found")
	program := flag.String("replay", "", "instead, measure the mixture in `FILE`")
	one := flag.String("one", "", "instead, measure the mixture in `FILE` at n, and print JSON")
	fsload := flag.String("fsload", "", "with -one: `PATH` of fsload")
	profile := flag.String("profile", "", "with -one: write the functions that take most to `FILE`")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flag.Arg(0))
	}
	var err error
	if s.only, err = regexp.Compile(only); err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp("", "fsward-cliffs-"); err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	if *one != "" {
		return printOne(ctx, *one, job{n: s.n, fsload: *fsload, dir: s.dir, profile: *profile})
	}
	if s.fsload, err = load.Build(ctx, s.dir); err != nil {
		return err
	}
	if *program != "" {
		m, err := read(*program)
		if err != nil {
			return err
		}
		return s.replay(ctx, m)
	}
	return s.run(ctx)
}

// printOne measures a mixture in this process.
func printOne(ctx context.Context, file string, j job) error {
	m, err := read(file)
	if err != nil {
		return err
	}
	j.file = file
	samples, err := j.measure(ctx, m)
	return errors.Join(err, json.NewEncoder(os.Stdout).Encode(samples))
}

// read reads the program of a mixture.
func read(file string) (m mix.Mixture, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(text, &m)
}

// write writes the program of a mixture.
func write(dir string, m mix.Mixture) (file string, err error) {
	text, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, "mixture.json")
	return file, os.WriteFile(file, append(text, '\n'), 0o644)
}
