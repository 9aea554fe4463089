package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"fsward/change"
	"fsward/explore"
	"fsward/explore/checkers"
	"fsward/explore/component"
	"fsward/explore/host"
	"fsward/explore/machine"
	"fsward/explore/report"
	"fsward/explore/spec"
)

func exploreCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "explore",
		Short: "Drive storage through all choices and crashes, and say what it loses",
		Long: `Boots a guest, makes a file system or any stack of storage on RAM disks in it, and does to it all that
a checker knows to do, in all orders. Where the checker asks for it, each disk that a crash could have
left is recovered and looked at. What is found can be replayed.

docs/user/exploring.md says how to begin, and how to write checkers and components.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(exploreRunCommand(), exploreSurveyCommand(), exploreResumeCommand(), exploreReplayCommand(), exploreReportCommand())
	return c
}

func checkerList() string {
	var b strings.Builder
	for _, n := range checkers.Names() {
		fmt.Fprintf(&b, "  %-16s %s\n", n[0], n[1])
	}
	return b.String()
}

// exploreFlags are those of all that boots a guest.
type exploreFlags struct {
	guest   host.GuestConfig
	json    bool
	verbose bool
}

func (f *exploreFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.guest.Dir, "guest", "build/guest", "`DIR` with what make guest built")
	c.Flags().UintVar(&f.guest.MemoryMiB, "memory", 384, "memory of the guest, `MIB`")
	c.Flags().UintVar(&f.guest.LogMiB, "log", 64, "size of the log of the RAM disks, `MIB`: what one step with all before it may write")
	c.Flags().StringVar(&f.guest.Console, "console", "", "`FILE` for what the guest's console said")
	c.Flags().BoolVar(&f.json, "json", false, "print one JSON object a line")
	c.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "show the log")
}

func (f *exploreFlags) log() *zap.Logger {
	if f.verbose {
		return newLog(true)
	}
	return zap.NewNop()
}

func exploreRunCommand() *cobra.Command {
	var f exploreFlags
	var r spec.Run
	var fs, mountOptions, mkfsOptions, stack, out, size string
	var limit time.Duration
	var guarded bool
	c := &cobra.Command{
		Use:   "run --fs FS --checker CHECKER --out DIR",
		Short: "Explore a file system or a stack, until all was done or the time is up",
		Long: fmt.Sprintf(`Explores one file system on one RAM disk (--fs), or what a file describes (--stack). File systems and
other components: %s; or a YAML file.

