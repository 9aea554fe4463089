package syntax

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
)

// A Name is a file name or another string of bytes that a guest chose. The library interns atoms
// for the life of the process, so a guest could fill memory with names if they were atoms. A Name
// is a term of its own instead, which lives as long as something refers to it. A name whose bytes
// are those of an atom in the text of a rule becomes that atom (ruleset.Vocabulary.NameTerm), so
// name literals in rules match.
type Name string

// WriteTerm writes the name as a quoted atom.
func (n Name) WriteTerm(w io.Writer, _ *engine.WriteOptions, _ *engine.Env) error {
	_, err := io.WriteString(w, quoteAtom(string(n)))
	return err
}

// Compare implements the standard order of terms (@<): names follow all atoms, and are ordered by
// bytes.
func (n Name) Compare(t engine.Term, env *engine.Env) int {
	return engine.CompareAtomic(n, t, func(a,
		b Name) int {
		return strings.Compare(string(a), string(b))
	}, env)
}

const (
	MaxTextDepth = 8   // levels of nested terms in messages
	MaxTextLen   = 400 // bytes of a term in messages
)

// TermText writes a term for a person and cuts it short if it is long, since names come from a
// hostile guest.
func TermText(t engine.Term, env *engine.Env) string {
	var b strings.Builder
	writeTerm(&b, t, env, MaxTextDepth)
	return b.String()
}

// A variableName stands for a variable in a term that is only written.
type variableName struct{ Name }

// TermTextNamed is TermText with the names of variables.
func TermTextNamed(t engine.Term, names map[engine.Variable]string) string {
	return TermText(named(t, names), nil)
}

func named(t engine.Term, names map[engine.Variable]string) engine.Term {
	switch t := t.(type) {
	case engine.Variable:
		if n := names[t]; n != "" {
			return variableName{Name(n)}
		}
	case engine.Compound:
		args := make([]engine.Term, t.Arity())
		for i := range args {
			args[i] = named(t.Arg(i), names)
		}
		return t.Functor().Apply(args...)
	}
	return t
}

func writeTerm(b *strings.Builder, t engine.Term, env *engine.Env, depth int) {
	if depth == 0 || b.Len() > MaxTextLen {
		b.WriteString("...")
		return
	}
	switch t := env.Resolve(t).(type) {
	case engine.Variable:
		b.WriteByte('_')
	case engine.Integer:
		b.WriteString(strconv.FormatInt(int64(t), 10))
	case Wide:
		b.WriteString(string(t))
	case engine.Atom:
		b.WriteString(AtomText(t.String()))
	case Name:
		b.WriteString(quoteAtom(string(t)))
	case variableName:
		b.WriteString(string(t.Name))
	case engine.Compound:
		f := t.Functor().String()
		if f == "." && t.Arity() == 2 {
			writeList(b, t, env, depth)
			return
		}
		if t.Arity() == 2 && isGraphicName(f) {
			writeTerm(b, t.Arg(0), env, depth-1)
			b.WriteString(f)
			writeTerm(b, t.Arg(1), env, depth-1)
			return
		}
		b.WriteString(AtomText(t.Functor().String()))
		for i := range t.Arity() {
			b.WriteByte("(,"[min(i, 1)])
			writeTerm(b, t.Arg(i), env, depth-1)
		}
		b.WriteByte(')')
	default:
		fmt.Fprintf(b, "%v", t)
	}
}

func writeList(b *strings.Builder, t engine.Compound, env *engine.Env, depth int) {
	b.WriteByte('[')
	for {
		writeTerm(b, t.Arg(0), env, depth-1)
		rest := env.Resolve(t.Arg(1))
		next, ok := rest.(engine.Compound)
		if ok && next.Functor().String() == "." && next.Arity() == 2 && b.Len() <= MaxTextLen {
			b.WriteByte(',')
			t = next
			continue
		}
		if a, isAtom := rest.(engine.Atom); !isAtom || a.String() != "[]" {
			b.WriteByte('|')
			writeTerm(b, rest, env, depth-1)
		}
		b.WriteByte(']')
		return
	}
}

func isGraphicName(s string) bool {
	return s != "" && strings.Trim(s, `#$&*+-./:<=>?@^~\,;`) == ""
}

// AtomText writes an atom, quoted if necessary.
func AtomText(s string) string {
	if s == "[]" || s == "!" || isGraphicName(s) {
		return s
	}
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z'
		if !letter && (i == 0 || c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z')) {
			return quoteAtom(s)
		}
	}
	if s == "" {
		return "''"
	}
	return s
}

// quoteAtom writes bytes as a quoted atom. It cuts them at 300 bytes, a little more than the 255 of
// a file name.
func quoteAtom(s string) string { return change.Quote(s[:min(len(s), 300)]) }
