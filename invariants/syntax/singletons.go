package syntax

import "strings"

// Singletons returns a mistake for each variable that occurs once in its clause and does not begin
// with _: it is misspelled, or needs no name. Text that cannot be cut into clauses has no
// singletons.
func Singletons(files []File) []LoadError {
	var found []LoadError
	for _, f := range files {
		clauses, _ := Split(f) // loading reports the mistakes of Split
		for _, c := range clauses {
			times := map[string]int{}
			for _, t := range c.tokens {
				if t.kind == tokenVariable {
					times[t.text]++
				}
			}
			for _, t := range c.tokens {
				if t.kind == tokenVariable && times[t.text] == 1 && !strings.HasPrefix(t.text, "_") {
					found = append(found, LoadError{c.File, t.line, t.column, c.head(), t.text +
						" occurs once in this clause; if that is intended, write _" + t.text})
				}
			}
		}
	}
	return found
}
