package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fsward/explore"
	"fsward/explore/checkers"
	"fsward/explore/component"
	"fsward/explore/spec"
)

func exploreRunCommand() *cobra.Command {
	var f exploreFlags
	var o exploreRun
	var limit time.Duration
	var exchange string
	c := &cobra.Command{
		Use:   "run --fs FS --checker CHECKER --out DIR",
		Short: "Explore a file system or a stack, until everything is explored or the time is up",
		Long: fmt.Sprintf(
			`Explores one file system on one RAM disk (--fs), or the stack that a file describes (--stack).
fsward explore list describes the file systems, other components and stacks that a name can stand
for. A YAML file can describe more.

File systems and other components:
%s
Stacks:
%s
Checkers, and what they check:
%s
Operations that --ops adds, all of which docs/user/exploring.md describes:
%s
--exchange PARAMETER explores the stack once for each value of a parameter, such as the file system
below a database, and says with which values errors were found. So it shows which layer is to blame.

Exit status: 0 found nothing, 1 found errors, 2 wrong usage, 3 could not run, or examined nothing:
no crash state was examined, or all commands of the checker failed. With --json the last line of a
run is {"event":"explored",...}, and that of --exchange {"event":"exchanged",...}. fsward explore
resume DIR continues a run that was stopped, was killed or ran out of time.`,
			lines(component.Names()),
			lines(spec.Stacks()),
			listed(checkers.Names()),
			listed(checkers.Groups()),
		),
		Example: `  fsward explore run --fs ext3 --checker sync --time 10m --out ext3
  fsward explore run --fs btrfs --mount-options compress=zstd --checker reasonable \
    --search random --time 1h --out btrfs
  fsward explore run --stack raid.yaml --out raid
  fsward explore run --stack sqlite --set synchronous=off --out sqlite
  fsward explore run --stack git --exchange fs --time 20m --out git`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.complete(); err != nil {
				return usageError{err, c.CommandPath()}
			}
			if exchange != "" {
				return f.exchange(c, o, exchange, limit)
			}
			return f.explore(c, o.Run, o.out, limit)
		},
	}
	f.add(c)
	o.add(c)
	c.Flags().StringVar(&exchange, "exchange", "",
		"explore the stack with each value of a `PARAMETER`, in equal parts of --time")
	addTimeFlag(c, &limit)
	return c
}

// lines returns names in indented lines of at most 100 columns.
func lines(names []string) string {
	var b strings.Builder
	for _, line := range wrapped(strings.Join(names, ", "), 98) {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	return b.String()
}

// alternatives returns the values of a flag as a text, such as "a, b or c".
func alternatives[S ~string](values []S) string {
	var b strings.Builder
	for i, v := range values {
		switch {
		case i == len(values)-1 && i > 0:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(string(v))
	}
	return b.String()
}

// listed returns names and what they stand for, in lines of at most 100 columns.
func listed(names [][2]string) string {
	var b strings.Builder
	for _, n := range names {
		name := n[0]
		for _, line := range wrapped(n[1], 78) {
			fmt.Fprintf(&b, "  %-19s %s\n", name, line)
			name = ""
		}
	}
	return b.String()
}

// exploreRun is a run as its flags describe it.
type exploreRun struct {
	spec.Run
	fs, mountOptions, mkfsOptions, stack, out, size string
	set                                             []string
	guarded                                         bool
}

func (o *exploreRun) add(c *cobra.Command) {
	o.addFileSystem(c)
	c.Flags().StringVar(&o.stack, "stack", "",
		"explore the disks, layers and checker of a stack: its `NAME`, or a YAML file")
	c.Flags().StringArrayVar(&o.set, "set", nil,
		"give a parameter of the stack a value: `NAME=VALUE`")
	c.Flags().StringVar(&o.Checker, "checker", "", "run this `CHECKER`: a name, or a YAML file")
	c.Flags().StringVar(&o.out, "out", "",
		"write the run's state and a folder for each error to `DIR`")
	c.Flags().BoolVar(&o.guarded, "guarded", false,
		"guard the disk of --fs as fsward guard does: a refused write fails in "+
			"the guest, and is reported as an error")
	addHowFlags(c, &o.Run)
	_ = c.MarkFlagRequired("out") // the flag exists
}

// addFileSystem adds the flags that describe one file system on one RAM disk.
func (o *exploreRun) addFileSystem(c *cobra.Command) {
	c.Flags().StringVar(&o.fs, "fs", "",
		"explore the file system `FS` on one RAM disk: a name, or a YAML file")
	c.Flags().StringVar(&o.mountOptions, "mount-options", "",
		"mount with `OPTIONS`, separated by commas")
	c.Flags().StringVar(&o.mkfsOptions, "mkfs-options", "",
		"run mkfs with `OPTIONS`, as a shell splits them")
	c.Flags().StringVar(&o.size, "size", "",
		"make the RAM disk of this `SIZE`, such as 64M (default: what the file system needs)")
}

// complete checks the flags and completes the run's description.
func (o *exploreRun) complete() error {
	if err := o.read(); err != nil {
		return err
	}
	if o.Checker == "" && o.Script == nil {
		return errors.New("no checker is named: give one, such as --checker sync")
	}
	err := errors.Join(o.Strategy.Check(), o.Restore.Check(), o.From.Check(),
		explore.CheckThreads(o.Threads), explore.CheckCommandLimit(o.CommandLimit))
	if err != nil {
		return err
	}
	if _, err := os.Stat(o.out); err == nil {
		if _, err := explore.Origin(o.out); err == nil {
			return fmt.Errorf("%s has a run already: fsward explore resume %[1]s continues it", o.out)
		}
	}
	_, err = o.Config()
	return err
}

// read reads the stack that --fs or --stack describes. --checker comes before the checker of a
// stack.
func (o *exploreRun) read() (err error) {
	checker := o.Checker
	switch {
	case (o.fs == "") == (o.stack == ""):
		return errors.New("give one of --fs and --stack")
	case o.stack != "":
		if o.Spec, err = spec.Load(o.stack); checker != "" {
			o.Checker, o.Script = checker, nil
		}
		for _, text := range o.set {
			name, value, _ := strings.Cut(text, "=")
			err = errors.Join(err, o.Set(name, value))
		}
	default:
		o.Spec, err = spec.FileSystem(o.fs, o.mountOptions, o.mkfsOptions, checker, o.size)
		if err == nil && o.guarded {
			o.Guarded = []string{o.Layers[0].On[0]}
		}
	}
	return err
}
