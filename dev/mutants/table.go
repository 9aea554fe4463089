package mutants

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// WriteTable writes a Markdown table of the mutants of each rule by what noticed them. Below it are
// lists of the survivors and of the mutants that only commits noticed.
func WriteTable(w io.Writer, results []*Result) error {
	type row struct{ all, invalid, cases, commits, survive int }
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
			t.survive++
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
	b.WriteString("| rule | mutants | do not load | noticed by unit tests | by commits only |" +
		" survive |\n|---|---|---|---|---|---|\n")
	sum := row{}
	for _, n := range names {
		t := rows[n]
		name := n
		if n == "" {
			name = "shared clauses"
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d |\n", name, t.all, t.invalid, t.cases, t.commits,
			t.survive)
		sum = row{sum.all + t.all, sum.invalid + t.invalid, sum.cases + t.cases, sum.commits + t.commits,
			sum.survive + t.survive}
	}
	fmt.Fprintf(&b, "| all | %d | %d | %d | %d | %d |\n", sum.all, sum.invalid, sum.cases, sum.commits,
		sum.survive)
	for _, r := range Survivors(results) {
		fmt.Fprintf(&b, "\n- %s:%d %s", r.File, r.Line, r)
	}
	for _, r := range results {
		if r.ByCommit() {
			fmt.Fprintf(&b, "\n- %s:%d %s: only the commit %s notices", r.File, r.Line, r, r.By)
		}
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// number returns the number of a rule for sorting. Shared clauses, which have none, come last.
func number(rule string) int {
	n, err := strconv.Atoi(rule)
	if err != nil {
		return 1 << 20
	}
	return n
}
