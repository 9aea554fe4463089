package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"fsward/change"
	"fsward/explore/b3"
	"fsward/hostd/output"
)

func exploreB3Command() *cobra.Command {
	var o b3Run
	c := &cobra.Command{
		Use:   "b3 --fs FS --set SET --out DIR",
		Short: "Generate all small workloads, and test each with crashes",
		Long: fmt.Sprintf(`A set describes workloads: operations, names, ranges, what makes them
persistent, and a length. It is a YAML file, or one of
%s.
Each workload of a set has a rank, from 0.

The command runs each workload in a guest, and crashes after each of its persistence points with
every subset of the writes that are not durable. Invariants, the promises of the file system and
the run without the crash say what may be left. Each kind of finding has a folder with the
workload, a smaller one that shows the same, and a script in the style of xfstests.

docs/user/b3.md is an introduction.

Exit status: 0 found nothing, 1 found errors, 2 wrong usage, 3 could not run, or examined nothing.
To continue a run that was stopped or killed, use fsward explore
resume DIR.`, strings.Join(b3.Names(), ", ")),
		Example: `  fsward explore b3 --fs ext3 --set seq-1 --out ext3-seq-1
  fsward explore b3 --fs btrfs --set seq-2 --range 0-9999 --out btrfs-seq-2
  fsward explore b3 --fs btrfs --workload rename.txt --out rename`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.complete(); err != nil {
				return usageError{err, c.CommandPath()}
			}
			return o.explore(c, o.Run, o.out, o.limit)
		},
	}
	o.addFlags(c)
	c.AddCommand(b3CountCommand(), b3ShowCommand(), b3RankCommand())
	return c
}

// loadSet returns a set that an argument names. An unusable one is a mistake in the command line.
func loadSet(c *cobra.Command, name string) (*b3.Set, error) {
	s, err := b3.Load(name)
	if err != nil {
		err = usageError{err, c.CommandPath()}
	}
	return s, err
}

func b3CountCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "count SET...",
		Short: "Print the number of workloads of sets",
		Long: `Prints how many workloads each set has, and the version of the set. Ranks mean the same
workloads as long as the version is the same.

fdatasync and mmapwrite make data persistent themselves. "distinct" is how many workloads would be
left if no fsync or sync followed these.`,
		Example: "  fsward explore b3 count seq-1 seq-2 my.yaml",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			for _, name := range args {
				s, err := loadSet(c, name)
				if err != nil {
					return err
				}
				if err := printCount(c.OutOrStdout(), s, asJSON); err != nil {
					return err
				}
			}
			return nil
		},
	}
	addJSONFlag(c, &asJSON)
	return c
}

func printCount(w io.Writer, s *b3.Set, asJSON bool) error {
	distinct, err := s.Distinct()
	if err != nil {
		return err
	}
	if asJSON {
		return output.NewLines(w, "").Print(struct {
			Event     string `json:"event"`
			Set       string `json:"set"`
			Workloads uint64 `json:"workloads"`
			Distinct  uint64 `json:"distinct"`
			Version   string `json:"version"`
		}{"set", s.Name, s.Count(), distinct, s.Version()})
	}
	_, err = fmt.Fprintf(w, "%-14s %9d workloads, %9d distinct; version %s\n", s.Name, s.Count(),
		distinct, s.Version())
	return err
}

// b3Workload is a workload of a set on stdout.
type b3Workload struct {
	Event     string `json:"event"`
	Set       string `json:"set"`
	Version   string `json:"version"`
	Rank      uint64 `json:"rank"`
	Workload  string `json:"workload"`
	Completed string `json:"completed"`
}

func (w b3Workload) print(out io.Writer, asJSON bool) error {
	if asJSON {
		return output.NewLines(out, "").Print(w)
	}
	_, err := fmt.Fprintf(out, "%s %d\n  %s\nwith what it needs:\n  %s\n", w.Set, w.Rank, w.Workload,
		w.Completed)
	return err
}

func newB3Workload(s *b3.Set, rank uint64, w b3.Workload) b3Workload {
	return b3Workload{"workload", s.Name, s.Version(), rank, w.String(), w.Complete().String()}
}

func b3ShowCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "show SET RANK...",
		Short: "Print the workloads of a set by their ranks",
		Long: `Prints each workload as the set has it, and then with the steps that it needs to run:
parent directories, files and their content, and what has to be removed or closed before.`,
		Example: "  fsward explore b3 show seq-2 0 131072",
		Args:    cobra.MinimumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := loadSet(c, args[0])
			if err != nil {
				return err
			}
			for _, text := range args[1:] {
				rank, err := strconv.ParseUint(text, 10, 64)
				if err != nil {
					return usageError{fmt.Errorf("%q is not a rank", text), c.CommandPath()}
				}
				w, err := s.At(rank)
				if err != nil {
					return usageError{err, c.CommandPath()}
				}
				if err := newB3Workload(s, rank, w).print(c.OutOrStdout(), asJSON); err != nil {
					return err
				}
			}
			return nil
		},
	}
	addJSONFlag(c, &asJSON)
	return c
}

func b3RankCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "rank SET WORKLOAD",
		Short: "Print the rank of a workload",
		Long: `Prints the rank of a workload: steps that semicolons or line ends separate. The workload
may have the steps that it needs to run, as show prints them. If several workloads become the same
one with these, the rank is that of the first.

Exit status: 0 the set has the workload, 1 it does not, 2 wrong usage or an error in the text.`,
		Example: "  fsward explore b3 rank seq-2 'link foo bar; fsync foo; unlink bar; sync'",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := loadSet(c, args[0])
			if err != nil {
				return err
			}
			w, err := b3.Parse(args[1])
			if err != nil {
				return usageError{fmt.Errorf("the workload: %w", err), c.CommandPath()}
			}
			rank, err := s.Rank(w)
			if errors.Is(err, b3.ErrNotInSet) {
				fmt.Fprintf(c.ErrOrStderr(), "fsward: %v\n", err)
				return outcomeError{change.Violated}
			}
			if err != nil {
				return err
			}
			core, err := s.At(rank)
			if err != nil {
				return err
			}
			return newB3Workload(s, rank, core).print(c.OutOrStdout(), asJSON)
		},
	}
	addJSONFlag(c, &asJSON)
	return c
}
