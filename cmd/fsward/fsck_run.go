package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fsward/change"
	"fsward/hostd/output"
	"fsward/repair"
	"fsward/repair/adapter"
	"fsward/repair/campaign"
	"fsward/repair/damage"
)

func fsckRunCommand() *cobra.Command {
	cfg, limits := campaign.Config{}, campaign.Limits{}
	var out string
	var asJSON bool
	c := &cobra.Command{
		Use:   "run --fs FS --out DIR",
		Short: "Damage an image in many ways, and test what a repair program does with each",
		Long: `Makes an image of a file system, or takes --image. Damages one field of it, runs the
program twice, and compares the claims of the two runs. Then it damages the next field. The first
damages set each field to values at the ends of its range and near the old one. After
these, fields of one and of two bytes get every value.

DIR gets a folder for each group of failures: one program, one field, and the same messages. Its
file what.txt says what happened. fsward fsck replay shows it again.

Exit status: 0 found nothing, 1 found something, 2 wrong usage, 3 could not run.`,
		Example: `  fsward fsck run --fs ext3 --program e2fsck --time 60s --out found
  fsward fsck run --fs ext3 --program mychecker.yaml --image disk.img --out found
  fsward fsck run --fs ext4 --damage suite:suites/e2fsprogs --model b --out repaired
  fsward fsck run --fs minix1 --paths afl --paths-time 5m --time 0 --out paths`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := errors.Join(cfg.Check(), checkProgram(&cfg)); err != nil {
				return usageError{err, c.CommandPath()}
			}
			cfg.Say = func(text string) { fmt.Fprintln(os.Stderr, text) }
			run, err := campaign.Create(c.Context(), out, cfg)
			if err != nil {
				return err
			}
			return runFsck(c, run, limits, asJSON)
		},
	}
	c.Flags().StringVar(&cfg.FS, "fs", "",
		"make or take an image of the file system `NAME`: fsward fsck list prints the names "+
			"(required)")
	c.Flags().StringVar(&cfg.Program, "program", "",
		"test the program `NAME`, or the program that FILE.yaml describes (default: the program "+
			"for the file system)")
	c.Flags().StringVar(&cfg.Image, "image", "", "damage copies of `IMG` instead of a made image")
	c.Flags().StringSliceVar(&cfg.Modes, "mode", nil,
		"try only these repair `MODES` of the program, which fsward fsck list prints, separated by "+
			"commas (default: all)")
	addDamageFlags(c, &cfg)
	addPathsFlags(c, &cfg)
	c.Flags().StringSliceVar(&cfg.Checks, "check", []string{campaign.Consistency},
		"make these `CHECKS` (see docs/user/repair.md), separated by commas: "+
			strings.Join(campaign.CheckNames(), ", "))
	c.Flags().StringVar(&out, "out", "",
		"write findings to `DIR`, which must not exist or must be empty (required)")
	_ = errors.Join(c.MarkFlagRequired("fs"), c.MarkFlagRequired("out"))
	addNumber(c, &cfg.Workers, "workers", runtime.NumCPU(), 1, "run `N` programs at a time")
	addNumber(c, &cfg.Replays, "replays", 10, 0, "replay each new finding `N` times, and count how "+
		"often it shows")
	addFsckLimits(c, &limits, &asJSON)
	return c
}

// checkProgram returns an error for a program, or modes of it, that do not exist.
func checkProgram(cfg *campaign.Config) error {
	p, _, err := adapter.Find(cfg.Program, cfg.FS)
	if err != nil {
		return err
	}
	return p.Keep(cfg.Modes)
}

// addDamageFlags adds the flags that choose the damages.
func addDamageFlags(c *cobra.Command, cfg *campaign.Config) {
	c.Flags().StringVar(&cfg.Damage, "damage", "",
		"damage `WHAT`: MAP.yaml for the fields of a map; suite:DIR or image:IMG for images "+
			"that are damaged already, such as those of a program's own tests (default: the fields "+
			"that fsward knows)")
	c.Flags().StringVar(&cfg.Model, "model", damage.Single,
		"make damages by this `MODEL`: a (one field at a time), pairs (two at once), b (bytes "+
			"that repairs of a suite's images change)")
	c.Flags().StringVar(&cfg.Fields, "fields", "", "damage only fields whose names match `PATTERN`, "+
		"such as ^inode.mode@ (default: all)")
	c.Flags().StringVar(&cfg.Range, "range", "", "try only the damages with the numbers "+
		"`FIRST-LAST`, from 0: a unit of a larger campaign (default: all)")
}

// addPathsFlags adds the flags that let AFL++ choose the damages.
func addPathsFlags(c *cobra.Command, cfg *campaign.Config) {
	c.Flags().StringVar(&cfg.Paths, "paths", "", "afl: build the program from Debian's source "+
		"package, and let AFL++ find `WAYS` through it by changing fields; then try the fields of each")
	addDuration(c, &cfg.PathsTime, "paths-time", 10*time.Minute, "let AFL++ run for `DURATION`")
	c.Flags().StringVar(&cfg.Sources, "sources", "",
		"keep the source and the build of --paths in `DIR` (default: fsward/sources in the "+
			"user's cache)")
}

