package matrix

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// Write writes the result: matrix.json, misses.md.
func Write(dir string, rows []*Row) error {
	text, err := json.MarshalIndent(rows, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "matrix.json"), text, 0o644); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, "misses.md"))
	if err != nil {
		return err
	}
	defer f.Close()
	writeMisses(f, rows)
	return nil
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
