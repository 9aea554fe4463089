package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"fsward/hostd"
	"fsward/interp/detect"
)

func rulesQueryCommand() *cobra.Command {
	var cfg hostd.QueryConfig
	var asJSON bool
	c := &cobra.Command{
		Use:   "query ['GOAL'] IMG...|LOG[@COMMIT]",
		Short: "Ask what a rule would see: all answers of a goal",
		Long: `Prints all answers of a goal, written as in a rule. About an image: its state, and its objects as
additions; give the images of all disks of a file system that has several. About a log (with --base): the changes of one commit and the state after it, of the commit
with generation COMMIT, or the last one. Helpers of the rules can be used, and violation(N, TREE, ID).

Without a GOAL, which is where the first argument is a file, it asks for goals: on a terminal with history (arrow up) and completion of predicates,
kinds and fields (Tab). There, "help" lists the kinds of objects with their fields, Ctrl-D ends.

Answers are a table, or with --json one object a line. "_" stands for a variable that the goal leaves
open; variables that begin with _ are not printed.

Exit status: 0 answered (also if there are no answers), 2 wrong usage, 3 could not be answered.`,
		Example: `  fsward rules query 'query(inode, 2, links_count, N)' ext3.img
  fsward rules query 'add(5, k(INODE, inode_item, 0))' disk.log@9 --base disk.img
  fsward rules query 'query(3, k(1, dev_item, N), total_bytes, SIZE)' disk0.img disk1.img
  fsward rules query disk.img`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			goal := ""
			cfg.Targets = args
			if _, err := os.Stat(args[0]); err != nil && len(args) > 1 {
				goal, cfg.Targets = args[0], args[1:]
			}
			return hostd.Query(c.Context(), cfg, func(q *hostd.Querier) error {
				if goal != "" {
					return answer(c.Context(), os.Stdout, q, goal, asJSON)
				}
				if term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())) {
					return converse(c.Context(), q, asJSON)
				}
				return answerLines(c.Context(), os.Stdin, q, asJSON)
			})
		},
	}
	c.Flags().StringVar(&cfg.Base, "base", "", "`IMG` that the log starts from; without it the argument is an image")
	c.Flags().StringVar(&cfg.FS, "fs", detect.Auto, "file system: auto, btrfs or ext3")
	c.Flags().StringVar(&cfg.Dir, "rules", "", "use the helpers of the rules in `DIR` instead of the built-in ones")
	c.Flags().IntVar(&cfg.Limit, "limit", 10000, "print at most this many answers")
	c.Flags().Int64Var(&cfg.Steps, "steps", 20_000_000, "give up after this many steps (a step is about a microsecond)")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return c
}

func answer(ctx context.Context, w io.Writer, q *hostd.Querier, goal string, asJSON bool) error {
	a, err := q.Ask(ctx, goal)
	if a != nil && (err == nil || len(a.Rows) > 0) {
		if e := hostd.WriteAnswers(w, a, asJSON); e != nil {
			return e
		}
	}
	return err
}

// answerLines answers the goals on the lines of r. A goal that cannot be answered does not stop the next.
func answerLines(ctx context.Context, r io.Reader, q *hostd.Querier, asJSON bool) error {
	var errs []error
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if goal := strings.TrimSpace(lines.Text()); goal != "" && goal[0] != '%' {
			errs = append(errs, answer(ctx, os.Stdout, q, goal, asJSON))
		}
	}
	return errors.Join(append(errs, lines.Err())...)
}

// converse asks for goals on the terminal.
func converse(ctx context.Context, q *hostd.Querier, asJSON bool) error {
	old, err := term.MakeRaw(int(os.Stdin.Fd()))
	if err != nil {
		return err
	}
	defer func() { _ = term.Restore(int(os.Stdin.Fd()), old) }()
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{os.Stdin, os.Stdout}, "?- ")
	if width, height, err := term.GetSize(int(os.Stdout.Fd())); err == nil && width > 0 {
		_ = t.SetSize(width, height)
	}
	t.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) {
		if key != '\t' {
			return "", 0, false
		}
		newLine, newPos, choices := q.Complete(line, pos)
		if newLine == line && len(choices) > 1 {
			fmt.Fprintln(t, strings.Join(choices, "  "))
		}
		return newLine, newPos, true
	}
	fmt.Fprintf(t, "%s. A goal and Enter; Tab completes, \"help\" lists kinds and fields, Ctrl-D ends.\n", q.Title)
	for {
		goal, err := t.ReadLine()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch strings.TrimSpace(goal) {
		case "":
		case "help":
			q.Fields(t)
		default:
			if err := answer(ctx, t, q, goal, asJSON); err != nil {
				fmt.Fprintln(t, err)
			}
		}
	}
}
