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

	"fsward/hostd/offline"
)

const rulesQueryText = `Prints all answers of a goal, which is written as in a rule. It can use the
helpers of the rules, and violation(N, TREE, ID).

In an image, a goal sees the state of the file system, and all objects as additions. Give
the images of all disks if the file system has several. In a log (with --base), a goal
sees the changes of one commit and the state after it: the commit with generation COMMIT,
or the last one.

If the disk has several volumes, the goal is about each of them, and the answers stand under
a heading. IMG:p2 or IMG:vg/lv names one volume, also after --base. --fs ext3 leaves out
volumes with other file systems, which may not have the kinds and fields of the goal.

If the first argument is a file, there is no GOAL, and query reads goals from standard
input, one a line. A terminal has history (arrow up) and completes predicates, kinds and
fields (Tab). There, "help" lists the kinds of objects with their fields, and Ctrl-D
ends, or goes on with the next volume.

Answers are printed as a table, or with --json as one object a line. "_" stands for a
variable that the goal leaves open. Variables whose names begin with _ are not printed.

Exit status: 0 answered (also if there are no answers), 2 wrong usage, 3 could not be
answered.`

func rulesQueryCommand() *cobra.Command {
	var cfg offline.QueryConfig
	var asJSON bool
	c := &cobra.Command{
		Use:   "query ['GOAL'] IMG...|LOG[@COMMIT]",
		Short: "Print all answers of a goal about an image or a commit",
		Long:  rulesQueryText,
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
			interactive := goal == "" && term.IsTerminal(int(os.Stdin.Fd())) &&
				term.IsTerminal(int(os.Stdout.Fd()))
			goals := []string{goal}
			if goal == "" && !interactive {
				var err error
				if goals, err = readGoals(os.Stdin); err != nil {
					return err
				}
			}
			return offline.Query(c.Context(), cfg, func(q *offline.Querier) error {
				if interactive {
					return converse(c.Context(), q, asJSON)
				}
				if q.Volume != "" && !asJSON {
					fmt.Println(q.Title)
				}
				return answerAll(c.Context(), os.Stdout, q, goals, asJSON)
			})
		},
	}
	c.Flags().StringVar(&cfg.Base, "base", "",
		"base image `IMG` of the log; without it the argument is an image")
	addFSFlag(c, &cfg.FS)
	c.Flags().StringVar(&cfg.Rules.Dir, "rules", "",
		"use the helpers of the rules in `DIR` instead of the built-in ones")
	addAddRules(c, &cfg.Rules.Add)
	addNumber(c, &cfg.Limit, "limit", 10000, 1, "print at most this many answers")
	c.Flags().Int64Var(&cfg.Steps, "steps", 20_000_000,
		"give up after this many steps (a step takes about a microsecond)")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return c
}

func answer(ctx context.Context, w io.Writer, q *offline.Querier, goal string, asJSON bool) error {
	a, err := q.Ask(ctx, goal)
	if a != nil && (err == nil || len(a.Rows) > 0) {
		if e := offline.WriteAnswers(w, a, q.Volume, asJSON); e != nil {
			return e
		}
	}
	return err
}

// readGoals reads goals, one a line, without comments.
func readGoals(r io.Reader) (goals []string, err error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if goal := strings.TrimSpace(lines.Text()); goal != "" && goal[0] != '%' {
			goals = append(goals, goal)
		}
	}
	return goals, lines.Err()
}

// answerAll answers goals. After a goal that cannot be answered it goes on with the next, and
// returns all errors at the end.
func answerAll(ctx context.Context, w io.Writer, q *offline.Querier, goals []string,
	asJSON bool) error {
	var errs []error
	for _, goal := range goals {
		errs = append(errs, answer(ctx, w, q, goal, asJSON))
	}
	return errors.Join(errs...)
}

// converse reads goals from the terminal and answers them until Ctrl-D.
func converse(ctx context.Context, q *offline.Querier, asJSON bool) error {
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
	fmt.Fprintf(t, "%s. Type a goal and press Enter. "+
		"Tab completes, \"help\" lists kinds and fields, Ctrl-D ends.\n", q.Title)
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
