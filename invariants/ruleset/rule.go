package ruleset

import (
	"crypto/sha256"

	"github.com/ichiban/prolog/engine"
)

// A Rule describes a rule: all clauses of violation/3 with one number.
type Rule struct {
	Name   string // "btrfs/17", or "site/NAME" of a site's own rule
	Doc    string // the property in one sentence: the first sentence of the comment block
	Source string // "invariants/btrfs/dir.pl:12", of the first clause
	Origin string // where the property comes from: "Source:" of the comment block
	User   string // what a violation means for the user: "For the user:" of the comment block
	// Cost says why the rule is cheap although the bound of its plan is not: "Cost:" of the comment
	// block; "" for most rules.
	Cost string
	// Severity is what a guard does with a commit that violates the rule: "Severity:" of the comment
	// block, or DefaultSeverity, unless Options.Settings has another one.
	Severity string
	// Hash is of everything in the text that can change what the rule finds and says: its clauses,
	// its comment block, and the helpers that it calls.
	Hash [sha256.Size]byte
}

// A LoadedRule is a rule with its clauses.
type LoadedRule struct {
	Rule
	file    string
	Number  engine.Term
	Order   int32 // position among the rules
	Clauses []RuleClause
}

// A RuleClause is one clause of a rule. Each is a predicate of its own, Goal(TREE, ID), so that a
// violation can name the line of the clause that found it.
type RuleClause struct {
	Goal   engine.Atom
	Source string
	Order  int32 // position among the clauses of the rule
}
