// Package invariants judges a transaction by rules written in Prolog (.pl files). It knows the
// change records and the view of the state after them, and no file system. Builtin returns the
// rules that come with fsward, NewCompiled and NewReference make engines of rules, and Engine.Check
// returns a Verdict.
//
// The phases of the rule engine are packages, each of which knows only those before it: syntax,
// ruleset, verdict, reference, compile. This package is their facade.
package invariants
