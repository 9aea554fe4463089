package facts

import (
	"fmt"
	"os"
	"strings"

	"fsward/change"
)

// A Case is a unit test of rules: a transaction with the state after it, and the violations that
// are expected.
//
// Besides facts, its text has expect(RULE,TREE,ID) for each violation, or expect_none. It may have
// rule(RULE), to ignore the violations of other rules.
type Case struct {
	*Facts
	Rules  []string // of rule/1; none means all rules
	Expect []Expectation
}

// An Expectation is a violation, in the text form of reports: the rule by its number or name alone.
type Expectation struct{ Rule, Tree, ID string }

// String writes an expectation as a case has it.
func (e Expectation) String() string {
	return fmt.Sprintf("expect(%s, %s, %s)", e.Rule, e.Tree, e.ID)
}

// LoadCase reads a case from a file, plain or compressed with zstd, for the schema of a file
// system.
func LoadCase(schema *change.Schema, path string) (*Case, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ReadCase(schema, path, raw)
}

// ReadCase is LoadCase of the content of a file, which path names in errors.
func ReadCase(schema *change.Schema, path string, raw []byte) (*Case, error) {
	text, err := textOf(path, raw)
	if err != nil {
		return nil, err
	}
	c, err := ParseCase(schema, text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// ParseCase reads a case from text.
func ParseCase(schema *change.Schema, text string) (*Case, error) {
	b := newBuilder()
	b.fix(schema)
	c := &Case{}
	none, whole := false, false
	s := &scanner{src: text, line: 1}
	for {
		t, ok, err := s.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		switch {
		case t.is("expect_none", 0):
			none = true
		case t.is("baseline", 0):
			whole = true
		case t.is("rule", 1):
			c.Rules = append(c.Rules, ruleText(t.args[0]))
		case t.is("expect", 3):
			var o change.Object
			if o, err = b.object(t.args[1], t.args[2]); err == nil {
				c.Expect = append(c.Expect, Expectation{ruleText(t.args[0]), schema.TreeText(o),
					schema.IDText(o, b.txn.Names)})
			}
		default:
			err = b.fact(t)
		}
		if err != nil {
			return nil, s.errorf("%s", err)
		}
	}
	if none == (len(c.Expect) > 0) {
		return nil, fmt.Errorf(
			"a case says what it expects: expect(RULE, TREE, ID) for each violation, or expect_none")
	}
	c.Facts = b.facts()
	c.Txn.Whole = whole
	return c, nil
}

// ruleText returns the number or name of a rule.
func ruleText(t term) string {
	if t.isNum {
		return fmt.Sprint(t.num)
	}
	return strings.TrimSpace(t.functor)
}
