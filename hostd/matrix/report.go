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

// Write writes the result: matrix.json, matrix.svg, matrix.html, summary.md, misses.md.
func Write(dir string, rows []*Row) error {
	text, err := json.MarshalIndent(rows, "", " ")
	if err != nil {
		return err
	}
	var summary, misses strings.Builder
	if err := errors.Join(WriteSummary(&summary, rows), WriteOneSided(&summary, rows)); err != nil {
		return err
	}
	writeMisses(&misses, rows)
	for name, content := range map[string]string{"matrix.json": string(text), "matrix.svg": SVG(rows), "matrix.html": HTML(rows, time.Now().Format(time.DateOnly)),
		"summary.md": summary.String(), "misses.md": misses.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// WriteResult writes what is kept of a run: the date, the summary, what only one side finds.
func WriteResult(path string, rows []*Row) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# The corruption matrix: result\n\nMade by `make matrix MATRIX=\"-result docs/MATRIX_RESULT.md\"`, %s. [MATRIX.md](MATRIX.md) says what it is.\n\n", time.Now().Format(time.DateOnly))
	if err := errors.Join(WriteSummary(&b, rows), WriteOneSided(&b, rows)); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// writeMisses lists what btrfs check reports and fsward lets through, by group.
func writeMisses(w io.Writer, rows []*Row) {
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
	fmt.Fprintf(w, "# Misses\n\n%d cells, %d reported by btrfs check, %d of them let through by fsward.\n", len(rows), reported, missed)
	var names []string
	for n := range groups {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		fmt.Fprintf(w, "\n## %s: %d\n\n", n, len(groups[n]))
		slices.SortStableFunc(groups[n], func(a, b *Row) int { return cmp.Compare(a.Object+a.Field, b.Object+b.Field) })
		for _, r := range groups[n] {
			fmt.Fprintf(w, "- `%s` (%s): %s\n  %s: %s\n", r.Spec(), r.Variant, r.What, r.Check.Verdict, r.Check.Message)
		}
	}
}
