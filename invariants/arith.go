package invariants

import (
	"math/big"

	"github.com/ichiban/prolog/engine"
)

// The functions of arithmetic, as ISO Prolog names them. There is no (/)/2: it means different things in
// different Prologs; // truncates, div rounds down.
var (
	binaryFunctions = map[engine.Atom]func(x, y number) (number, error){
		engine.NewAtom("+"):   func(x, y number) (number, error) { return x.add(y), nil },
		engine.NewAtom("-"):   func(x, y number) (number, error) { return x.sub(y), nil },
		engine.NewAtom("*"):   func(x, y number) (number, error) { return x.mul(y), nil },
		engine.NewAtom("//"):  divider((*big.Int).Quo, quotient),
		engine.NewAtom("rem"): divider((*big.Int).Rem, remainder),
		engine.NewAtom("div"): divider(floorDiv, quotient),
		engine.NewAtom("mod"): divider(floorMod, remainder),
		engine.NewAtom(`/\`):  bitwise((*big.Int).And, func(x, y int64) int64 { return x & y }),
		engine.NewAtom(`\/`):  bitwise((*big.Int).Or, func(x, y int64) int64 { return x | y }),
		engine.NewAtom("xor"): bitwise((*big.Int).Xor, func(x, y int64) int64 { return x ^ y }),
		engine.NewAtom("<<"):  func(x, y number) (number, error) { return shift(x, y, 1) },
		engine.NewAtom(">>"):  func(x, y number) (number, error) { return shift(x, y, -1) },
		engine.NewAtom("min"): func(x, y number) (number, error) { return pick(x, y, x.cmp(y) <= 0), nil },
		engine.NewAtom("max"): func(x, y number) (number, error) { return pick(x, y, x.cmp(y) >= 0), nil },
	}
	unaryFunctions = map[engine.Atom]func(x number) number{
		engine.NewAtom("-"):   func(x number) number { return number{}.sub(x) },
		engine.NewAtom("+"):   func(x number) number { return x },
		engine.NewAtom(`\`):   func(x number) number { return number{big: new(big.Int).Not(x.wide())} },
		engine.NewAtom("abs"): func(x number) number { return pick(x, number{}.sub(x), x.sign() >= 0) },
	}
)

func pick(x, y number, first bool) number {
	if first {
		return x
	}
	return y
}

func quotient(x, y int64) int64  { return x / y }
func remainder(x, y int64) int64 { return x % y }

// divider makes a division; small is the same for numbers that fit and of which none is negative.
func divider(f func(z, x, y *big.Int) *big.Int, small func(x, y int64) int64) func(x, y number) (number, error) {
	return func(x, y number) (number, error) {
		if y.sign() == 0 {
			return number{}, errorf("division by zero")
		}
		if x.big == nil && y.big == nil && x.small >= 0 && y.small > 0 {
			return number{small: small(x.small, y.small)}, nil
		}
		return number{big: f(new(big.Int), x.wide(), y.wide())}, nil
	}
}

// bitwise makes a function of two numbers; small is the same for those that fit, as both are two's complement.
func bitwise(f func(z, x, y *big.Int) *big.Int, small func(x, y int64) int64) func(x, y number) (number, error) {
	return func(x, y number) (number, error) {
		if x.big == nil && y.big == nil {
			return number{small: small(x.small, y.small)}, nil
		}
		return number{big: f(new(big.Int), x.wide(), y.wide())}, nil
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
func shift(x, y number, sign int64) (number, error) {
	if y.big != nil || y.small < -maxNumberBits || y.small > maxNumberBits {
		return number{}, errorf("shift by %s bits is beyond %d", termText(y.term(), nil), maxNumberBits)
	}
	n := y.small * sign
	if n >= 0 {
		return number{big: new(big.Int).Lsh(x.wide(), uint(n))}, nil
	}
	return number{big: new(big.Int).Rsh(x.wide(), uint(-n))}, nil
}
