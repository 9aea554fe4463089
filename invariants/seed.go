package invariants

import (
	"math/bits"
	"math/rand/v2"
)

// seeds make hashes that a guest cannot foresee.
type seeds struct{ a, b uint64 }

func newSeeds() seeds { return seeds{rand.Uint64() | 1, rand.Uint64() | 1} }

func (s seeds) mix(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x^s.a, y^s.b)
	return hi ^ lo
}

// near is mix for what is looked up in the order of id: of eight ids that differ in the last bits alone the slots lie side by side, in
// one line of the processor's caches, and the upper halves differ.
func (s seeds) near(id, other uint64) uint64 {
	const last = 7
	return s.mix(id>>3, other)&^last + id&last*(1<<32|1)
}
