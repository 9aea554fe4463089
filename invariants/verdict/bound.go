package verdict

import (
	"fmt"
	"slices"
	"strings"
)

// A Product bounds the rows of some steps of a plan: the product of its factors.
type Product struct {
	Factors []string // the first is "n", the records that start the plan, if something starts it
	Once    bool     // the one factor is read once for all records
	Step    int      // the step that adds the last factor
	Same    bool     // all records that start the plan may be in the group of the last factor
}

// Square reports whether the product may grow faster than the records and their groups: it has a
// second group, or all records again.
func (p Product) Square() bool {
	if p.Same {
		return true
	}
	groups := 0
	for i, f := range p.Factors {
		if i > 0 || f != "n" {
			groups++
		}
		if i > 0 && f == "n" {
			return true
		}
	}
	return groups > 1
}

// String returns the product in words: "n · names of one hash".
func (p Product) String() string {
	text := strings.Join(p.Factors, " · ")
	if p.Once {
		text += ", once"
	}
	return text
}

// Bound returns the products whose sum bounds the rows of the plan, but for factors that grow as
// the depth of a tree. It omits a product whose factors another one has as well.
func (p *Plan) Bound() []Product {
	b := &bounds{steps: p.Steps}
	var start []string
	if p.Trigger != "" {
		start = []string{"n"}
	}
	b.add(Product{Factors: start})
	b.block(0, len(p.Steps), start)
	return b.products
}

// BoundText returns the sum of the products: "n · names of one hash + orphans, once".
func (p *Plan) BoundText() string {
	var texts []string
	for _, x := range p.Bound() {
		if len(x.Factors) > 0 {
			texts = append(texts, x.String())
		}
	}
	if len(texts) == 0 {
		return "constant"
	}
	return strings.Join(texts, " + ")
}

// bounds collects the products of a plan.
type bounds struct {
	steps    []Step
	products []Product
}

// add adds a product, unless another one contains it. It removes those that it contains.
func (b *bounds) add(p Product) {
	if slices.ContainsFunc(b.products, func(q Product) bool { return contains(q, p) }) {
		return
	}
	b.products = slices.DeleteFunc(b.products, func(q Product) bool { return contains(p, q) })
	b.products = append(b.products, p)
}

// contains reports whether p has all factors of q.
func contains(p, q Product) bool {
	if p.Once != q.Once || q.Same && !p.Same {
		return false
	}
	rest := slices.Clone(p.Factors)
	for _, f := range q.Factors {
		i := slices.Index(rest, f)
		if i < 0 {
			return false
		}
		rest = slices.Delete(rest, i, i+1)
	}
	return true
}

// block goes through the steps from one to another, which run for each row of the given factors. It
// returns the factors of their rows: of the longest alternative, if there are several.
func (b *bounds) block(from, to int, factors []string) (longest []string) {
	if from >= to {
		return factors
	}
	base := b.steps[from].Depth
	for _, s := range b.steps[from:to] {
		base = min(base, s.Depth)
	}
	now, longest := factors, factors
	for i := from; i < to; {
		inside := i
		if s := &b.steps[i]; s.Depth == base {
			if s.Or {
				now = factors
			}
			now, inside = b.step(i, now), i+1
		}
		end := inside
		for end < to && b.steps[end].Depth > base {
			end++
		}
		switch s := &b.steps[i]; {
		case inside == i || !s.Scope:
			now = b.block(inside, end, now)
		case s.Kept:
			b.block(inside, end, []string{"n"})
		default:
			b.block(inside, end, now)
		}
		if len(now) > len(longest) {
			longest = now
		}
		i = end
	}
	return longest
}

// step adds the products of one step and returns the factors of its rows.
func (b *bounds) step(i int, factors []string) []string {
	s := &b.steps[i]
	if s.Once != "" {
		b.add(Product{Factors: []string{s.Once}, Once: true, Step: i})
	}
	if s.Rows == "" {
		return factors
	}
	more := append(slices.Clip(factors), s.Rows)
	b.add(Product{Factors: more, Step: i, Same: s.Same})
	if s.Filter {
		return factors
	}
	return more
}

// SquareWarning explains a product that is a square, and says what to do about it.
func (p *Plan) SquareWarning(x Product) string {
	same := ""
	if x.Same {
		same = ", a square where all n are in one of these"
	}
	return fmt.Sprintf("%s: the cost may grow as %s%s; give a goal more of the key or a value, add "+
		"up once with count/2 or sum/3, or ask verify/1 about what the rows have in common. If one of "+
		"these is always small, say why in the comment block: `%% Cost: …`", p.Steps[x.Step].Goal,
		x, same)
}
