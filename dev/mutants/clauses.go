package mutants

import (
	"regexp"
	"slices"
	"strings"

	"fsward/invariants"
)

// A span is the range [from, to) of bytes of a text.
type span struct{ from, to int }

// A clause is a clause of a file, with the positions of the goals in its body.
type clause struct {
	file  string
	line  int
	text  string
	rule  string          // number of its rule; "" if it does not define violation
	name  string          // of its predicate
	words map[string]bool // tokens of its body, among them the predicates that it uses
	goals []span          // of text
}

// id returns the number of the rule of a clause, or the name of its predicate.
func (c *clause) id() string {
	if c.rule != "" {
		return c.rule
	}
	return c.name
}

// A program is a set of rules as clauses.
type program struct {
	clauses []*clause
}

func parse(files []invariants.File) *program {
	p := &program{}
	for _, f := range files {
		p.clauses = append(p.clauses, clauses(f.Name, string(f.Text))...)
	}
	return p
}

// needs returns the names of predicates that a rule uses, directly or indirectly.
func (p *program) needs(rule string) map[string]bool {
	out := make(map[string]bool)
	var visit func(words map[string]bool)
	visit = func(words map[string]bool) {
		for _, c := range p.clauses {
			if c.rule == "" && words[c.name] {
				seen := out[c.name]
				out[c.name] = true
				if !seen {
					for _, d := range p.clauses {
						if d.rule == "" && d.name == c.name {
							visit(d.words)
						}
					}
				}
			}
		}
	}
	for _, c := range p.clauses {
		if c.rule == rule {
			visit(c.words)
		}
	}
	return out
}

// rulesWith lists the rules that a clause belongs to: its own rule, or, if rule is "", all rules
// that use the predicate name.
func (p *program) rulesWith(name, rule string) []string {
	if rule != "" {
		return []string{rule}
	}
	var out []string
	for _, r := range p.rules() {
		if p.needs(r)[name] {
			out = append(out, r)
		}
	}
	return out
}

// rules lists the numbers of the rules, each once.
func (p *program) rules() []string {
	var out []string
	for _, c := range p.clauses {
		if c.rule != "" && !slices.Contains(out, c.rule) {
			out = append(out, c.rule)
		}
	}
	return out
}

// files returns the clauses of some rules and of the predicates that they use. It replaces the
// clause changed by text.
func (p *program) files(rules []string, changed *clause, text string) []invariants.File {
	needed := make(map[string]bool)
	for _, r := range rules {
		for name := range p.needs(r) {
			needed[name] = true
		}
	}
	var out []invariants.File
	for _, c := range p.clauses {
		if c.rule != "" && !slices.Contains(rules, c.rule) || c.rule == "" && !needed[c.name] {
			continue
		}
		if len(out) == 0 || out[len(out)-1].Name != c.file {
			out = append(out, invariants.File{Name: c.file})
		}
		t := c.text
		if c == changed {
			t = text
		}
		last := &out[len(out)-1]
		last.Text = append(append(last.Text, t...), '\n')
	}
	return out
}

var (
	head  = regexp.MustCompile(`^violation\(\s*'?([^,']+)'?\s*,`)
	name  = regexp.MustCompile(`^[a-z][A-Za-z_0-9]*`)
	token = regexp.MustCompile(`^(%[^\n]*|'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.)*"|0'.|` +
		`0[xo][0-9a-fA-F]+|[A-Za-z_0-9]+|[-+*/\\^<>=~:.?@#&$]+|\s+)`)
)

// tokenLen returns the length in bytes of the token, comment or white space at the beginning of
// text.
func tokenLen(text string) int {
	if m := token.FindString(text); m != "" {
		return len(m)
	}
	return 1
}

// clauses splits the text of a file into clauses. The file must be one that the engine loads.
func clauses(file, text string) []*clause {
	var out []*clause
	var c *clause
	goal := -1 // beginning of the present goal
	start, depth, body := 0, 0, false
	endGoal := func(at int) {
		if goal >= 0 {
			end := len(strings.TrimRight(text[:at], " \n\t"))
			c.goals = append(c.goals, span{goal - start, end - start})
			goal = -1
		}
	}
	for i := 0; i < len(text); {
		n := tokenLen(text[i:])
		tok := text[i : i+n]
		blank := tok[0] == '%' || strings.TrimSpace(tok) == ""
		if !blank && c == nil {
			c = &clause{
				file:  file,
				line:  1 + strings.Count(text[:i], "\n"),
				name:  name.FindString(text[i:]),
				words: make(map[string]bool),
			}
			if m := head.FindStringSubmatch(text[i:]); m != nil {
				c.rule = m[1]
			}
			start, depth, body = i, 0, false
		}
		switch {
		case blank:
		case depth == 0 && tok == ".":
			endGoal(i)
			c.text = text[start : i+1]
			out = append(out, c)
			c = nil
		case depth == 0 && tok == ":-":
			body = true
		case depth == 0 && tok == ",":
			endGoal(i)
		default:
			if body {
				c.words[tok] = true
				if goal < 0 {
					goal = i
				}
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
