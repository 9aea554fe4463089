package main

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"fsward/explore"
	"fsward/explore/checkers"
	"fsward/explore/host"
	"fsward/explore/spec"
	"fsward/hostd/guard"
)

func exploreCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "explore",
		Short: "Test storage in all orders of operations and with all crashes, and report losses",
		Long: `Boots a guest, makes a file system or any stack of storage on RAM disks in it, and runs the
operations of a checker in every order. Where the checker asks for crashes, the command recovers and
checks each disk state that a crash could leave. It can replay each error that it finds.

docs/user/exploring.md is an introduction. docs/user/checkers.md explains how to write checkers and
components.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(exploreRunCommand(), exploreListCommand(), exploreSurveyCommand(),
		exploreResumeCommand(), exploreReplayCommand(), exploreReportCommand(), exploreB3Command(),
		exploreLogCommand())
	return c
}

// exploreFlags are the flags of every command that boots a guest.
type exploreFlags struct {
	guest   host.GuestConfig
	json    bool
	verbose bool
	hinted  bool // hintUserMode has said it
}

func (f *exploreFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.guest.Dir, "guest", defaultGuest,
		"boot the guest in `DIR`, which make guest built")
	addUnsigned(c, &f.guest.MemoryMiB, "memory", defaultMemory, 1,
		"give the guest `MIB` mebibytes of memory")
	addUnsigned(c, &f.guest.LogMiB, "log", 64, 1,
		"make the log of the RAM disks `MIB` mebibytes large, up to 1024, rounded up to a power of "+
			"two: a step and all steps before it may write this much")
	c.Flags().StringVar(&f.guest.Console, "console", "", "write the guest's console to `FILE`")
	addJSONFlag(c, &f.json)
	c.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "show the log")
}

// defaultGuest is the folder in which make guest makes a guest.
const defaultGuest = "build/guest"

// defaultMemory is the memory of a guest in MiB.
const defaultMemory = 384

// replayFlags returns the flags with which another command finds the same guest.
func (f *exploreFlags) replayFlags() (out []string) {
	if f.guest.Dir != defaultGuest {
		out = append(out, "--guest", f.guest.Dir)
	}
	if f.guest.MemoryMiB != defaultMemory {
		out = append(out, "--memory", strconv.FormatUint(uint64(f.guest.MemoryMiB), 10))
	}
	return out
}

func (f *exploreFlags) log() *zap.Logger {
	if f.verbose {
		return newLog(true)
	}
	return zap.NewNop()
}

func addTimeFlag(c *cobra.Command, limit *time.Duration) {
	addDuration(c, limit, "time", 10*time.Minute,
		"stop after `DURATION`, such as 10m; 0 to explore everything")
}

// Defaults of run and survey.
const (
	defaultNodes = 2  // files, and directories
	defaultLimit = 64 // crash states at one moment
	// defaultSearch is the strategy that finds most: docs/results/search.md.
	defaultSearch = explore.Cover
)

// addHowFlags adds the flags that say how storage is explored.
func addHowFlags(c *cobra.Command, r *spec.Run) {
	addSearchFlags(c, r)
	addCrashFlags(c, r)
	addCheckFlags(c, r)
}

// A nodeLimit is a flag for checkers.Limits, in which 0 selects a default and -1 means none.
type nodeLimit int

func (n *nodeLimit) String() string { return strconv.Itoa(max(0, int(*n))) }

// Set sets the limit to a number of at least 0.
func (n *nodeLimit) Set(text string) error {
	v, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return err
	}
	if *n = nodeLimit(v); v == 0 {
		*n = -1
	}
	return nil
}

// Type returns the name of the value in the help.
func (n *nodeLimit) Type() string { return "N" }

// groupList returns the names of the groups of operations.
func groupList() string {
	var names []string
	for _, g := range checkers.Groups() {
		names = append(names, g[0])
	}
	return strings.Join(append(names, "or all"), ", ")
}

// addSearchFlags adds the flags that say which steps run, and in what order.
func addSearchFlags(c *cobra.Command, r *spec.Run) {
	r.Files, r.Dirs = defaultNodes, defaultNodes
	c.Flags().Var((*nodeLimit)(&r.Files), "files",
		"let a checker make at most `N` files and symbolic links")
	c.Flags().Var((*nodeLimit)(&r.Dirs), "dirs",
		"let a checker make at most `N` directories")
	c.Flags().StringVar(&r.Operations, "ops", spec.AutoOperations,
		"let a checker also perform the operations of these `GROUPS`, separated by commas: "+groupList()+
			"; or none; or auto: with --search cover those of all groups but wait, together and many, "+
			"after the other operations of one depth")
	c.Flags().StringVar((*string)(&r.Strategy), "search", string(defaultSearch),
		"choose the next state by this `STRATEGY`: "+alternatives(explore.Strategies()))
	c.Flags().BoolVar(&r.Coverage, "coverage", false,
		"record which code of the kernel each step runs, for the report; needs the guest of "+
			"make guest-debug; --search unseen records it too")
	addNumber(c, &r.Depth, "depth", 0, 0, "run at most `N` steps in a row; 0 for no limit")
	c.Flags().Uint64Var(&r.Seed, "seed", 1,
		"choose samples, and the states of --search random, by `SEED`")
	addNumber(c, &r.MaxFaults, "failures", 0, 0,
		"let at most `N` calls inside the kernel fail on the way to a state: first none, "+
			"then each call site alone, then pairs, …")
	c.Flags().StringVar(&r.FailPoints, "failure-points", "default",
		"with --failures, let calls of these `KINDS` fail, separated by commas: slab, page, "+
			"buffer-read, page-read, user-memory, submit, end; or all; or default: the first four")
	c.Flags().BoolVar(&r.KernelChoices, "kernel-choices", false,
		"also explore the choices that a kernel module takes by fsw_ekm_choose(n); not with --failures")
	c.Flags().BoolVar(&r.HashDisks, "hash-disks", false,
		"visit states whose disks differ as different states, even if their files are equal")
	c.Flags().StringVar((*string)(&r.Restore), "restore", string(explore.ByCost),
		"go back to a state in this `WAY`: "+alternatives(explore.Restorings()))
	addDuration(c, &r.Threads, "threads", 0,
		"also explore kernel-thread scheduling: before each step, run at most "+
			"one held thread, for at most `DURATION`, such as 8s; 0 to let threads run freely")
}

// addCrashFlags adds the flags that say which crash states are made.
func addCrashFlags(c *cobra.Command, r *spec.Run) {
	addNumber(c, &r.Limit, "crash-limit", defaultLimit, 1,
		"if there are more than `N` crash states at one moment, try a sample: all that keep the "+
			"order of the writes, and at least N/2 others")
	c.Flags().StringVar((*string)(&r.From), "crash-from", string(explore.FromWrites),
		"form crash states from writes (the submitted ones) or from the write-set (also blocks "+
			"that the kernel had marked dirty and may write at any time)")
	c.Flags().StringVar((*string)(&r.Unit), "crash-unit", string(explore.BioUnit),
		"what a crash keeps or loses as a whole: a bio (a write), a block (4 KiB of a write), "+
			"or a sector")
	c.Flags().BoolVar(&r.Torn, "torn", false,
		"let a crash cut a write, or a block of it, between two sectors")
	c.Flags().BoolVar(&r.Recovery, "recovery-crashes", false,
		"also crash during the recovery of crash states")
	c.Flags().BoolVar(&r.Through, "write-through", false,
		"give the disks no write cache: a completed write is durable without a flush")
	c.Flags().BoolVar(&r.NoPrune, "no-prune", false, "do not deduplicate crash states")
	c.Flags().BoolVar(&r.ProcessCrashes, "soft-crashes", false,
		"also kill the programs of a step, at each system call between crash: start and crash: end")
	c.Flags().BoolVar(&r.ProcessCrashesOnly, "soft-only", false,
		"with --soft-crashes, only kill the programs of a step, and do not crash the machine")
	addNumber(c, &r.ProcessCrashLimit, "soft-limit", 0, 0,
		"with --soft-crashes, kill the programs of a step at most at `N` places; if there are "+
			"more, sample them; 0 for no limit")
}

// addCheckFlags adds the flags that say what is checked.
func addCheckFlags(c *cobra.Command, r *spec.Run) {
	c.Flags().BoolVar(&r.Verify, "double-fsck", false,
		"run the file system's comprehensive check on recovered disks, "+
			"recover with it too, and compare the two results")
	c.Flags().StringVar((*string)(&r.Surprises), "surprises", string(explore.ReportSurprises),
		"what to do with losses that no promise forbids and no user expects: report (as a class "+
			"of their own), or error (make each an error)")
	c.Flags().BoolVar(&r.StrictRecovery, "strict-recovery", false,
		"report an error if a recovery had to repair something")
	c.Flags().BoolVar(&r.NoJudge, "no-invariants", false,
		"do not check crash states by the invariants before recovery")
	c.Flags().BoolVar(&r.NoCommits, "no-commits", false,
		"do not compare recovered trees with the last commit that the crash state holds completely")
	c.Flags().BoolVar(&r.NoInspect, "no-inspect", false,
		"do not make, write and remove files on some of the recovered disks, and do not run the file "+
			"system's own check on them")
	addAddRules(c, &r.AddRules)
	addDuration(c, &r.CommandLimit, "command-limit", explore.DefaultCommandLimit,
		"kill a command of the stack or its checker that takes longer than `DURATION`, and do not "+
			"judge its step or crash state; from 1s to 1h")
	c.Flags().StringVar(&r.KernelChecks, "kernel-checks", "",
		"also make these `CHECKS` of the kernel, separated by commas: locks (circular waits, "+
			"and locks kept after a system call), pairs (calls that belong together), buffers "+
			"(changed and not dirty), or all of these three; memory (not referenced any more) needs "+
			"the guest of make guest-debug and takes seconds a step")
	c.Flags().BoolVar(&r.HostOnly, "host-only", false,
		"only check crash states by the invariants: do not recover them, and do not look for "+
			"lost data")
	c.Flags().StringVar((*string)(&r.RunIn), "run-in", string(spec.InGuest),
		"run everything in the guest, or in user-mode Linux (uml), which is several times as fast "+
			"and boots no guest; uml is for a file system on disks, without what needs a module of "+
			"fsward in the kernel")
	c.Flags().StringVar((*string)(&r.RecoverIn), "recover-in", string(spec.InGuest),
		"recover and check crash states in the guest, or in user-mode Linux (uml), which is faster; "+
			"uml is for a file system on disks, without --recovery-crashes, --failures and "+
			"--kernel-choices")
	c.Flags().BoolVar(&r.NoAccount, "no-account", false,
		"do not check that fsync and sync waited for their flushes")
}

// siteRules loads the rules of a site once, so that a mistake in them shows at the beginning. Their
// paths become absolute, because they are kept with the run.
func siteRules(r *spec.Run) error {
	for i, path := range r.AddRules {
		var err error
		if r.AddRules[i], err = filepath.Abs(path); err != nil {
			return err
		}
	}
	_, err := guard.RulesConfig{Add: r.AddRules}.Load()
	return err
}
