package ruleset

import "github.com/ichiban/prolog/engine"

// A Rule describes a rule: all clauses of violation/3 with one number.
type Rule struct {
	Name   string // "btrfs/17"
	Doc    string // the property in one sentence: the first sentence of the comment block
	Source string // "invariants/btrfs/dir.pl:12", of the first clause
	Origin string // where the property comes from: "Source:" of the comment block
	User   string // what it means for the user: "For the user:" of the comment block
	// Severity is how bad it is, in a word: "Severity:" of the comment block, DefaultSeverity without it.
	Severity string
}

// A LoadedRule is all clauses of violation/3 with one number.
type LoadedRule struct {
	Rule
	file    string
	Number  engine.Term
	Order   int32 // among the rules
	Clauses []RuleClause
}

// A RuleClause is one clause of a rule. Each is a predicate of its own, goal(TREE, ID), so that a
// violation can name the line of the clause that found it.
type RuleClause struct {
	Goal   engine.Atom
	Source string
	Order  int32 // among the clauses of the rule
}
