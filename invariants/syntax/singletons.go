package syntax

import "strings"

// Singletons returns a finding for each variable that stands once in its clause and does not begin with _: it
// is misspelt, or need not have a name. Text that cannot be cut into clauses has none.
func Singletons(files []File) []LoadError {
	var found []LoadError
	for _, f := range files {
		clauses, _ := Split(f) // its mistakes are those of loading
		for _, c := range clauses {
			times := map[string]int{}
			for _, t := range c.tokens {
				if t.kind == tokenVariable {
					times[t.text]++
				}
			}
			for _, t := range c.tokens {
				if t.kind == tokenVariable && times[t.text] == 1 && !strings.HasPrefix(t.text, "_") {
					found = append(found, LoadError{c.File, t.line, c.head(), t.text + " stands in this clause once: write _" + t.text + " if that is meant"})
				}
			}
		}
	}
	return found
}
