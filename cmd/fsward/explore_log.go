package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fsward/blocktap"
	"fsward/change"
	"fsward/explore"
	"fsward/explore/audit"
	"fsward/explore/audit/recheck"
	"fsward/explore/component"
	"fsward/explore/crash"
	"fsward/explore/host"
	"fsward/explore/machine"
	"fsward/explore/oracle"
	"fsward/explore/spec"
	"fsward/explore/usermode"
	"fsward/hostd/offline"
	"fsward/hostd/output"
	"fsward/invariants/bundle"
	"fsward/repair"
)

// exploreLog is explore log as its flags describe it.
type exploreLog struct {
	exploreFlags
	record       audit.Record // what is audited; Finding is empty
	unit         explore.CrashUnit
	check        string
	hostOnly     bool
	mountOptions string
	recoverIn    spec.Place
	out          string
	bytes        string
	replay       bool
	follow       bool
}

func exploreLogCommand() *cobra.Command {
	var l exploreLog
	c := &cobra.Command{
		Use:   "log --base IMG LOG...",
		Short: "Judge all disks that a crash could have left while a log was recorded",
		Long: `Forms the crash states of a recorded disk: at each flush and each mark, every subset of the
writes that no flush has made durable. It judges each by the invariants, on the host and without a
mount. With --check it also recovers and mounts each of them in a guest, and runs a script.

LOG is in the format of Linux's dm-log-writes: fsward guard --record, QEMU's blklogwrites and
xfstests write it. Several LOGs continue each other. The base is the disk before the first log.
Both may be compressed with zstd or gzip. The command changes neither, and leaves out writes that a
guard had refused.

Exit status: 0 all states are sound, 1 some are not, 2 wrong usage, 3 some could not be judged, or
the command could not run. With --json the last line is {"event":"audited",...}.`,
		Example: `  fsward explore log --base disk.base.img disk.log
  fsward explore log --base disk.img --out findings --crash-limit 1000 disk.log disk.log.000001
  fsward explore log --base disk.img --check check.sh disk.log
  fsward explore log --replay findings/001-ext3-11`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if l.replay {
				return l.again(c, args)
			}
			if err := l.complete(args); err != nil {
				return usageError{err, c.CommandPath()}
			}
			if l.follow {
				return l.runFollow(c)
			}
			return l.run(c)
		},
	}
	l.add(c)
	return c
}

func (l *exploreLog) add(c *cobra.Command) {
	l.exploreFlags.add(c)
	c.Flags().StringVar(&l.record.Base, "base", "",
		"the first log starts from `IMG[:VOLUME]`; only VOLUME, such as p2 or vg/lv, is audited")
	addFSFlag(c, &l.record.Asked)
	c.Flags().StringVar(&l.check, "check", "",
		"recover and mount each state in a guest, and run the shell script in `FILE` in the "+
			"mounted file system; a script that fails is a finding")
	c.Flags().BoolVar(&l.hostOnly, "host-only", false,
		"apply only the invariants, on the host; this is the default without --check")
	c.Flags().StringVar(&l.mountOptions, "mount-options", "",
		"with --check, mount with `OPTIONS`, separated by commas")
	c.Flags().StringVar((*string)(&l.recoverIn), "recover-in", string(spec.InGuest),
		"with --check, recover in the guest, or in user-mode Linux (uml), which is faster")
	c.Flags().StringVar(&l.out, "out", "", "make a folder in `DIR` for each kind of finding")
	c.Flags().BoolVar(&l.replay, "replay", false,
		"show findings again: the arguments are their folders")
	c.Flags().BoolVar(&l.follow, "follow", false, "follow the recording of a running guard, whose "+
		"--record and --record-base are LOG and --base, at low priority, until stdin ends")
	addNumber(c, &l.record.Crash.Limit, "crash-limit", defaultLimit, 1,
		"if there are more than `N` crash states at one moment, form a sample: all that keep the "+
			"order of the writes, and at least N/2 others")
	c.Flags().StringVar((*string)(&l.unit), "crash-unit", string(explore.BioUnit),
		"what a crash keeps or loses as a whole: a bio (a write), a block (4 KiB of a write), "+
			"or a sector")
	c.Flags().BoolVar(&l.record.Crash.Torn, "torn", false,
		"let a crash cut a write, or a block of it, between two sectors")
	c.Flags().Uint64Var(&l.record.Crash.Seed, "seed", 1,
		"choose samples by `SEED`: the same SEED gives the same samples")
	c.Flags().StringVar(&l.bytes, "crash-memory", "1G",
		"end if the writes of the logs need more than `BYTES` of memory")
	c.Flags().StringVar(&l.record.RulesDir, "rules", "",
		"use the rules in `DIR`/btrfs/*.pl and DIR/ext3/*.pl instead of the built-in ones")
	addAddRules(c, &l.record.AddRules)
}

