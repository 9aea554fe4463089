package ruleset

import (
	"slices"
	"sort"
	"strings"

	"github.com/ichiban/prolog/engine"

	"fsward/invariants/syntax"
)

// suggestPredicate suggests a predicate for a misspelled one: those of the same name, else one with
// a similar name, else the document that lists all.
func (l *Set) suggestPredicate(p syntax.Indicator) string {
	var same, all []string
	note := func(q syntax.Indicator) {
		if q.Name == p.Name {
			same = append(same, q.String())
		}
		if q.Arity == p.Arity && !strings.HasPrefix(q.Name.String(), "$") {
			all = append(all, q.Name.String())
		}
	}
	for q := range Builtins {
		note(q)
	}
	for q := range l.defined {
		note(q)
	}
	if len(same) > 0 {
		sort.Strings(same)
		return "; there is " + strings.Join(same, ", ")
	}
	if like := suggest(p.Name.String(), all); like != "" {
		return like
	}
	return "; docs/user/rules.md has those that are built in"
}

// suggestKind suggests a kind for an unknown one: it says so if another file system has it.
func (l *Set) suggestKind(word string) string {
	if other := l.kindElsewhere(word); other != "" {
		return other
	}
	return suggest(word, l.Vocabulary.kindNames())
}

// kindElsewhere says which other file system has a kind; "" if none does.
func (l *Set) kindElsewhere(word string) string {
	for _, s := range l.options.Others {
		if _, ok := s.KindByName(word); ok && s.FS != l.Vocabulary.Schema.FS {
			return "; it is a kind of " + s.FS + ", and this file is for " + l.Vocabulary.Schema.FS
		}
	}
	return ""
}

// lastWord returns the last word of a field: perm of f(mode,perm).
func lastWord(field engine.Term) string {
	if c, ok := field.(engine.Compound); ok && c.Arity() > 0 {
		return lastWord(c.Arg(c.Arity() - 1))
	}
	return syntax.TermText(field, nil)
}

// suggest suggests the known word that is most similar to a given one, as "; did you mean X?"; it
// returns "" if none is similar, or the word is too long to compare.
func suggest(word string, words []string) string {
	const longest = 256 // bytes; distance takes time and memory with the square of the length
	if len(word) > longest {
		return ""
	}
	slices.Sort(words)
	best, least := "", min(3, len(word)/2+1)
	for _, w := range words {
		if max(len(w)-len(word), len(word)-len(w)) >= least {
			continue
		}
		if d := distance(word, w); d < least {
			best, least = w, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// distance returns the edit distance of two words: insertions, deletions, changes and swaps of
// neighboring letters (Damerau and Levenshtein).
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 0
			if a[i-1] != b[j-1] {
				change = 1
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
