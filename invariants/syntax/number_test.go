package syntax

import (
	"math"
	"math/big"
	"testing"

	"github.com/ichiban/prolog/engine"
)

// TestArithmeticAtTheEdges checks that Add, Sub and Mul agree with big integers at the edges of
// int64.
func TestArithmeticAtTheEdges(t *testing.T) {
	edges := []int64{math.MinInt64, math.MinInt64 + 1, -1 << 32, -2, -1, 0, 1, 2, 1 << 31, 1 << 32,
		math.MaxInt64 - 1, math.MaxInt64}
	for _, a := range edges {
		for _, b := range edges {
			x, y := Number{Small: a}, Number{Small: b}
			for name, pair := range map[string][2]*big.Int{
				"+": {x.Add(y).wide(), new(big.Int).Add(big.NewInt(a), big.NewInt(b))},
				"-": {x.Sub(y).wide(), new(big.Int).Sub(big.NewInt(a), big.NewInt(b))},
				"*": {x.mul(y).wide(), new(big.Int).Mul(big.NewInt(a), big.NewInt(b))},
			} {
				if pair[0].Cmp(pair[1]) != 0 {
					t.Errorf("%d %s %d = %v, want %v", a, name, b, pair[0], pair[1])
				}
			}
			if x.Cmp(y) != big.NewInt(a).Cmp(big.NewInt(b)) {
				t.Errorf("%d compared with %d: %d", a, b, x.Cmp(y))
			}
		}
	}
}

// TestNumberTerms checks that each number has one form as a term.
func TestNumberTerms(t *testing.T) {
	for _, n := range []uint64{0, 1, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64} {
		viaBig := BigTerm(new(big.Int).SetUint64(n))
		if NumTerm(n) != viaBig {
			t.Errorf("%d has two forms: %v and %v", n, NumTerm(n), viaBig)
		}
		if got, ok := U64(NumTerm(n)); !ok || got != n {
			t.Errorf("U64 of %d = %d, %v", n, got, ok)
		}
	}
	if n, ok := IDBits(engine.Integer(-10)); !ok || n != math.MaxUint64-9 {
		t.Errorf("−10 as an object id is %d, %v", n, ok)
	}
	if _, ok := U64(engine.Integer(-10)); ok {
		t.Error("U64 accepts −10")
	}
	if _, ok := U64(BigTerm(new(big.Int).Lsh(big.NewInt(1), 64))); ok {
		t.Error("U64 accepts 2^64")
	}
}
