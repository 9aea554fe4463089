package report

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// WriteMarkdown writes the table, and below it a line for each error.
func WriteMarkdown(w io.Writer, runs []Run) error {
	b := bufio.NewWriter(w)
	t := tableOf(runs)
	fmt.Fprintf(b, "| |%s\n|---|%s\n", cells(t.Properties), strings.Repeat("---|", len(t.Properties)))
	for _, r := range t.Rows {
		texts := make([]string, len(r.Cells))
		for i, c := range r.Cells {
			texts[i] = c.String()
		}
		fmt.Fprintf(b, "| %s |%s\n", plain(r.System), cells(texts))
	}
	fmt.Fprintln(b)
	for _, r := range runs {
		for _, e := range r.Errors {
			first, _, _ := strings.Cut(e.Summary, "\n")
			fmt.Fprintf(b, "- %s, %s: **%s**, %d times (%s%s): %s\n", plain(r.System), plain(r.property(e.Error)), plain(e.Kind), e.Count, plain(e.Path), missing(e),
				plain(first))
		}
	}
	return b.Flush()
}

// missing says what an error needs to be seen: with no write missing, what is lost was never written.
func missing(e Error) string {
	switch {
	case e.Crash == nil:
		return ""
	case len(e.Crash.Missing) == 0:
		return ", no write missing"
	}
	return fmt.Sprintf(", writes missing: %d", len(e.Crash.Missing))
}

// String is what stands in a cell.
func (c cell) String() string {
	switch {
	case !c.Asked:
		return ""
	case len(c.Kinds) > 0:
		return "✗ " + strings.Join(c.Kinds, ", ")
	case c.Crashes == 0:
		return "?"
	case c.All:
		return fmt.Sprintf("✓ %d, all", c.Crashes)
	}
	return fmt.Sprintf("✓ %d", c.Crashes)
}

func cells(texts []string) string {
	var b strings.Builder
	for _, s := range texts {
		fmt.Fprintf(&b, " %s |", plain(s))
	}
	return b.String()
}

var special = regexp.MustCompile("[\\\\`*_{}\\[\\]<>#|&~]")

// plain has Markdown take a text as it is, on one line.
func plain(s string) string {
	return special.ReplaceAllString(strings.Join(strings.Fields(s), " "), `\$0`)
}