Checkers, and what they ask:
%s
Exit status: 0 nothing was found, 1 errors were found, 2 wrong usage, 3 could not run. The last line
with --json is {"event":"explored",...}. A run that was stopped, killed or had no time left goes on with
fsward explore resume DIR.`, strings.Join(component.Names(), ", "), checkerList()),
		Example: `  fsward explore run --fs ext3 --checker sync --time 10m --out ext3
  fsward explore run --fs btrfs --mount-options compress=zstd --checker reasonable --search random --time 1h --out btrfs
  fsward explore run --stack raid.yaml --out raid`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			checker := r.Checker
			switch {
			case (fs == "") == (stack == ""):
				err = errors.New("one of --fs and --stack is wanted")
			case stack != "":
				if r.Spec, err = spec.Read(stack); checker != "" {
					r.Checker = checker
				}
			default:
				r.Spec, err = spec.FileSystem(fs, mountOptions, mkfsOptions, checker, size)
				if guarded {
					r.Guarded = []string{r.Layers[0].On[0]}
				}
			}
			if err == nil && r.Checker == "" {
				err = errors.New("no checker is named; --checker sync is one")
			}
			if err == nil {
				err = errors.Join(r.Strategy.Check(), r.Restore.Check(), r.From.Check(), explore.CheckThreads(r.Threads))
			}
			if err != nil {
				return usageError{err, c.CommandPath()}
			}
			if _, err := os.Stat(out); err == nil {
				if _, err := explore.Origin(out); err == nil {
					return usageError{fmt.Errorf("in %s there is a run already: fsward explore resume %[1]s goes on with it", out), c.CommandPath()}
				}
			}
			if _, err := r.Config(); err != nil {
				return usageError{err, c.CommandPath()}
			}
			return f.explore(c, r, out, limit)
		},
	}
	f.add(c)
	c.Flags().StringVar(&fs, "fs", "", "file system on one RAM disk: its name, or a YAML `FILE`")
	c.Flags().StringVar(&mountOptions, "mount-options", "", "`OPTIONS` of mount, with commas")
	c.Flags().StringVar(&mkfsOptions, "mkfs-options", "", "`OPTIONS` of mkfs, as a shell takes them")
	c.Flags().StringVar(&size, "size", "", "`SIZE` of the RAM disk, such as 64M; as the file system wants it where it is not given")
	c.Flags().StringVar(&stack, "stack", "", "YAML `FILE` of disks, layers and the checker")
	c.Flags().StringVar(&r.Checker, "checker", "", "what is asked: a name, or a YAML `FILE`")
	c.Flags().DurationVar(&limit, "time", 10*time.Minute, "how long, such as 10m; 0: until all was done")
	c.Flags().StringVar(&out, "out", "", "`DIR` for the run's state and a folder for each error")
	c.Flags().BoolVar(&guarded, "guarded", false, "guard the disk of --fs as fsward guard does: what that refuses fails in the guest, and is an error")
	addHowFlags(c, &r, spec.Run{Limit: 64})
	_ = c.MarkFlagRequired("out") // the flag is there
	return c
}

// addHowFlags adds the flags that say how something is explored. d has what some are where they are not given.
func addHowFlags(c *cobra.Command, r *spec.Run, d spec.Run) {
	c.Flags().IntVar(&r.Files, "files", d.Files, "files that a checker makes at most, beside each other; 0: as it likes")
	c.Flags().IntVar(&r.Dirs, "dirs", d.Dirs, "directories that a checker makes at most; 0: as it likes")
	c.Flags().StringVar((*string)(&r.Strategy), "search", string(explore.BreadthFirst), fmt.Sprintf("which state is next: %v", explore.Strategies()))
	c.Flags().IntVar(&r.Depth, "depth", 0, "how many steps follow each other at most; 0: as many as there are")
	c.Flags().IntVar(&r.Limit, "crash-limit", d.Limit, "crash disks at one moment; where there are more, they are a sample")
	c.Flags().StringVar((*string)(&r.From), "crash-from", string(explore.FromWrites), "what crash disks are formed from: writes, those that were submitted; write-set, also what the kernel had marked dirty and could write whenever it liked")
	c.Flags().BoolVar(&r.Torn, "torn", false, "a crash can cut a write between two sectors")
	c.Flags().Uint64Var(&r.Seed, "seed", 1, "of what is sampled, and of --search random")
	c.Flags().IntVar(&r.MaxFaults, "failures", 0, "how many calls inside the kernel fail at most in one step: none, then each call site alone, then two, …")
	c.Flags().BoolVar(&r.Recovery, "recovery-crashes", false, "crash while the disks that crashes left are recovered, too")
	c.Flags().BoolVar(&r.Verify, "double-fsck", false, "have the file system's comprehensive check look at what was recovered, and recover in that way, too: both have to come to the same")
	c.Flags().BoolVar(&r.NoJudge, "no-invariants", false, "do not judge crash disks by the invariants before they are recovered")
	c.Flags().BoolVar(&r.Through, "write-through", false, "the disks have no cache: what has completed is durable without a flush")
	c.Flags().BoolVar(&r.NoPrune, "no-prune", false, "judge and recover crash disks again that are like others")
	c.Flags().BoolVar(&r.ProcessCrashes, "soft-crashes", false, "crash the programs of a step, too, at each system call between crash: start and crash: end")
	c.Flags().StringVar((*string)(&r.Restore), "restore", string(explore.ByCost), fmt.Sprintf("how a state is reached: %v", explore.Restorings()))
	c.Flags().BoolVar(&r.HostOnly, "host-only", false, "crash disks are judged by the invariants alone: no recovery, and nothing is asked of what was lost")
	c.Flags().DurationVar(&r.Threads, "threads", 0, "have the kernel's threads of each component run when it is their turn: that of none, or of one, before each step; it has so long, such as 8s, to have something to do. 0: they run as they like")
	c.Flags().BoolVar(&r.NoAccount, "no-account", false, "do not hold calls that make things durable against the flushes that they waited for")
}

func exploreResumeCommand() *cobra.Command {
	var f exploreFlags
	var limit time.Duration
	c := &cobra.Command{
		Use:   "resume DIR",
		Short: "Go on with a run that was stopped, killed or had no time left",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			origin, err := explore.Origin(args[0])
			if err != nil {
				return err
			}
			r, err := spec.Saved(origin)
			if err != nil {
				return err
			}
			return f.explore(c, r, args[0], limit)
		},
	}
	f.add(c)
	c.Flags().DurationVar(&limit, "time", 10*time.Minute, "how long, such as 10m; 0: until all was done")
	return c
}

func exploreReportCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "report DIR...",
		Short: "Make one HTML file of what runs have found",
		Long: `A table of storage by property, and each error with what was done, what was expected and found, a picture of the writes, the
