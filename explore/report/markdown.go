package report

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// WriteMarkdown writes the table of runs, and below it a line for each run and for each error,
// and the coverage of the kernel's code.
func WriteMarkdown(w io.Writer, runs []Run) error {
	b := bufio.NewWriter(w)
	t := tableOf(runs)
	fmt.Fprintf(b, "| |%s\n|---|%s\n", cells(t.Properties), strings.Repeat("---|", len(t.Properties)))
	for _, r := range t.Rows {
		texts := make([]string, len(r.Cells))
		for i, c := range r.Cells {
			texts[i] = c.String()
		}
		fmt.Fprintf(b, "| %s |%s\n", escape(r.System), cells(texts))
	}
	fmt.Fprintf(b, "\nThe runs behind the table:\n\n")
	for _, r := range runs {
		end := "the run ended before all was explored"
		if r.Complete {
			end = "complete"
		}
		if r.Unjudged > 0 {
			end += fmt.Sprintf("; %d not judged, since a command was too slow", r.Unjudged)
		}
		fmt.Fprintf(b, "- %s, %s: %d states in %d steps to depth %d, %d crash disks; %s\n",
			escape(r.System), escape(r.checker()), r.States, r.Totals.Runs, r.Deepest,
			r.CrashStates, end)
	}
	fmt.Fprintln(b)
	for _, r := range runs {
		for _, e := range r.Errors {
			first, _, _ := strings.Cut(e.Summary, "\n")
			class, times := "", "times"
			if e.Surprise {
				class = "surprise "
			}
			if e.Count == 1 {
				times = "time"
			}
			fmt.Fprintf(b, "- %s, %s: %s**%s**, %d %s (%s%s%s): %s\n",
				escape(r.System), escape(r.property(e.Error)), class, escape(e.Kind), e.Count,
				times, escape(e.Path), missing(e), unsteady(e), escape(first))
		}
	}
	writeCoverage(b, runs)
	return b.Flush()
}

// missing describes the writes that the crash state of an error lacks. If it lacks none, then the
// lost data was never written.
func missing(e Error) string {
	switch {
	case e.Crash == nil:
		return ""
	case len(e.Crash.Missing) == 0:
		return ", no write missing"
	}
	return fmt.Sprintf(", writes missing: %d", len(e.Crash.Missing))
}

// unsteady says how often an error showed in replays, unless it showed each time.
func unsteady(e Error) string {
	if e.Replays > 0 && e.Shown == e.Replays {
		return ""
	}
	return ", " + e.Replayed()
}

// String returns the text of a cell: "" if the property was not asked for, the kinds of errors, "?"
// without any crash, or the number of crashes; and the kinds of surprises.
func (c cell) String() string {
	text := fmt.Sprintf("✓ %d", c.Crashes)
	switch {
	case !c.Asked:
		return ""
	case len(c.Kinds) > 0:
		text = "✗ " + strings.Join(c.Kinds, ", ")
	case c.Crashes == 0:
		text = "?"
	case c.All:
		text += ", all"
	}
	if len(c.Surprises) > 0 {
		text += " (! " + strings.Join(c.Surprises, ", ") + ")"
	}
	return text
}

// cells returns the cells of a row, escaped.
func cells(texts []string) string {
	var b strings.Builder
	for _, s := range texts {
		fmt.Fprintf(&b, " %s |", escape(s))
	}
	return b.String()
}

var special = regexp.MustCompile("[\\\\`*_{}\\[\\]<>#|&~]")

// escape returns a text on one line, with Markdown's special characters escaped.
func escape(s string) string {
	return special.ReplaceAllString(strings.Join(strings.Fields(s), " "), `\$0`)
}
