package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"fsward/dev/cost"
	"fsward/dev/mix"
	"fsward/interp/detect"
)

// A search draws mixtures until its time is up.
type search struct {
	seed   uint64
	hours  float64
	most   int
	n      int
	fs     string
	only   *regexp.Regexp
	keep   string
	fsload string
	dir    string
	out    io.Writer

	floors map[string][]time.Duration // by file system: of an empty phase and of a check
	found  []finding
}

// A finding is a cliff, or a verdict on a sound file system that is not "holds".
type finding struct {
	cliff
	m        mix.Mixture
	function string // that takes most
	folder   string
}

// run draws mixtures and prints a line for each, and at the end the table of what it found.
func (s *search) run(ctx context.Context) error {
	until := time.Now().Add(time.Duration(s.hours * float64(time.Hour)))
	start, measured, failed := time.Now(), 0, 0
	for seed := s.seed; time.Now().Before(until) && ctx.Err() == nil; seed++ {
		m := s.draw(seed)
		if s.fs != "" && m.FS != s.fs || !s.only.MatchString(m.String()) {
			continue
		}
		if s.most > 0 && measured == s.most {
			break
		}
		measured++
		if err := s.one(ctx, m); err != nil && ctx.Err() == nil {
			failed++
			fmt.Fprintf(s.out, "%d FAILED %s: %v\n", seed, m, err)
		}
	}
	fmt.Fprintf(s.out, "\n%d mixtures in %.1f hours, %d could not be measured; %d findings\n",
		measured, time.Since(start).Hours(), failed, len(s.found))
	s.table()
	return nil
}

// draw returns the mixture of a seed. File systems and kinds take turns.
func (s *search) draw(seed uint64) mix.Mixture {
	fs := s.fs
	if fs == "" {
		fs = []string{"btrfs", "ext3"}[seed/8%2]
	}
	switch seed % 8 {
	case 3:
		return mix.RandomGenerated(fs, seed)
	case 5:
		return mix.RandomGenerated(fs, seed).Altered(fields(fs))
	case 6:
		return mix.Random(fs, seed).Altered(fields(fs))
	default:
		return mix.Random(fs, seed)
	}
}

// fields lists the fields that a hostile guest may alter.
func fields(fs string) (list []string) {
	for _, a := range detect.Alterables(fs) {
		for _, f := range a.Fields {
			list = append(list, a.Object+"."+f.Name)
		}
	}
	return list
}

// one measures a mixture, and what it found again.
func (s *search) one(ctx context.Context, m mix.Mixture) error {
	sizes, at, err := s.measure(ctx, m, s.n, 1, 2, 4)
	if err != nil {
		return err
	}
	found := s.cliffs(m, sizes, at)
	text := alarms(at[len(at)-1])
	fmt.Fprintf(s.out, "%d %s: %s%s\n", m.Seed, m, summary(at), candidates(found))
	if text != "" {
		return s.report(ctx, finding{cliff: cliff{What: "ALARM " + text}, m: m})
	}
	if len(found) == 0 {
		return nil
	}
	c, n, ok := s.confirm(ctx, m, found)
	if !ok {
		return nil
	}
	m, c = s.minimize(ctx, m, c, n)
	return s.report(ctx, finding{cliff: c, m: m})
}

// confirm measures a mixture at twice the sizes, and returns the cliff that is there again.
func (s *search) confirm(ctx context.Context, m mix.Mixture, found []cliff) (c cliff, n int,
	ok bool) {
	n = 2 * s.n
	sizes, at, err := s.measure(ctx, m, n, 1, 2, 4)
	if ctx.Err() != nil {
		return c, n, false
	}
	if err != nil {
		// The larger size takes too long; the cliff stands as it is.
		return found[0], s.n, true
	}
	for _, again := range s.cliffs(m, sizes, at) {
		for _, before := range found {
			if before.What == again.What {
				return again, n, true
			}
		}
	}
	return c, n, false
}

// measure measures a mixture at several sizes, n times each of factors.
func (s *search) measure(ctx context.Context, m mix.Mixture, n int, factors ...int) (sizes []int,
	at [][]sample, err error) {
	for _, factor := range factors {
		size := n * factor
		samples, err := s.child(ctx, m, size, "")
		if err != nil {
			return nil, nil, fmt.Errorf("at %d: %w", size, err)
		}
		sizes, at = append(sizes, size), append(at, samples)
	}
	return sizes, at, nil
}

