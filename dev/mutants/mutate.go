// Package mutants weakens the rules, one small change at a time, and asks whether a test notices: a rule
// that can be weakened without notice is one that no test holds.
package mutants

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"fsward/invariants"
)

// A Mutant is a set of rules with one change.
type Mutant struct {
	File   string
	Line   int    // of the clause
	Rule   string // the number, or "" for a clause that several rules share
	Clause string // its rule or predicate, and which of its clauses it is
	What   string

	rules []string          // that the clause is a part of
	files []invariants.File // the changed clauses of these rules and of what they use
}

// String names the mutant by its place and change. No two mutants of a set of rules have the same name.
func (m *Mutant) String() string { return m.Clause + ": " + m.What }

// Mutants makes every mutant of a set of rules.
func Mutants(files []invariants.File) []*Mutant {
	var out []*Mutant
	p := parse(files)
	count := make(map[string]int)
	for _, c := range p.clauses {
		count[c.id()]++
		name := fmt.Sprintf("%s clause %d", c.id(), count[c.id()])
		rules := p.rulesWith(c.name, c.rule)
		add := func(what string, from, to int, by string) {
			what = strings.Join(strings.Fields(what), " ")
			out = append(out, &Mutant{File: c.file, Line: c.line, Rule: c.rule, Clause: name, What: what, rules: rules,
				files: p.files(rules, c, c.text[:from]+by+c.text[to:])})
		}
		add("removed", 0, len(c.text), "")
		for n, g := range c.goals {
			goal := c.text[g.from:g.to]
			if len(c.goals) > 1 {
				from, to := withComma(c, n)
				add("without "+goal, from, to, "")
			}
			for _, t := range append(turned(goal), dropped(goal)...) {
				add(goal+" becomes "+goal[:t.from]+t.now+goal[t.to:], g.from+t.from, g.from+t.to, t.now)
			}
		}
	}
	return out
}

// withComma is a goal with the comma that goes when it is dropped.
func withComma(c *clause, n int) (from, to int) {
	if n == 0 {
		return c.goals[0].from, c.goals[1].from
	}
	from = c.goals[n-1].to
	return from + strings.IndexByte(c.text[from:], ','), c.goals[n].to
}

// A turn is a replacement inside a goal.
type turn struct {
	from, to int
	now      string
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
			out = append(out, turn{i, i + n, now})
		} else if v, err := strconv.ParseUint(tok, 0, 64); err == nil && v < math.MaxUint64 {
			out = append(out, turn{i, i + n, strconv.FormatUint(v+1, 10)})
		}
		i += n
	}
	return out
}

// dropped lists what becomes of a goal with others in brackets when one of those goes: a part of a conjunction, of a
// condition or of what follows it becomes true, an alternative fails.
func dropped(goal string) []turn {
	var out []turn
	for _, g := range groups(goal) {
		alternatives := split(goal, g, ";")
		for _, a := range alternatives {
			if len(alternatives) > 1 {
				out = append(out, turn{a.from, a.to, "fail"})
			}
			for _, part := range split(goal, a, "->") {
				goals := split(goal, part, ",")
				for _, s := range goals {
					if (part != g || len(goals) > 1) && goal[s.from:s.to] != "true" {
						out = append(out, turn{s.from, s.to, "true"})
					}
				}
			}
		}
	}
	return out
}

// groups are the insides of the brackets in a goal that hold goals, or a sum: those that are not of arguments, and
// those of a negation.
func groups(goal string) []span {
	var out []span
	var open []int // where a bracket's inside begins; -1: it is of arguments
	before := ""   // the token before
	for i := 0; i < len(goal); {
		tok := goal[i : i+tokenLen(goal[i:])]
		i += len(tok)
		switch tok {
		case "(":
			at := i
			if name.MatchString(before) && before != "not" {
				at = -1
			}
			open = append(open, at)
		case ")":
			if at := open[len(open)-1]; at >= 0 {
				out = append(out, trim(goal, span{at, i - 1}))
			}
			open = open[:len(open)-1]
		}
		before = tok
	}
	return out
}

// split cuts a span at a token where it stands outside of brackets.
func split(text string, s span, at string) []span {
	var out []span
	from, depth := s.from, 0
	for i := s.from; i < s.to; {
		tok := text[i : i+tokenLen(text[i:])]
		switch tok {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		case at:
			if depth == 0 {
				out = append(out, trim(text, span{from, i}))
				from = i + len(tok)
			}
		}
		i += len(tok)
	}
	return append(out, trim(text, span{from, s.to}))
}

// trim leaves out the blanks around.
func trim(text string, s span) span {
	inside := text[s.from:s.to]
	s.from += len(inside) - len(strings.TrimLeft(inside, " \n\t"))
	s.to -= len(inside) - len(strings.TrimRight(inside, " \n\t"))
	return s
}

// without are rules with all clauses of one of them gone.
func without(files []invariants.File, rule string) *Mutant {
	p := parse(files)
	p.clauses = slices.DeleteFunc(p.clauses, func(c *clause) bool { return c.rule == rule })
	return &Mutant{Rule: rule, rules: []string{rule}, files: p.files([]string{rule}, nil, "")}
}
