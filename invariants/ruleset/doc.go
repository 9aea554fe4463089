// Package ruleset loads rules for the file systems of a schema and checks them. Load reads the
// prelude and the files, and returns a Set: the rules, all clauses as terms, and the Vocabulary,
// which turns the numbers of a schema into terms and back. Load reports every mistake that shows
// before a rule runs, with a suggestion where a word is like a known one. Builtins is the table of
// the predicates that rules may call; the engines implement them.
package ruleset