// complete checks the flags, and completes the record.
func (l *exploreLog) complete(logs []string) (err error) {
	switch {
	case l.record.Base == "":
		return errors.New("--base is missing: the image that the log starts from")
	case l.check != "" && l.hostOnly:
		return errors.New("--check and --host-only exclude each other")
	case l.check == "" && l.recoverIn == spec.InUserMode:
		return errors.New("--recover-in is for --check")
	}
	if err := errors.Join(l.unit.Check(), l.recoverIn.Check()); err != nil {
		return err
	}
	l.record.Crash.Unit = l.unit.Bytes()
	if l.record.Crash.MemoryBytes, err = parseBytes(l.bytes); err != nil {
		return fmt.Errorf("--crash-memory: %w", err)
	}
	l.record.Base, l.record.Only = offline.SplitVolume(l.record.Base)
	l.record.Logs, l.record.Script = logs, l.check
	return errors.Join(l.completeFollow(), l.record.Absolute())
}

// run audits the logs, and prints what it finds.
func (l *exploreLog) run(c *cobra.Command) error {
	base, err := blocktap.OpenImage(l.record.Base)
	if err != nil {
		return err
	}
	defer base.Close()
	p := &logProgress{out: c.OutOrStdout(), err: c.ErrOrStderr(), json: l.json}
	var sum *audit.Summary
	err = l.with(c.Context(), base, func(ctx context.Context, cfg audit.Config) (err error) {
		cfg.Progress = p.progress
		cfg.Found = func(f *audit.Finding, s *crash.State) error { return l.found(p, f, s) }
		sum, err = audit.Run(ctx, cfg)
		return err
	})
	if sum != nil {
		p.audited(sum)
	}
	switch {
	case errors.Is(err, oracle.ErrUnsound):
		return fmt.Errorf("%w; fsward check %s shows more", err, l.record.Base)
	case err != nil:
		return err
	}
	return outcome(sum.Outcome())
}

// with calls f with the configuration of the audit. With --check it boots a guest first.
func (l *exploreLog) with(ctx context.Context, base blocktap.Disk,
	f func(ctx context.Context, cfg audit.Config) error) error {
	site, err := bundle.OpenAll(l.record.AddRules)
	if err != nil {
		return err
	}
	cfg := audit.Config{Base: base, Logs: l.record.Logs, FS: l.record.Asked, Volume: l.record.Only,
		Crash: l.record.Crash, Oracle: oracle.Options{Site: site, RulesDir: l.record.RulesDir}}
	if l.record.Script == "" {
		return f(ctx, cfg)
	}
	script, err := os.ReadFile(l.record.Script)
	if err != nil {
		return err
	}
	disk := recheck.Disk{Base: base, Options: l.mountOptions}
	disk.FS, disk.Window, err = audit.OneVolume(base, cfg.FS, cfg.Volume)
	if err != nil {
		return err
	}
	warnOfOldGuest(os.Stderr, l.guest.Dir)
	return l.recovering(ctx, disk, func(system explore.System) error {
		check, err := recheck.New(ctx, system, disk, string(script))
		if err != nil {
			return err
		}
		cfg.Check = check.Check
		return f(ctx, cfg)
	})
}

// recovering calls f with the machine in which the crash states of a disk are recovered.
func (l *exploreLog) recovering(ctx context.Context, disk recheck.Disk,
	f func(explore.System) error) error {
	size := disk.Window.Of(disk.Base).Size()
	if l.recoverIn == spec.InUserMode {
		kind, err := component.Load(disk.FS)
		if err != nil {
			return err
		}
		if err := host.CheckUserMode([]string{kind.Type}, nil); err != nil {
			return err
		}
		return host.WithUserMode(ctx, l.onlyRecovering(size),
			func(m *usermode.Machine) error { return f(m) })
	}
	l.guest.MemoryMiB = max(l.guest.MemoryMiB, defaultMemory+uint(2*size>>20))
	return host.WithMachine(ctx, l.guest, l.log(), func(m *machine.Machine) error { return f(m) })
}

