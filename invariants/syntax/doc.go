// Package syntax reads and writes the rule language, a part of ISO Prolog. Split cuts a File into
// clauses, each with its line; Parse turns one clause into a term, so that a mistake in one clause
// does not hide mistakes in others; TermText writes a term for a person. Tokens are those of ISO
// Prolog with three limits: ASCII outside quotes and comments, no floating point, no double quotes.
//
// The package also has the parts of terms that the library lacks: numbers of any size (Number,
// Wide), names that a guest chose (Name), arithmetic and the orders of terms. Start reading at
// clauses.go.
package syntax
