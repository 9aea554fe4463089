package syntax

import (
	"math/big"

	"github.com/ichiban/prolog/engine"
)

// The functions of arithmetic, named as in ISO Prolog. There is no (/)/2, because Prologs disagree
// about its meaning: // truncates, div rounds down.
var (
	BinaryFunctions = map[engine.Atom]func(x, y Number) (Number, error){
		engine.NewAtom("+"):   func(x, y Number) (Number, error) { return x.Add(y), nil },
		engine.NewAtom("-"):   func(x, y Number) (Number, error) { return x.Sub(y), nil },
		engine.NewAtom("*"):   func(x, y Number) (Number, error) { return x.mul(y), nil },
		engine.NewAtom("//"):  divider((*big.Int).Quo, quotient),
		engine.NewAtom("rem"): divider((*big.Int).Rem, remainder),
		engine.NewAtom("div"): divider(floorDiv, quotient),
		engine.NewAtom("mod"): divider(floorMod, remainder),
		engine.NewAtom(`/\`):  bitwise((*big.Int).And, func(x, y int64) int64 { return x & y }),
		engine.NewAtom(`\/`):  bitwise((*big.Int).Or, func(x, y int64) int64 { return x | y }),
		engine.NewAtom("xor"): bitwise((*big.Int).Xor, func(x, y int64) int64 { return x ^ y }),
		engine.NewAtom("<<"):  func(x, y Number) (Number, error) { return shift(x, y, 1) },
		engine.NewAtom(">>"):  func(x, y Number) (Number, error) { return shift(x, y, -1) },
		engine.NewAtom("min"): func(x, y Number) (Number, error) {
			return pick(x, y, x.Cmp(y) <= 0),
				nil
		},
		engine.NewAtom("max"): func(x, y Number) (Number, error) {
			return pick(x, y, x.Cmp(y) >= 0),
				nil
		},
	}
	UnaryFunctions = map[engine.Atom]func(x Number) Number{
		engine.NewAtom("-"):   func(x Number) Number { return Number{}.Sub(x) },
		engine.NewAtom("+"):   func(x Number) Number { return x },
		engine.NewAtom(`\`):   func(x Number) Number { return Number{Big: new(big.Int).Not(x.wide())} },
		engine.NewAtom("abs"): func(x Number) Number { return pick(x, Number{}.Sub(x), x.Sign() >= 0) },
	}
)

func pick(x, y Number, first bool) Number {
	if first {
		return x
	}
	return y
}

func quotient(x, y int64) int64  { return x / y }
func remainder(x, y int64) int64 { return x % y }

// divider makes a division; small does the same for numbers that fit in int64 and are not negative.
func divider(f func(z, x, y *big.Int) *big.Int,
	small func(x, y int64) int64) func(x, y Number) (Number, error) {
	return func(x, y Number) (Number, error) {
		if y.Sign() == 0 {
			return Number{}, RuleErrorf("division by zero")
		}
		if x.Big == nil && y.Big == nil && x.Small >= 0 && y.Small > 0 {
			return Number{Small: small(x.Small, y.Small)}, nil
		}
		return Number{Big: f(new(big.Int), x.wide(), y.wide())}, nil
	}
}

// bitwise makes a function of two numbers; small does the same for numbers that fit in int64, since
// both are two's complement.
func bitwise(f func(z, x, y *big.Int) *big.Int,
	small func(x, y int64) int64) func(x, y Number) (Number, error) {
	return func(x, y Number) (Number, error) {
		if x.Big == nil && y.Big == nil {
			return Number{Small: small(x.Small, y.Small)}, nil
		}
		return Number{Big: f(new(big.Int), x.wide(), y.wide())}, nil
	}
}

// floorDiv and floorMod are ISO's div and mod: big's own Div and Mod round by the divisor's sign.
func floorDiv(z, x, y *big.Int) *big.Int {
	r := new(big.Int)
	z.QuoRem(x, y, r)
	if r.Sign() != 0 && r.Sign() != y.Sign() {
		z.Sub(z, big.NewInt(1))
	}
	return z
}

func floorMod(z, x, y *big.Int) *big.Int {
	z.Rem(x, y)
	if z.Sign() != 0 && z.Sign() != y.Sign() {
		z.Add(z, y)
	}
	return z
}

// shift shifts left by sign·y bits.
func shift(x, y Number, sign int64) (Number, error) {
	if y.Big != nil || y.Small < -MaxNumberBits || y.Small > MaxNumberBits {
		return Number{}, RuleErrorf("shift by %s bits is beyond %d", TermText(y.Term(), nil),
			MaxNumberBits)
	}
	n := y.Small * sign
	if n >= 0 {
		return Number{Big: new(big.Int).Lsh(x.wide(), uint(n))}, nil
	}
	return Number{Big: new(big.Int).Rsh(x.wide(), uint(-n))}, nil
}
