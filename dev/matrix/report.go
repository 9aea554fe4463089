package matrix

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Write writes the result to files in dir: matrix.json, matrix.svg, matrix.html, summary.md and
// misses.md.
func Write(fs, dir string, rows []*Row) error {
	f, err := findFormat(fs)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(rows, "", " ")
	if err != nil {
		return err
	}
	var summary, misses strings.Builder
	if err := errors.Join(f.writeSummary(&summary, rows),
		f.writeOneSided(&summary, rows)); err != nil {
		return err
	}
	f.writeMisses(&misses, rows)
	for name, content := range map[string]string{"matrix.json": string(text),
		"matrix.svg": f.svg(rows), "matrix.html": f.html(rows, time.Now().Format(time.DateOnly)),
		"summary.md": summary.String(), "misses.md": misses.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// WriteResult writes the document of a run for docs/results: the date, the summary, and the
// corruptions that only fsward or only the checker finds.
func WriteResult(fs, path string, rows []*Row) error {
	f, err := findFormat(fs)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# The corruption matrix of %s: result\n\n"+
		"**Command**: `make matrix MATRIX=\"-fs %s -result %s\"`.\n"+
		"**Date**: %s. [matrix.md](matrix.md) explains it.\n\n",
		f.title, f.name, path, time.Now().Format(time.DateOnly))
	if err := errors.Join(f.writeSummary(&b, rows), f.writeOneSided(&b, rows)); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// writeMisses lists the missed rows by group.
func (f *format) writeMisses(w io.Writer, rows []*Row) {
	groups := make(map[string][]*Row)
	reported, missed := 0, 0
	for _, r := range rows {
		if r.Check.Reports() {
			reported++
		}
		if r.Missed() {
			missed++
			groups[r.Group()] = append(groups[r.Group()], r)
		}
	}
	fmt.Fprintf(w, "# Misses\n\n%d cells. %s reports %d, and fsward lets %d of these through.\n",
		len(rows), f.checker, reported, missed)
	var names []string
	for n := range groups {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		fmt.Fprintf(w, "\n## %s: %d\n\n", n, len(groups[n]))
		slices.SortStableFunc(groups[n], func(a, b *Row) int {
			return cmp.Compare(a.Object+a.Field, b.Object+b.Field)
		})
		for _, r := range groups[n] {
			fmt.Fprintf(w, "- `%s` (%s): %s\n  %s: %s\n", r.Spec(), r.Variant, r.What, r.Check.Verdict,
				r.Check.Message)
		}
	}
}