func addFsckLimits(c *cobra.Command, limits *campaign.Limits, asJSON *bool) {
	addDuration(c, &limits.Time, "time", 10*time.Minute,
		"try damages for `DURATION`, such as 10m, and then replay new findings for at most a minute; "+
			"0 to try everything")
	c.Flags().Uint64Var(&limits.Damages, "damages", 0, "stop after `N` damages; 0 for no limit")
	addJSONFlag(c, asJSON)
}

func fsckResumeCommand() *cobra.Command {
	var limits campaign.Limits
	var asJSON bool
	c := &cobra.Command{
		Use:   "resume DIR",
		Short: "Continue a campaign that was stopped or ran out of time",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			run, err := campaign.Open(c.Context(), args[0])
			if err != nil {
				return err
			}
			return runFsck(c, run, limits, asJSON)
		},
	}
	addFsckLimits(c, &limits, &asJSON)
	return c
}

// runFsck runs a campaign and prints what it finds.
func runFsck(c *cobra.Command, run *campaign.Campaign, limits campaign.Limits,
	asJSON bool) (err error) {
	defer func() { err = errors.Join(err, run.Close()) }()
	p := &fsckProgress{out: os.Stdout, log: os.Stderr, json: asJSON, limit: limits,
		dir: run.Folder(), start: time.Now()}
	if !asJSON {
		fmt.Fprintln(p.log, run.Describe())
	}
	sum, complete, err := run.Run(c.Context(), limits, p.tell)
	if err != nil {
		return err
	}
	if err := p.tested(sum, complete); err != nil {
		return err
	}
	if sum.Findings > 0 {
		return outcome(change.Violated)
	}
	return nil
}

// fsckProgress prints the events of a campaign: findings on stdout, progress on stderr.
type fsckProgress struct {
	out, log io.Writer
	json     bool
	limit    campaign.Limits
	dir      string
	start    time.Time
	first    *campaign.Progress // at the begin of this run
	last     time.Time          // of the last line of progress
}

// fsckLine is the time between two lines of progress.
const fsckLine = 5 * time.Second

// fsckFound is the JSON line of a finding.
type fsckFound struct {
	Event string `json:"event"`
	Dir   string `json:"dir"`
	Kind  string `json:"kind"`
	Group string `json:"group"`
	What  string `json:"damage"`
	Note  string `json:"detail"`
}

func (p *fsckProgress) tell(e campaign.Event) {
	if p.first == nil {
		p.first = &e.Progress
	}
	if f := e.Finding; f != nil {
		dir := filepath.Join(p.dir, f.Dir)
		if p.json {
			_ = output.NewLines(p.out, "").Print(fsckFound{"finding", dir, f.Kind, f.Group, f.Damage,
				f.Detail})
			return
		}
		fmt.Fprintf(p.out, "%s: %s: %s\n  %s\n", f.Kind, f.Damage, f.Detail, dir)
		return
	}
	if time.Since(p.last) < fsckLine {
		return
	}
	p.last = time.Now()
	if p.json {
		_ = output.NewLines(p.out, "").Print(struct {
			Event string `json:"event"`
			campaign.Progress
		}{"progress", e.Progress})
		return
	}
	fmt.Fprintf(p.log, "%4.0f s: %s; %s\n", e.Seconds, counts(e.Progress), p.estimate(e.Progress))
}

// counts says how far a campaign is.
func counts(p campaign.Progress) string {
	states := ""
	if p.States > 0 {
		states = ", " + repair.Count(p.States, "crash state")
	}
	return fmt.Sprintf("%s, %s, %s%s, %s in %s", repair.Count(p.Damages, "damage"),
		repair.Count(p.Runs, "run"), repair.Count(p.Paths, "path"), states,
		repair.Count(p.Failures, "failure"), repair.Count(p.Findings, "finding"))
}

// estimate says how long the rest takes at the pace so far.
func (p *fsckProgress) estimate(now campaign.Progress) string {
	took := time.Since(p.start)
	done := now.Next - min(now.Next, p.first.Next)
	if done == 0 {
		return "no estimate yet"
	}
	rest, what := now.First-min(now.Next, now.First), "the first damages need"
	if rest == 0 {
		rest, what = now.Count-min(now.Next, now.Count), "all values need"
	}
	left := time.Duration(float64(rest) / float64(done) * float64(took))
	text := fmt.Sprintf("%s %v", what, left.Round(time.Second))
	if p.limit.Time > 0 {
		text += fmt.Sprintf(", %v left", max(0, p.limit.Time-took).Round(time.Second))
	}
	return text
}

// tested prints the summary of a campaign.
func (p *fsckProgress) tested(sum campaign.Progress, complete bool) error {
	if p.json {
		return output.NewLines(p.out, "").Print(struct {
			Event string `json:"event"`
			campaign.Progress
			Complete bool `json:"complete"`
		}{"tested", sum, complete})
	}
	how := "everything was tried"
	if !complete {
		how = fmt.Sprintf("%s left: fsward fsck resume %s",
			repair.Count(sum.Count-sum.Next, "damage"), p.dir)
	}
	fmt.Fprintf(p.out, "%s in %.0f s; %s\n", counts(sum), sum.Seconds, how)
	return nil
}
