package syntax

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"math/bits"

	"github.com/ichiban/prolog/engine"
)

// The library's integers are int64. Numbers on disk are unsigned 64-bit, and sums of them need
// more: a corrupt size of 2^64−1 must not wrap around and hide an overlap. A number that fits in
// int64 is an engine.Integer; any other is a Wide. Each number has exactly one form, so that terms
// unify by ==.

// A Wide is an integer outside int64, held as its decimal text.
type Wide string

// MaxNumberBits bounds the numbers that a rule can compute, so that repeated squaring cannot fill
// memory. Products of a few 64-bit numbers are far below it.
const MaxNumberBits = 4096

// WriteTerm writes the number.
func (w Wide) WriteTerm(out io.Writer, _ *engine.WriteOptions, _ *engine.Env) error {
	_, err := io.WriteString(out, string(w))
	return err
}

// Compare implements the standard order of terms (@<). Numbers beyond int64 follow all atoms in it,
// because the library gives terms of ours no other place; rules compare numbers with <.
func (w Wide) Compare(t engine.Term, env *engine.Env) int {
	return engine.CompareAtomic(w, t, func(a, b Wide) int {
		x, y := a.big(), b.big()
		return x.Cmp(y)
	}, env)
}

func (w Wide) big() *big.Int {
	b, _ := new(big.Int).SetString(string(w), 10)
	if b == nil {
		return new(big.Int) // not reached: only BigTerm and NumTerm make a Wide
	}
	return b
}

// NumTerm returns the term of a number on disk.
func NumTerm(n uint64) engine.Term {
	if n <= math.MaxInt64 {
		return engine.Integer(n)
	}
	return Wide(fmt.Sprint(n))
}

// BigTerm returns the term of an integer of any size.
func BigTerm(b *big.Int) engine.Term {
	if b.IsInt64() {
		return engine.Integer(b.Int64())
	}
	return Wide(b.String())
}

// NumberOf returns the value of a resolved term that is an integer; ok is false for any other term.
func NumberOf(t engine.Term) (n Number, ok bool) {
	switch t := t.(type) {
	case engine.Integer:
		return Number{Small: int64(t)}, true
	case Wide:
		return Number{Big: t.big()}, true
	default:
		return Number{}, false
	}
}

// U64 returns the value of a resolved term that is a number on disk; ok is false for a negative
// number, a number of more than 64 bits, and any other term.
func U64(t engine.Term) (n uint64, ok bool) {
	switch t := t.(type) {
	case engine.Integer:
		return uint64(t), t >= 0
	case Wide:
		b := t.big()
		return b.Uint64(), b.IsUint64()
	default:
		return 0, false
	}
}

// IDBits is U64 for a part of an identifier, in which a negative number stands for the same 64
// bits: Btrfs writes its special object ids so (BTRFS_EXTENT_CSUM_OBJECTID is −10).
func IDBits(t engine.Term) (n uint64, ok bool) {
	if i, isInt := t.(engine.Integer); isInt {
		return uint64(i), true
	}
	return U64(t)
}

// A Number is a value in arithmetic: Big if that is not nil, else Small.
type Number struct {
	Small int64
	Big   *big.Int
}

func (n Number) wide() *big.Int {
	if n.Big != nil {
		return n.Big
	}
	return big.NewInt(n.Small)
}

// Term returns the term of the number.
func (n Number) Term() engine.Term {
	if n.Big != nil {
		return BigTerm(n.Big)
	}
	return engine.Integer(n.Small)
}

// Cmp returns −1, 0 or 1 as n is below, equal to, or above m.
func (n Number) Cmp(m Number) int {
	if n.Big == nil && m.Big == nil {
		switch {
		case n.Small < m.Small:
			return -1
		case n.Small > m.Small:
			return 1
		default:
			return 0
		}
	}
	return n.wide().Cmp(m.wide())
}

// Sign returns −1, 0 or 1.
func (n Number) Sign() int {
	return n.Cmp(Number{})
}

// Add returns n + m. Like Sub and Mul, it stays in int64 if the result does, which is nearly
// always.
func (n Number) Add(m Number) Number {
	if s := n.Small + m.Small; n.Big == nil && m.Big == nil && (s > n.Small) == (m.Small > 0) {
		return Number{Small: s}
	}
	return Number{Big: new(big.Int).Add(n.wide(), m.wide())}
}

// Sub returns n − m.
func (n Number) Sub(m Number) Number {
	if s := n.Small - m.Small; n.Big == nil && m.Big == nil && (s < n.Small) == (m.Small > 0) {
		return Number{Small: s}
	}
	return Number{Big: new(big.Int).Sub(n.wide(), m.wide())}
}

func (n Number) mul(m Number) Number {
	if n.Big == nil && m.Big == nil && n.Small >= 0 && m.Small >= 0 {
		if hi, lo := bits.Mul64(uint64(n.Small), uint64(m.Small)); hi == 0 && lo <= math.MaxInt64 {
			return Number{Small: int64(lo)}
		}
	}
	return Number{Big: new(big.Int).Mul(n.wide(), m.wide())}
}

// Bits returns a number that is not negative as 64 bits; ok is false if it has more.
func (n Number) Bits() (u uint64, ok bool) {
	if n.Big == nil {
		return uint64(n.Small), true
	}
	return n.Big.Uint64(), n.Big.IsUint64()
}
