package mutants

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// WriteTable writes as Markdown how many mutants each rule has, how many were noticed, and the
// survivors.
func WriteTable(w io.Writer, results []*Result) error {
	type row struct{ all, invalid, cases, commits, left int }
	rows := make(map[string]*row)
	var names []string
	for _, r := range results {
		t := rows[r.Rule]
		if t == nil {
			t = &row{}
			rows[r.Rule] = t
			names = append(names, r.Rule)
		}
		t.all++
		switch {
		case r.By == "":
			t.left++
		case r.By == errInvalid.Error():
			t.invalid++
		case r.ByCommit():
			t.commits++
		default:
			t.cases++
		}
	}
	slices.SortFunc(names, func(a, b string) int { return number(a) - number(b) })
	var b strings.Builder
	b.WriteString("| rule | mutants | do not load | noticed by unit tests | by commits only | survive |\n|---|---|---|---|---|---|\n")
	sum := row{}
	for _, n := range names {
		t := rows[n]
		name := n
		if n == "" {
			name = "shared clauses"
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d |\n", name, t.all, t.invalid, t.cases, t.commits,
			t.left)
		sum = row{sum.all + t.all, sum.invalid + t.invalid, sum.cases + t.cases, sum.commits + t.commits,
			sum.left + t.left}
	}
	fmt.Fprintf(&b, "| all | %d | %d | %d | %d | %d |\n", sum.all, sum.invalid, sum.cases, sum.commits,
		sum.left)
	for _, r := range Survivors(results) {
		fmt.Fprintf(&b, "\n- %s:%d %s", r.File, r.Line, r)
	}
	for _, r := range results {
		if r.ByCommit() {
			fmt.Fprintf(&b, "\n- %s:%d %s: noticed by the commit %s alone", r.File, r.Line, r, r.By)
		}
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func number(rule string) int {
	n, err := strconv.Atoi(rule)
	if err != nil {
		return 1 << 20
	}
	return n
}
