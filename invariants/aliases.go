package invariants

import (
	"fsward/change"
	"fsward/invariants/compile"
	"fsward/invariants/reference"
	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
	"fsward/invariants/verdict"
)

// Options bound what rules may spend. A zero field means its default.
type Options = ruleset.Options

// A Rule describes a rule: all clauses of violation/3 with one number.
type Rule = ruleset.Rule

// A File is a file of rules.
type File = syntax.File

// A LoadError is a mistake in a rule file, at its place.
type LoadError = syntax.LoadError

// A Setting changes one rule.
type Setting = ruleset.Setting

// SitePrefix begins the names of a site's own rules.
const SitePrefix = ruleset.SitePrefix

// The severities of rules.
const (
	SeverityRefuse = syntax.SeverityRefuse
	SeverityPause  = syntax.SeverityPause
	SeverityLog    = syntax.SeverityLog
)

// ListRules describes the rules in files without making an engine. The error is that of
// NewReference.
func ListRules(schema *change.Schema, files []File, options Options) ([]Rule, error) {
	set, err := ruleset.Load(schema, files, options)
	if err != nil {
		return nil, err
	}
	var rules []Rule
	for _, r := range set.Rules {
		rules = append(rules, r.Rule)
	}
	return rules, nil
}

// Traps returns the mistakes in rules that load, but can never find what they look for.
func Traps(schema *change.Schema, files []File, options Options) ([]LoadError, error) {
	set, err := ruleset.Load(schema, files, options)
	if err != nil {
		return nil, err
	}
	return set.Traps(), nil
}

// LanguageHash identifies the predicates that all rules may use.
func LanguageHash() string { return ruleset.PreludeHash() }

// DefaultSeverity is the severity of a rule whose comment block has no "Severity:".
const DefaultSeverity = syntax.DefaultSeverity

// ReadDir returns the .pl files of a folder, sorted by name.
func ReadDir(dir string) ([]File, error) { return syntax.ReadDir(dir) }

// Place returns FILE:LINE:COLUMN, or FILE:LINE if the column is 0.
func Place(file string, line, column int) string { return syntax.Place(file, line, column) }

// Singletons returns a mistake for each variable that occurs once in its clause and does not begin
// with _.
func Singletons(files []File) []LoadError { return syntax.Singletons(files) }

// A Verdict is the result of judging a transaction by the rules.
type Verdict = verdict.Verdict

// A Class says how the cost of a step for each of its rows grows with the file system.
type Class = verdict.Class

// The classes of steps.
const (
	Constant  = verdict.Constant
	LogN      = verdict.LogN
	Directory = verdict.Directory
	Tree      = verdict.Tree
)

// A Plan describes how the compiled engine runs a clause of a rule.
type Plan = verdict.Plan

// A Step is a goal of a plan.
type Step = verdict.Step

// A Timing is the cost of a rule so far.
type Timing = verdict.Timing

// A Fallback is a clause that the reference engine interprets.
type Fallback = verdict.Fallback

// A QuerySession answers a person's questions about a transaction: the answers of a goal, and why a
// rule found a violation.
type QuerySession = reference.QuerySession

// Answers are the answers of a goal.
type Answers = reference.Answers

// An Answer is the value of one variable.
type Answer = reference.Answer

// A CoveredEngine is the reference engine with the coverage of its clauses.
type CoveredEngine struct {
	Engine
	Coverage *reference.Coverage
}

// ClauseCoverage is the coverage of one clause.
type ClauseCoverage = reference.ClauseCoverage

// NewCovered loads rules as NewReference does. The engine counts how often each goal of its clauses
// is true.
func NewCovered(schema *change.Schema, files []File, options Options) (*CoveredEngine, error) {
	e, c, err := reference.NewCovered(schema, files, options)
	if err != nil {
		return nil, err
	}
	return &CoveredEngine{e, c}, nil
}

// NewQuerySession loads rules, so that goals may use their helpers. The error is that of
// NewReference.
func NewQuerySession(schema *change.Schema, files []File, options Options) (*QuerySession, error) {
	return reference.NewQuerySession(schema, files, options)
}

// Compiled is the Engine that compiles each rule to a join plan.
type Compiled = compile.Engine

// NewCompiled loads rules as NewReference does and compiles them. Besides the mistakes that
// NewReference finds, it reports those that show in the plan of a rule: a variable that has no
// value where a comparison or a negation needs it, recursion through a negation, a rule that can
// never find anything. All engines of the built-in rules share their programs.
func NewCompiled(schema *change.Schema, files []File, options Options) (*Compiled, error) {
	if e := builtinEngine(schema, files, options); e != nil {
		return e.Again(options)
	}
	return compile.New(schema, files, options)
}
