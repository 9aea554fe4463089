package invariants

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"math/bits"

	"github.com/ichiban/prolog/engine"
)

// The library's integers are int64. Numbers on disk are unsigned 64-bit, and sums of them need more: a
// corrupt size of 2^64−1 must not wrap and so hide an overlap. A number that fits in int64 is an
// engine.Integer; any other is a wide. Each number has exactly one form, so that terms unify by ==.

// A wide is an integer outside int64, held as its decimal text.
type wide string

// maxNumberBits bounds what a rule can compute, so that repeated squaring cannot fill memory. Products
// of a few 64-bit numbers are far below it.
const maxNumberBits = 4096

// WriteTerm writes the number.
func (w wide) WriteTerm(out io.Writer, _ *engine.WriteOptions, _ *engine.Env) error {
	_, err := io.WriteString(out, string(w))
	return err
}

// Compare gives the standard order of terms (@<). Numbers beyond int64 stand after all atoms in it, as
// the library gives no other place to a term of ours; rules compare numbers with <.
func (w wide) Compare(t engine.Term, env *engine.Env) int {
	return engine.CompareAtomic(w, t, func(a, b wide) int {
		x, y := a.big(), b.big()
		return x.Cmp(y)
	}, env)
}

func (w wide) big() *big.Int {
	b, _ := new(big.Int).SetString(string(w), 10)
	if b == nil {
		return new(big.Int) // not reached: a wide is only made by bigTerm and numTerm
	}
	return b
}

// numTerm returns the term of a number on disk.
func numTerm(n uint64) engine.Term {
	if n <= math.MaxInt64 {
		return engine.Integer(n)
	}
	return wide(fmt.Sprint(n))
}

// bigTerm returns the term of an integer of any size.
func bigTerm(b *big.Int) engine.Term {
	if b.IsInt64() {
		return engine.Integer(b.Int64())
	}
	return wide(b.String())
}

// numberOf returns the integer that a resolved term is; ok is false for any other term.
func numberOf(t engine.Term) (n number, ok bool) {
	switch t := t.(type) {
	case engine.Integer:
		return number{small: int64(t)}, true
	case wide:
		return number{big: t.big()}, true
	default:
		return number{}, false
	}
}

// u64 returns the number on disk that a resolved term is; ok is false for a negative number, a number
// of more than 64 bits, and any other term.
func u64(t engine.Term) (n uint64, ok bool) {
	switch t := t.(type) {
	case engine.Integer:
		return uint64(t), t >= 0
	case wide:
		b := t.big()
		return b.Uint64(), b.IsUint64()
	default:
		return 0, false
	}
}

// idBits is u64 for a place of an identifier, where a negative number stands for the same 64 bits:
// Btrfs writes its special object ids so (BTRFS_EXTENT_CSUM_OBJECTID is −10).
func idBits(t engine.Term) (n uint64, ok bool) {
	if i, isInt := t.(engine.Integer); isInt {
		return uint64(i), true
	}
	return u64(t)
}

// A number is a value in arithmetic: big if that is set, else small.
type number struct {
	small int64
	big   *big.Int
}

func (n number) wide() *big.Int {
	if n.big != nil {
		return n.big
	}
	return big.NewInt(n.small)
}

func (n number) term() engine.Term {
	if n.big != nil {
		return bigTerm(n.big)
	}
	return engine.Integer(n.small)
}

func (n number) cmp(m number) int {
	if n.big == nil && m.big == nil {
		switch {
		case n.small < m.small:
			return -1
		case n.small > m.small:
			return 1
		default:
			return 0
		}
	}
	return n.wide().Cmp(m.wide())
}

func (n number) sign() int {
	return n.cmp(number{})
}

// add, sub and mul stay in int64 where the result does, which is nearly always.

func (n number) add(m number) number {
	if s := n.small + m.small; n.big == nil && m.big == nil && (s > n.small) == (m.small > 0) {
		return number{small: s}
	}
	return number{big: new(big.Int).Add(n.wide(), m.wide())}
}

func (n number) sub(m number) number {
	if s := n.small - m.small; n.big == nil && m.big == nil && (s < n.small) == (m.small > 0) {
		return number{small: s}
	}
	return number{big: new(big.Int).Sub(n.wide(), m.wide())}
}

func (n number) mul(m number) number {
	if n.big == nil && m.big == nil && n.small >= 0 && m.small >= 0 {
		if hi, lo := bits.Mul64(uint64(n.small), uint64(m.small)); hi == 0 && lo <= math.MaxInt64 {
			return number{small: int64(lo)}
		}
	}
	return number{big: new(big.Int).Mul(n.wide(), m.wide())}
}

// bits returns a number that is not negative; ok is false if it has more than 64 bits.
func (n number) bits() (u uint64, ok bool) {
	if n.big == nil {
		return uint64(n.small), true
	}
	return n.big.Uint64(), n.big.IsUint64()
}