// child measures a mixture in a process of its own.
func (s *search) child(ctx context.Context, m mix.Mixture, n int, profile string) (got []sample,
	err error) {
	file, err := write(s.dir, m)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	args := []string{"-one", file, "-n", strconv.Itoa(n), "-fsload", s.fsload}
	if profile != "" {
		args = append(args, "-profile", profile)
	}
	return got, cost.Child(ctx, &got, args...)
}

// cliffs returns the cliffs of a mixture, from samples at several sizes.
func (s *search) cliffs(m mix.Mixture, sizes []int, at [][]sample) (found []cliff) {
	for i, first := range at[0] {
		var same []sample
		for _, samples := range at {
			if i < len(samples) && samples[i].What == first.What {
				same = append(same, samples[i])
			}
		}
		if len(same) == len(sizes) {
			found = append(found, cliffs(sizes, same, s.floor(m.FS, first.What))...)
		}
	}
	return found
}

// floor returns the time that an empty phase of a file system takes, or the check of an empty one.
func (s *search) floor(fs, what string) time.Duration {
	if s.floors == nil {
		s.floors = make(map[string][]time.Duration)
	}
	if s.floors[fs] == nil {
		s.floors[fs] = []time.Duration{0, 0}
		m := mix.Mixture{FS: fs, Phases: []mix.Phase{{}}}
		if got, err := s.child(context.Background(), m, 1, ""); err == nil && len(got) == 2 {
			s.floors[fs] = []time.Duration{got[0].CPU, got[1].CPU}
		}
	}
	if what == "check" {
		return s.floors[fs][1]
	}
	return s.floors[fs][0]
}

// minimize drops parts of a mixture while the cliff stays.
func (s *search) minimize(ctx context.Context, m mix.Mixture, c cliff, n int) (mix.Mixture, cliff) {
	until := time.Now().Add(10 * time.Minute)
	return minimize(m, c, func(less mix.Mixture) (cliff, bool) {
		if ctx.Err() != nil || time.Now().After(until) {
			return cliff{}, false
		}
		sizes, at, err := s.measure(ctx, less, n, 1, 4)
		if err != nil {
			return cliff{}, false
		}
		for _, again := range s.cliffs(less, sizes, at) {
			if again.Part == c.Part && (again.What == "check") == (c.What == "check") {
				return again, true
			}
		}
		return cliff{}, false
	})
}

// minimize drops parts of a mixture as long as still returns the cliff for what remains.
func minimize(m mix.Mixture, c cliff, still func(mix.Mixture) (cliff, bool)) (mix.Mixture, cliff) {
	for again := true; again; {
		again = false
		for _, less := range m.Without() {
			if got, ok := still(less); ok {
				m, c, again = less, got, true
				break
			}
		}
	}
	return m, c
}

// report keeps a finding in a folder, with the program and the functions that take most.
func (s *search) report(ctx context.Context, f finding) error {
	f.folder = filepath.Join(s.keep, fmt.Sprintf("%s-%d", f.m.FS, f.m.Seed))
	if err := os.MkdirAll(f.folder, 0o755); err != nil {
		return err
	}
	_, err := write(f.folder, f.m)
	profile := filepath.Join(f.folder, "functions.txt")
	_, failed := s.child(ctx, f.m, 4*s.n, profile)
	text, _ := os.ReadFile(profile) // is missing if the run failed
	f.function = topFunction(string(text), f.What)
	s.found = append(s.found, f)
	line := fmt.Sprintf("FOUND %s\n", f)
	fmt.Fprint(s.out, line)
	return errors.Join(err, failed, os.WriteFile(filepath.Join(f.folder, "finding.txt"), []byte(line),
		0o644))
}

// topFunction returns the function that takes most in a section of the functions' file.
func topFunction(text, section string) string {
	_, text, _ = strings.Cut(text, "== "+section+"\n")
	_, text, _ = strings.Cut(text, "cum%\n")
	line, _, _ := strings.Cut(text, "\n")
	if words := strings.Fields(line); len(words) > 5 {
		return words[5] + " " + words[1]
	}
	return ""
}

// replay measures a kept mixture and prints its slopes.
func (s *search) replay(ctx context.Context, m mix.Mixture) error {
	sizes, at, err := s.measure(ctx, m, s.n, 1, 2, 4)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s\n", m)
	for i, samples := range at {
		for _, one := range samples {
			fmt.Fprintf(s.out, "%8d %-8s %8d records %9.3f s CPU %7d MiB %s\n", sizes[i], one.What,
				one.Records, one.CPU.Seconds(), one.RSS>>10, one.Verdict)
		}
	}
	for _, c := range s.cliffs(m, sizes, at) {
		fmt.Fprintln(s.out, c)
	}
	return nil
}
