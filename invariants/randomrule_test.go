package invariants_test

import (
	"fmt"
	"strings"
)

// A ruleMaker writes one random rule, with its helpers. Most goals use variables that have a value.
type ruleMaker struct {
	choices
	number  int             // of the rule
	helpers strings.Builder // clauses that the goals call
	bound   []string        // variables that have a value
	fresh   int             // number of the last new variable
}

// rule returns a rule of a few goals, and perhaps a helper.
func (c choices) rule(number int) string {
	m := &ruleMaker{choices: c, number: number}
	goals := []string{m.trigger()}
	for range c.IntN(5) {
		goals = append(goals, m.goal(1))
	}
	head := "found"
	if len(m.bound) > 0 {
		head = "found(" + strings.Join(m.bound, ",") + ")"
	}
	if c.IntN(2) == 0 {
		head = fmt.Sprintf("k(%s,inode_item,0)", m.known())
	}
	text := fmt.Sprintf("violation(%d, TREE, %s) :- %s.\n", number, head, strings.Join(goals, ", "))
	// A clause of a helper may use a variable that only the other clause's head has.
	return text + m.helpers.String()
}

// trigger returns the first goal, which a change makes true.
func (m *ruleMaker) trigger() string {
	return m.note(pick(m.choices, "add(TREE, "+m.id(m.variable())+")",
		"new(TREE, "+m.id(m.variable())+", "+m.field()+", "+m.variable()+")",
		"delete(TREE, "+m.id(m.variable())+")",
		"change(TREE, "+m.id(m.variable())+", "+m.field()+", "+m.variable()+", "+m.variable()+")"))
}

func (m *ruleMaker) variable() string {
	m.fresh++
	return fmt.Sprintf("V%d", m.fresh)
}

// some returns a variable that has a value, or a new one.
func (m *ruleMaker) some() string {
	if len(m.bound) > 0 && m.IntN(3) > 0 {
		return pick(m.choices, m.bound...)
	}
	return m.variable()
}

// known returns a variable that has a value, or a number.
func (m *ruleMaker) known() string {
	if len(m.bound) > 0 {
		return pick(m.choices, m.bound...)
	}
	return "257"
}

// id returns the identity of an object, whose first part is given.
func (m *ruleMaker) id(first string) string {
	c := m.choices
	kind := pick(c, "inode_item", "dir_item", "dir_index", "inode_ref", "extent_item", "KIND")
	sub := pick(c, "0", "_", m.some(), m.some(), "3")
	if kind == "inode_ref" {
		sub = pick(c, "_", "a(_,_)", "a("+m.some()+","+m.some()+")", m.some())
	}
	if kind == "KIND" {
		kind = pick(c, "_", m.some())
	}
	return fmt.Sprintf("k(%s,%s,%s)", first, kind, sub)
}

func (m *ruleMaker) field() string {
	return pick(m.choices, "size", "nlink", "mode", "name", "location")
}

func (m *ruleMaker) value() string {
	return pick(m.choices, m.some(), m.some(), "_", "2", "s_ifdir", "a", "null",
		"k("+m.some()+",inode_item,0)")
}

// note records that the variables of a goal have a value behind it, and returns the goal.
func (m *ruleMaker) note(goal string) string {
	for i := range m.fresh {
		v := fmt.Sprintf("V%d", i+1)
		if strings.Contains(goal, v) && !strings.Contains(strings.Join(m.bound, " ")+" ", v+" ") {
			m.bound = append(m.bound, v)
		}
	}
	return goal
}

// aggregate returns a sum over changes, which the compiled engine may keep for all keys at once.
func (m *ruleMaker) aggregate() string {
	c := m.choices
	change := fmt.Sprintf("%s(%s, %s)", pick(c, "add", "delete", "new", "old"),
		pick(c, "TREE", "_", m.known()), m.id(pick(c, m.known(), m.known(), "_")))
	if c.IntN(3) == 0 {
		change = fmt.Sprintf("default_zero(TREE, %s, %s, OLD%d, NEW%d)", m.id(m.known()),
			pick(c, "size", "nlink"), m.fresh, m.fresh)
		return fmt.Sprintf("sum(NEW%d - OLD%d, %s, %s)", m.fresh, m.fresh, change, m.variable())
	}
	more := pick(c, "", "", ", "+fmt.Sprintf("query(TREE, %s)", m.id(m.known())),
		", not(add(TREE, "+m.id(m.known())+"))", ", "+m.known()+" >= 257")
	if c.IntN(2) == 0 {
		return fmt.Sprintf("count((%s%s), %s)", change, more, m.variable())
	}
	return fmt.Sprintf("sum(%s, (%s%s), %s)", pick(c, "2", m.known()), change, more, m.variable())
}

// ordered returns a goal for objects near or between keys.
func (m *ruleMaker) ordered() string {
	c := m.choices
	switch c.IntN(4) {
	case 0:
		return fmt.Sprintf("%s(TREE, k(%s,%s,%s), %s)",
			pick(c, "previous", "next", "at_or_before", "at_or_after"), m.known(),
			pick(c, "inode_item", "dir_item", "extent_item"), pick(c, "0", "2", m.known()),
			m.id(m.some()))
	case 1:
		return fmt.Sprintf("%s(TREE, %s, k(%s,_,_), k(%s,%s,_))", pick(c, "range", "range_down"),
			m.id(m.some()), pick(c, "_", "256", m.known()),
			pick(c, "_", "258", m.known()), pick(c, "_", "dir_item"))
	case 2:
		return fmt.Sprintf("once(range_down(TREE, k(%s,dir_item,%s), 0, %s))", m.known(),
			m.variable(), pick(c, "2", "9999", m.known()))
	default:
		return fmt.Sprintf("%s(TREE, k(%s,%s,%s), %s, %s)",
			pick(c, "range", "range_down", "last_of_range", "first_of_range"), m.known(),
			pick(c, "inode_item", "dir_item", "inode_ref", "extent_item"), m.some(),
			pick(c, "0", "1", m.known()), pick(c, "2", "9999", m.known()+" + 3", m.known()))
	}
}

