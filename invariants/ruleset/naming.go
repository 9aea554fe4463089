package ruleset

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ichiban/prolog/engine"

	"fsward/invariants/syntax"
)

// SitePrefix begins the names of a site's own rules, so that they never collide with built-in ones.
const SitePrefix = "site/"

var (
	atomSlash = engine.NewAtom("/")
	atomSite  = engine.NewAtom("site")
)

// named returns the head of a clause with one atom as the name of its rule: violation(site/NAME, …)
// becomes violation('site/NAME', …). In a site's file, so does violation(NAME, …).
func (l *Set) named(text syntax.ClauseText, head engine.Term, site bool) engine.Term {
	h, ok := head.(engine.Compound)
	if !ok || h.Functor() != syntax.AtomViolation || h.Arity() != 3 {
		return head
	}
	name := h.Arg(0)
	if syntax.IsFunctor(name, atomSlash, 2) {
		if c := name.(engine.Compound); c.Arg(0) == atomSite {
			site, name = true, c.Arg(1)
		} else {
			l.fail(text, "%s: the one name space of rules is site, as in site/%s",
				syntax.TermText(name, nil), syntax.TermText(c.Arg(1), nil))
			return syntax.AtomViolation.Apply(c.Arg(1), h.Arg(1), h.Arg(2))
		}
	}
	if bare, ok := ruleText(name); ok && site {
		if strings.ContainsAny(bare, "/ \t\n:@") || bare == "" {
			l.fail(text, "the name %s of a rule has a character that is not allowed",
				syntax.TermText(name, nil))
		}
		return syntax.AtomViolation.Apply(engine.NewAtom(SitePrefix+bare), h.Arg(1), h.Arg(2))
	}
	return head
}

// ruleText returns the text of the number or name of a rule; ok is false if it is neither.
func ruleText(t engine.Term) (text string, ok bool) {
	switch n := t.(type) {
	case engine.Atom:
		return n.String(), true
	case engine.Integer:
		return fmt.Sprint(int64(n)), true
	}
	return "", false
}

// newRule describes the rule of which a clause is the first one.
func (l *Set) newRule(c ParsedClause, number engine.Term, text, source string) *LoadedRule {
	d := c.Text.RuleDoc(text)
	r := &LoadedRule{file: c.Text.File, Number: number, Order: int32(len(l.Rules))}
	r.Rule = Rule{Name: text, Doc: d.Doc, Source: source, Origin: d.Origin, User: d.User,
		Cost: d.Cost}
	if fs := l.Vocabulary.Schema.FS; fs != "" && !strings.HasPrefix(text, SitePrefix) {
		r.Name = fs + "/" + text
	}
	var ok bool
	if r.Severity, ok = syntax.Severity(d.Severity); !ok {
		l.fail(c.Text, "%s has the unknown severity %q; write refuse, pause or log", r.Name, d.Severity)
	}
	if s := l.options.Settings[r.Name].Severity; s != "" {
		r.Severity = s
	}
	return r
}

// withoutOff removes the rules that are off.
func (l *Set) withoutOff(clauses []ParsedClause) []ParsedClause {
	off := map[engine.Term]bool{}
	l.Rules = slices.DeleteFunc(l.Rules, func(r *LoadedRule) bool {
		off[r.Number] = l.options.Settings[r.Name].Off
		return off[r.Number]
	})
	for i, r := range l.Rules {
		r.Order = int32(i)
	}
	return slices.DeleteFunc(clauses, func(c ParsedClause) bool {
		h, ok := c.Head.(engine.Compound)
		return ok && h.Functor() == syntax.AtomViolation && off[h.Arg(0)]
	})
}
