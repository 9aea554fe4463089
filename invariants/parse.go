package invariants

import (
	"context"
	"fmt"
	"strings"

	"github.com/ichiban/prolog/engine"
)

// setOperators defines the standard operators.
func setOperators(vm *engine.VM) error {
	for _, o := range operators {
		for _, name := range o.names {
			if err := setOperator(vm, o.priority, engine.NewAtom(o.kind), engine.NewAtom(name)); err != nil {
				return fmt.Errorf("operator %s: %w", name, err)
			}
		}
	}
	return nil
}

func setOperator(vm *engine.VM, priority, kind, name engine.Term) error {
	_, err := engine.Op(vm, priority, kind, name, engine.Success, nil).Force(context.Background())
	return err
}

// parse turns the tokens of a clause into a term with the library's parser. Quoted atoms and numbers that
// the parser would not take as they are stand in its text as atoms $0, $1, …, which are put back after.
func parse(vm *engine.VM, c clauseText) (engine.Term, error) {
	var text strings.Builder
	var held []engine.Term
	hold := func(t engine.Term) {
		fmt.Fprintf(&text, "'$%d'", len(held))
		held = append(held, t)
	}
	for _, t := range c.tokens {
		if t.layout {
			text.WriteByte(' ')
		}
		switch t.kind {
		case tokenQuoted:
			hold(engine.NewAtom(t.text))
		case tokenInteger:
			if t.num.IsInt64() {
				text.WriteString(t.num.String())
			} else {
				hold(bigTerm(t.num))
			}
		default:
			text.WriteString(t.text)
		}
	}
	text.WriteString(" .")
	p := engine.NewParser(vm, strings.NewReader(text.String()))
	t, err := p.Term()
	if err != nil {
		return nil, c.errorf("%s", putBackText(err.Error(), held))
	}
	if p.More() {
		return nil, c.errorf("the clause goes on behind its full stop")
	}
	t, err = putBack(t, held)
	if err != nil {
		return nil, c.errorf("%s", err)
	}
	return t, nil
}

// putBackText makes a message of the parser show what the author wrote.
func putBackText(message string, held []engine.Term) string {
	for i := len(held) - 1; i >= 0; i-- {
		message = strings.ReplaceAll(message, fmt.Sprintf("'$%d'", i), termText(held[i], nil))
	}
	return message
}

// putBack replaces the held terms. It also gives negative numbers in keys the form that the object ids of
// records have: the same 64 bits, without a sign.
func putBack(t engine.Term, held []engine.Term) (engine.Term, error) {
	switch t := t.(type) {
	case engine.Atom:
		return heldTerm(t, held), nil
	case engine.Compound:
		functor, ok := heldTerm(t.Functor(), held).(engine.Atom)
		if !ok {
			return nil, fmt.Errorf("a number stands before ( as if it were a predicate")
		}
		args := make([]engine.Term, t.Arity())
		for i := range args {
			a, err := putBack(t.Arg(i), held)
			if err != nil {
				return nil, err
			}
			args[i] = a
		}
		if n, ok := args[0].(wide); ok && functor == atomMinus && len(args) == 1 {
			return bigTerm(n.big().Neg(n.big())), nil
		}
		if functor == atomK && len(args) == 3 {
			args[0], args[2] = unsigned(args[0]), unsigned(args[2])
		}
		if functor == atomA && len(args) == 2 {
			args[0], args[1] = unsigned(args[0]), unsigned(args[1])
		}
		return functor.Apply(args...), nil
	default:
		return t, nil
	}
}

var atomMinus = engine.NewAtom("-")

func heldTerm(a engine.Atom, held []engine.Term) engine.Term {
	var i int
	s := a.String()
	if n, err := fmt.Sscanf(s, "$%d", &i); n != 1 || err != nil || i < 0 || i >= len(held) || s != fmt.Sprintf("$%d", i) {
		return a
	}
	return held[i]
}

func unsigned(t engine.Term) engine.Term {
	if i, ok := t.(engine.Integer); ok && i < 0 {
		return numTerm(uint64(i))
	}
	return t
}
