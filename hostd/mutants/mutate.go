// Package mutants weakens the rules, one small change at a time, and asks whether a test notices: a rule
// that can be weakened without notice is one that no test holds.
package mutants

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"fsward/invariants"
)

// A Mutant is a set of rules with one change.
type Mutant struct {
	File string `json:"file"`
	Line int    `json:"line"` // of the clause
	Rule string `json:"rule"` // the number, or "" for a clause that several rules share
	What string `json:"what"`

	files []invariants.File
}

// A span is a piece of a file: [from, to).
type span struct{ from, to int }

// A clause is a clause of a file with the goals of its body, as they are written.
type clause struct {
	span
	line  int
	rule  string
	goals []span
}

var head = regexp.MustCompile(`^violation\(\s*'?([^,']+)'?\s*,`)

// Mutants makes every mutant of a set of rules.
func Mutants(files []invariants.File) []*Mutant {
	var out []*Mutant
	for i, f := range files {
		text := string(f.Text)
		for _, c := range clauses(text) {
			add := func(what string, from, to int, by string) {
				changed := append([]invariants.File(nil), files...)
				changed[i].Text = []byte(text[:from] + by + text[to:])
				out = append(out, &Mutant{File: f.Name, Line: c.line, Rule: c.rule, What: what, files: changed})
			}
			add("clause removed: "+firstLine(text[c.from:c.to]), c.from, c.to, "")
			for n, g := range c.goals {
				goal := text[g.from:g.to]
				if len(c.goals) > 1 {
					from, to := withComma(text, c, n)
					add("goal dropped: "+goal, from, to, "")
				}
				for _, m := range turned(goal) {
					add(fmt.Sprintf("%s turned: %s", m.was, goal), g.from+m.from, g.from+m.to, m.now)
				}
			}
		}
	}
	return out
}

// withComma is a goal with the comma that goes when it is dropped.
func withComma(text string, c clause, n int) (from, to int) {
	if n == 0 {
		return c.goals[0].from, c.goals[1].from
	}
	from = c.goals[n-1].to
	return from + strings.IndexByte(text[from:], ','), c.goals[n].to
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// A turn is a replacement inside a goal.
type turn struct {
	from, to int
	was, now string
}

// comparisons are turned to what differs from them at one point or everywhere.
var comparisons = map[string]string{"=:=": `=\=`, `=\=`: "=:=", "=<": "<", "<": "=<", ">=": ">", ">": ">=", `\==`: "==", "==": `\==`, `\=`: "="}

// turned lists the changes of comparisons and numbers in a goal.
func turned(goal string) []turn {
	var out []turn
	for i := 0; i < len(goal); {
		n := tokenLen(goal[i:])
		tok := goal[i : i+n]
		if now, ok := comparisons[tok]; ok {
			out = append(out, turn{i, i + n, tok, now})
		} else if v, err := strconv.ParseUint(tok, 0, 63); err == nil {
			out = append(out, turn{i, i + n, tok, strconv.FormatUint(v+1, 10)})
		}
		i += n
	}
	return out
}

var token = regexp.MustCompile(`^(%[^\n]*|'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.)*"|0'.|0[xo][0-9a-fA-F]+|[A-Za-z_0-9]+|[-+*/\\^<>=~:.?@#&$]+|\s+)`)

// tokenLen is the length of the token, comment or blank that text begins with.
func tokenLen(text string) int {
	if m := token.FindString(text); m != "" {
		return len(m)
	}
	return 1
}

// clauses cuts a file into clauses. It relies on the file being one that loads.
func clauses(text string) []clause {
	var out []clause
	var c *clause
	var goal *span
	depth, body := 0, false
	endGoal := func(at int) {
		if goal != nil {
			goal.to = goal.from + len(strings.TrimRight(text[goal.from:at], " \n\t"))
			c.goals = append(c.goals, *goal)
			goal = nil
		}
	}
	for i := 0; i < len(text); {
		n := tokenLen(text[i:])
		tok := text[i : i+n]
		blank := tok[0] == '%' || strings.TrimSpace(tok) == ""
		if !blank && c == nil {
			c = &clause{span: span{from: i}, line: 1 + strings.Count(text[:i], "\n")}
			if m := head.FindStringSubmatch(text[i:]); m != nil {
				c.rule = m[1]
			}
			depth, body = 0, false
		}
		switch {
		case blank:
		case depth == 0 && tok == ".":
			endGoal(i)
			c.to = i + 1
			out = append(out, *c)
			c = nil
		case depth == 0 && tok == ":-":
			body = true
		case depth == 0 && tok == ",":
			endGoal(i)
		default:
			if body && goal == nil {
				goal = &span{from: i}
			}
			switch tok {
			case "(", "[", "{":
				depth++
			case ")", "]", "}":
				depth--
			}
		}
		i += n
	}
	return out
}

// only leaves of a set of rules one rule and what is no rule; all of it for "".
func only(files []invariants.File, rule string) []invariants.File {
	if rule == "" {
		return files
	}
	out := make([]invariants.File, len(files))
	for i, f := range files {
		text := []byte(string(f.Text))
		for _, c := range clauses(string(f.Text)) {
			if c.rule == "" || c.rule == rule {
				continue
			}
			for at := c.from; at < c.to; at++ {
				if text[at] != '\n' {
					text[at] = ' '
				}
			}
		}
		out[i] = invariants.File{Name: f.Name, Text: text}
	}
	return out
}