// goal returns a goal. At depth 1 it may contain others.
func (m *ruleMaker) goal(depth int) string {
	n := m.IntN(20)
	if depth == 0 && n >= 12 {
		n = m.IntN(12)
	}
	if n < 9 {
		return m.note(m.query(n))
	}
	if n < 12 {
		return m.test(n)
	}
	return m.control(n)
}

// query returns goal n, of 0 to 8, which asks for changes or objects.
func (m *ruleMaker) query(n int) string {
	c := m.choices
	switch n {
	case 0, 1:
		return fmt.Sprintf("%s(TREE, %s)", pick(c, "add", "delete", "update", "new", "old"),
			m.id(m.some()))
	case 2:
		return fmt.Sprintf("%s(TREE, %s, %s, %s)", pick(c, "new", "old"), m.id(m.some()),
			m.field(), m.value())
	case 3:
		return fmt.Sprintf("change(TREE, %s, %s, %s, %s)", pick(c, m.id(m.some()), m.some()),
			m.field(), m.value(), m.value())
	case 4:
		return fmt.Sprintf("default_zero(TREE, %s, %s, %s, %s)", m.id(m.some()),
			pick(c, "size", "nlink"), m.some(), m.some())
	case 5, 6:
		return fmt.Sprintf("query(TREE, %s)", m.id(m.known()))
	default:
		return fmt.Sprintf("query(TREE, %s, %s, %s)", m.id(m.known()), m.field(), m.value())
	}
}

// test returns goal n, of 9 to 11, which compares values or finds near objects.
func (m *ruleMaker) test(n int) string {
	c := m.choices
	switch n {
	case 9:
		return fmt.Sprintf("%s %s %s", m.known(), pick(c, "<", ">=", "=:=", `=\=`),
			pick(c, m.known(), m.known()+" + 1", "3", m.known()+" * 2"))
	case 10:
		return fmt.Sprintf("%s %s %s", m.known(), pick(c, `\=`, "==", `\==`, "@<"),
			pick(c, m.known(), "2", "null", "s_ifdir"))
	}
	if c.IntN(2) == 0 {
		return m.note(m.ordered())
	}
	switch c.IntN(6) {
	case 0:
		return m.note(fmt.Sprintf("crc32c(%s, %s)", pick(c, m.some(), "a", "bb"), m.some()))
	case 1, 2:
		v := m.variable()
		return m.note(fmt.Sprintf("(query(TREE, %s, name, %s), crc32c(%s, %s))", m.id(m.known()),
			v, v, m.some()))
	}
	return m.note(fmt.Sprintf("%s = %s", m.some(),
		pick(c, "2", "257", "dir_item", m.known(), "k("+m.known()+",inode_item,0)")))
}

// control returns goal n, of 12 to 19: a negation, a choice, an aggregate or a call of a helper.
func (m *ruleMaker) control(n int) string {
	c := m.choices
	switch n {
	case 12, 13:
		first := m.goal(0)
		if c.IntN(3) == 0 {
			v := m.variable()
			first = fmt.Sprintf("(%s = %s ; %s = %s), %s %s %s", v, m.known(), v,
				pick(c, "2", "257", "dir_item"), v, pick(c, ">=", "==", "@<"), m.known())
		}
		return fmt.Sprintf("%s(%s)", pick(c, `\+`, "not", "verify"), "("+first+", "+m.goal(0)+")")
	case 14:
		return m.note(fmt.Sprintf("( %s ; %s )", m.goal(0), m.goal(0)))
	case 15:
		return m.note(fmt.Sprintf("( %s -> %s ; %s )", m.goal(0), m.goal(0), m.goal(0)))
	case 16:
		if c.IntN(2) == 0 {
			return m.note(m.aggregate())
		}
		inner := m.goal(0)
		return m.note(fmt.Sprintf("count(%s, %s)", inner, m.some()))
	case 17:
		inner := fmt.Sprintf("query(TREE, k(%s,dir_item,X%d))", m.known(), m.fresh)
		return m.note(fmt.Sprintf("sum(X%d, %s, %s)", m.fresh, inner, m.variable()))
	case 18:
		return m.note(fmt.Sprintf("%s is %s + %s", m.variable(), m.known(), pick(c, "1", m.known())))
	default:
		return m.call()
	}
}

// call returns a call of a new helper of one to three clauses. Some helpers have a variable twice
// in their head, or inspect an argument.
func (m *ruleMaker) call() string {
	c := m.choices
	name := fmt.Sprintf("h%d_%d", m.number, m.fresh)
	for range 1 + c.IntN(3) {
		cut := pick(c, "", "", "!, ")
		fmt.Fprintf(&m.helpers, "%s(%s, %s) :- %s%s.\n", name,
			pick(c, "A", "257", "A", "k(A,KIND,B)"), pick(c, "B", "dir_item", "2", "A", "KIND"),
			cut, pick(c, "true", "A > 256", "true"))
	}
	v := m.variable() // otherwise a term could contain itself
	return m.note(fmt.Sprintf("%s(%s, %s)", name, pick(c, m.known(), m.known(), m.id(m.known())), v))
}