// found prints a finding, and makes its folder.
func (l *exploreLog) found(p *logProgress, f *audit.Finding, s *crash.State) error {
	dir := ""
	if l.out != "" {
		p.findings++
		r := l.record
		r.Finding = *f
		var err error
		if dir, err = r.Write(l.out, p.findings, s); err != nil {
			return fmt.Errorf("the folder of a finding: %w", err)
		}
	}
	return p.found(f, dir)
}

// again shows findings again.
func (l *exploreLog) again(c *cobra.Command, dirs []string) error {
	shown := 0
	for _, dir := range dirs {
		r, err := audit.ReadRecord(dir)
		if err != nil {
			return err
		}
		l.record = r
		base, err := blocktap.OpenImage(r.Base)
		if err != nil {
			return err
		}
		var p *audit.Problem
		err = l.with(c.Context(), base, func(ctx context.Context, cfg audit.Config) (err error) {
			p, err = audit.Again(ctx, cfg, r.State)
			return err
		})
		if err := errors.Join(err, base.Close()); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		if p != nil {
			shown++
			fmt.Fprintf(c.OutOrStdout(), "%s: found again: %s: %s\n", dir, p.Kind, p.Text)
		} else {
			fmt.Fprintf(c.OutOrStdout(), "%s: not found\n", dir)
		}
	}
	switch shown {
	case len(dirs):
		return outcome(change.Violated)
	case 0:
		return nil
	}
	return outcome(change.Undecided)
}

// logProgress prints the events of an audit.
type logProgress struct {
	out, err io.Writer
	json     bool
	last     time.Time
	findings int
}

func (p *logProgress) progress(t audit.Totals) {
	if p.json {
		_ = output.NewLines(p.out, "").Print(struct {
			Event string `json:"event"`
			audit.Totals
		}{"progress", t})
		return
	}
	if time.Since(p.last) < progressLine {
		return
	}
	p.last = time.Now()
	done := float64(t.Entries) / float64(max(t.OfEntries, 1))
	left := time.Duration(t.Seconds * (1 - done) / max(done, 1e-9) * float64(time.Second))
	fmt.Fprintf(p.err, "%6.0fs  entry %d of %d; %s (%.0f/s), %d violated, %d undecided; "+
		"about %v left\n", t.Seconds, t.Entries, t.OfEntries, repair.Count(t.States, "state"),
		float64(t.States)/max(t.Seconds, 1e-9), t.Violated, t.Undecided, left.Round(time.Second))
}

func (p *logProgress) found(f *audit.Finding, dir string) error {
	if p.json {
		return output.NewLines(p.out, "").Print(struct {
			Event string `json:"event"`
			*audit.Finding
			Dir string `json:"dir,omitempty"`
		}{"finding", f, dir})
	}
	on := ""
	if f.Volume != "" {
		on = " on " + f.Volume
	}
	_, err := fmt.Fprintf(p.out, "found: %s%s after entry %d of %s, %s missing\n  %s\n", f.Kind,
		on, f.After.Entry, filepath.Base(f.After.Log), repair.Count(len(f.Missing), "write"),
		strings.ReplaceAll(f.Text, "\n", "\n  "))
	if err == nil && dir != "" {
		_, err = fmt.Fprintf(p.out, "  %s\n", dir)
	}
	return err
}

func (p *logProgress) audited(sum *audit.Summary) {
	if p.json {
		_ = output.NewLines(p.out, "").Print(struct {
			Event string `json:"event"`
			*audit.Summary
		}{"audited", sum})
		return
	}
	for _, f := range sum.Findings {
		fmt.Fprintf(p.out, "%s: %s\n", repair.Count(f.Count, "state"), f.Kind)
	}
	for _, v := range sum.Volumes {
		if v.NotAudited != "" {
			fmt.Fprintf(p.out, "%s: not audited: %s\n", v.Volume, v.NotAudited)
		}
	}
	for _, r := range sum.Reasons {
		fmt.Fprintf(p.out, "undecided: %s\n", r)
	}
	checked := ""
	if sum.Checked > 0 {
		checked = fmt.Sprintf(", %d checked in a guest", sum.Checked)
	}
	fmt.Fprintf(p.out, "%s, %d of %d entries: %s at %s (%d sampled)%s; %d violated, "+
		"%d undecided; %.0f states a second\n", sum.FS, sum.Entries, sum.OfEntries,
		repair.Count(sum.States, "state"), repair.Count(sum.Points, "moment"), sum.Sampled,
		checked, sum.Violated, sum.Undecided,
		float64(sum.States)/max(sum.Seconds, 1e-9))
}
