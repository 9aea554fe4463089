package matrix

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A count counts cells.
type count struct {
	cells                        int
	both, fsward, check, neither int // by what finds the corruption
	asked                        int // those with an answer of Linux
	linux                        int // those in which Linux finds an error
}

func (c *count) add(r *Row) {
	c.cells++
	switch f, p := r.Fsward.Refused(), r.Check.Reports(); {
	case f && p:
		c.both++
	case f:
		c.fsward++
	case p:
		c.check++
	default:
		c.neither++
	}
	if r.Linux.Verdict != "" {
		c.asked++
	}
	if r.Linux.Reports() {
		c.linux++
	}
}

// writeSummary writes the matrix as a Markdown table, a line for each group.
func (f *format) writeSummary(w io.Writer, rows []*Row) error {
	counts := make(map[string]*count)
	for _, g := range f.groups {
		counts[g] = &count{}
	}
	all := &count{}
	for _, r := range rows {
		counts[r.Group()].add(r)
		all.add(r)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| group | cells | both find it | fsward alone | %s alone | neither |"+
		" Linux complains |\n|---|---:|---:|---:|---:|---:|---:|\n", f.checker)
	line := func(name string, c *count) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d of %d |\n", name, c.cells, c.both, c.fsward,
			c.check, c.neither, c.linux, c.asked)
	}
	for _, g := range f.groups {
		line(g, counts[g])
	}
	line("all", all)
	_, err := io.WriteString(w, b.String())
	return err
}

// writeOneSided lists the cells that fsward finds and the checker does not, and the reverse. It
// writes a line for each field, with the number of its cells and the message of the first.
func (f *format) writeOneSided(w io.Writer, rows []*Row) error {
	type key struct{ object, field string }
	type entry struct {
		key
		changes []string
		reason  string
		n       int
	}
	list := func(title string, wanted func(*Row) bool, reason func(*Row) string) string {
		found := make(map[key]*entry)
		var order []*entry
		for _, r := range rows {
			if !wanted(r) {
				continue
			}
			k := key{r.Object, r.Field}
			e := found[k]
			if e == nil {
				e = &entry{key: k, reason: reason(r)}
				found[k] = e
				order = append(order, e)
			}
			e.n++
			if !slices.Contains(e.changes, r.Change) {
				e.changes = append(e.changes, r.Change)
			}
		}
		slices.SortFunc(order, func(a, b *entry) int {
			return cmp.Or(cmp.Compare(a.object, b.object), cmp.Compare(a.field, b.field))
		})
		var b strings.Builder
		fmt.Fprintf(&b, "\n## %s\n\n| object | field | cells | changes | message |\n"+
			"|---|---|---:|---|---|\n", title)
		for _, e := range order {
			fmt.Fprintf(&b, "| %s | %s | %d | %s | %s |\n", e.object, e.field, e.n,
				strings.Join(e.changes, " "), strings.ReplaceAll(e.reason, "|", "/"))
		}
		return b.String()
	}
	checker := list("Found by "+f.checker+" alone", (*Row).Missed,
		func(r *Row) string { return r.Check.Message })
	fsward := list("Found by fsward alone",
		func(r *Row) bool { return r.Fsward.Refused() && !r.Check.Reports() },
		func(r *Row) string { return strings.Join(r.Fsward.Rules, " ") + ": " + r.Fsward.Detail })
	_, err := io.WriteString(w, checker+fsward)
	return err
}
