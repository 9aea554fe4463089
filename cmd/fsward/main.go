// Command fsward guards the disks of virtual machines: see README.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"fsward/change"
	"fsward/hostd/output"
	"fsward/repair/linux"
)

// Exit statuses: part of the contract with scripts.
const (
	exitHolds     = 0
	exitViolated  = 1
	exitUsage     = 2
	exitUndecided = 3 // undecided, or could not run
)

func main() {
	linux.ServeIfInside() // for fsward fsck, which starts this executable again
	os.Exit(execute())
}

func execute() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM)
	defer stop()
	err := rootCommand().ExecuteContext(ctx)
	var outcome outcomeError
	var usage usageError
	switch {
	case err == nil:
		return exitHolds
	case errors.As(err, &outcome):
		if outcome.outcome == change.Violated {
			return exitViolated
		}
		return exitUndecided
	case errors.As(err, &usage):
		complain("fsward: %v\nRun `%s --help` for details.\n", err, usage.command)
		return exitUsage
	default:
		complain("fsward: %v\n", err)
		return exitUndecided
	}
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "fsward",
		Short: "Guard a virtual machine's disks against corrupt file system commits",
		Long: `fsward stands between a virtual machine and its disk. It reads the guest's file system
(Btrfs, ext3) from the blocks that the guest writes, turns each transaction into change records, and
checks these records against invariants written in Prolog. A commit reaches the disk only if every
invariant holds.

docs/user/quickstart.md shows a first use in ten minutes.

Exit status: 0 everything holds, 1 an invariant is violated, 2 wrong usage, 3 undecided, or could
not run. Results go to stdout, the log goes to stderr.`,
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	addGroup(root, "Guard disks:", guardCommand(), daemonCommand(), proxyCommand(), vmCommand(),
		attachCommand(), detachCommand(), statusCommand(), resumeCommand(), rejectCommand(),
		diskCommand(), demoCommand())
	addGroup(root, "Examine images, recorded writes and rules:", checkCommand(), replayCommand(),
		dumpCommand(), corruptCommand(), rulesCommand())
	addGroup(root, "Test storage and repair programs:", exploreCommand(), fsckCommand(),
		campaignCommand(), workerCommand())
	root.AddCommand(manCommand(), versionCommand())
	root.Version = output.Version()
	root.SetVersionTemplate("fsward {{.Version}}\n")
	asUsage(root)
	return root
}

// addGroup adds commands that the help lists under one title.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
	}
	root.AddCommand(commands...)
}

// usageError is a mistake in the command line.
type usageError struct {
	error
	command string
}

func (e usageError) Unwrap() error { return e.error }

// asUsage makes every command report wrong flags and arguments, and missing required flags, as a
// usageError.
func asUsage(c *cobra.Command) {
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{err,
			c.CommandPath()}
	})
	args := c.Args
	c.Args = func(c *cobra.Command, a []string) error {
		err := c.ValidateRequiredFlags()
		if err == nil && args != nil {
			err = args(c, a)
		}
		switch {
		case err == nil:
			return nil
		case c.Runnable() && !c.HasSubCommands():
			err = fmt.Errorf("%w\nUsage: %s", err, c.UseLine())
		}
		return usageError{err, c.CommandPath()}
	}
	for _, sub := range c.Commands() {
		asUsage(sub)
	}
}

// outcomeError carries a verdict other than "holds" to the exit status. The command has printed the
// verdict already.
type outcomeError struct{ outcome change.Outcome }

func (e outcomeError) Error() string { return e.outcome.String() }

// outcome returns an outcomeError unless o is change.Holds.
func outcome(o change.Outcome) error {
	if o == change.Holds {
		return nil
	}
	return outcomeError{o}
}

// newLog returns a logger that writes for people, on stderr.
func newLog(verbose bool) *zap.Logger {
	return newLogOn(os.Stderr, verbose)
}