flushes and the crash, and the command that shows it again. A FILE that ends in .md has the table alone, with a line for each error.`,
		Example: "  fsward explore report --out report.html ext3-sync ext3-reasonable vfat-sync",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var runs []report.Run
			for _, dir := range args {
				r, err := report.Read(dir)
				if errors.Is(err, explore.ErrNotBegun) {
					fmt.Fprintf(c.ErrOrStderr(), "left out: %v\n", err)
					continue
				}
				if err != nil {
					return err
				}
				runs = append(runs, r)
			}
			f, err := os.Create(out)
			if err != nil {
				return err
			}
			write := report.Write
			if filepath.Ext(out) == ".md" {
				write = report.WriteMarkdown
			}
			return errors.Join(write(f, runs), f.Close())
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "explore.html", "`FILE` that is written")
	return c
}

// explore runs or goes on with a run, and prints what it finds.
func (f *exploreFlags) explore(c *cobra.Command, r spec.Run, dir string, limit time.Duration) error {
	cfg, err := r.Config()
	if err != nil {
		return err
	}
	cfg.Dir = dir
	p := &exploreProgress{out: c.OutOrStdout(), err: c.ErrOrStderr(), json: f.json, limit: limit}
	cfg.OnEvent = p.event
	var sum explore.Summary
	err = host.WithMachine(c.Context(), f.guest, f.log(), func(m *machine.Machine) error {
		cfg.System, cfg.Guard = m, &host.Guard{Log: f.log()}
		ctx := c.Context()
		if limit > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, limit)
			defer cancel()
		}
		p.began = time.Now()
		var err error
		sum, err = explore.Run(ctx, cfg)
		return err
	})
	if err != nil {
		return err
	}
	p.explored(sum, dir)
	if len(sum.Errors) > 0 {
		return outcome(change.Violated)
	}
	return nil
}

// exploreProgress prints what happens.
type exploreProgress struct {
	out, err io.Writer
	json     bool
	limit    time.Duration
	runs     uint64 // that end it; 0: none do
	began    time.Time
	first    *explore.Totals // of this part of the run
	last     time.Time
	crashes  uint64    // as last told
	crashed  time.Time // when there was a new crash disk
	errors   int
}

const progressLine = 10 * time.Second // between two, for people

func (p *exploreProgress) event(e explore.Event) {
	if p.first == nil {
		t := e.Totals
		p.first = &t
	}
	if p.json {
		_ = json.NewEncoder(p.out).Encode(e)
		return
	}
	switch e.Event {
	case "error":
		p.errors++
		fmt.Fprintf(p.out, "found: %s (%s)\n  %s\n", e.Error.Kind, e.Error.Dir, strings.ReplaceAll(e.Error.Summary, "\n", "\n  "))
	case "diverged", "strayed":
		fmt.Fprintf(p.err, "%s: %s\n", e.Event, e.Text)
	case "progress":
		if time.Since(p.last) < progressLine {
			return
		}
		p.last = time.Now()
		if e.CrashStates != p.crashes || p.crashed.IsZero() {
			p.crashes, p.crashed = e.CrashStates, time.Now()
		}
		took := time.Since(p.began)
		rate := float64(e.CrashStates-p.first.CrashStates) / max(took.Seconds(), 1e-9)
		fmt.Fprintf(p.err, "%6.0fs  %d states, %d waiting, depth %d; %d runs; %d crash disks (%.1f/s)%s, %d pruned; %d errors; %s%s%s\n", took.Seconds(), e.States, e.Waiting,
			e.Depth, e.Runs, e.CrashStates, rate, early(e.Totals), e.Pruned, p.errors, p.estimate(e.Totals, took), available(e), p.quiet())
	}
}

// early says how many crash disks have what had not been submitted, where there are some.
func early(t explore.Totals) string {
	if t.Early == 0 {
		return ""
	}
	return fmt.Sprintf(", %d of them with blocks written early", t.Early)
}

// available says how much memory the guest has left, where it tells.
func available(e explore.Event) string {
	if e.Available == 0 {
		return ""
	}
	return fmt.Sprintf("; the guest has %d MiB left", e.Available>>20)
}

// quiet says why nothing can be found.
func (p *exploreProgress) quiet() string {
	if since := time.Since(p.crashed); since > 2*progressLine {
		return fmt.Sprintf("; for %v no step has asked for a crash, or only for such as were tried", since.Round(time.Second))
	}
	return ""
}

// estimate says how much there is left: at least what is known to wait, at the pace so far.
func (p *exploreProgress) estimate(t explore.Totals, took time.Duration) string {
	runs := t.Runs - p.first.Runs
	if expanded := t.States - t.Waiting; runs > 0 && expanded > 0 {
		left := time.Duration(float64(t.Waiting) * float64(t.Runs) / float64(expanded) / float64(runs) * float64(took))
		if p.limit == 0 || left < p.limit-took {
			return fmt.Sprintf("what waits now takes %v", left.Round(time.Second))
		}
	}
	if p.limit == 0 {
		return "no estimate yet"
	}
	return fmt.Sprintf("%v left", (p.limit - took).Round(time.Second))
}

// explored prints the end.
func (p *exploreProgress) explored(sum explore.Summary, dir string) {
	if !p.json {
		how := "the time was up"
		if sum.Complete {
			how = "all was done"
		} else if p.runs > 0 && sum.Runs >= p.runs {
			how = "its runs were done"
		}
		fmt.Fprintf(p.out, "%d states, %d crash disks%s, %d errors in %.0f s; %s\n", sum.States, sum.CrashStates, early(sum.Totals), len(sum.Errors), sum.Seconds, how)
		for _, e := range sum.Errors {
			fmt.Fprintf(p.out, "  %s, %d times: fsward explore replay %s\n", e.Kind, e.Count, filepath.Join(dir, e.Dir))
		}
		return
	}
	type found struct {
		Kind    string `json:"kind"`
		Dir     string `json:"dir"`
		Summary string `json:"summary"`
		Count   uint64 `json:"count"`
	}
	line := struct {
		Event string `json:"event"`
		explore.Totals
		Complete bool    `json:"complete"`
		Errors   []found `json:"errors"`
	}{Event: "explored", Totals: sum.Totals, Complete: sum.Complete, Errors: []found{}}
	for _, e := range sum.Errors {
		line.Errors = append(line.Errors, found{e.Kind, filepath.Join(dir, e.Dir), e.Summary, e.Count})
	}
	_ = json.NewEncoder(p.out).Encode(line)
}
