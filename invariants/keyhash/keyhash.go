// Package keyhash hashes numbers with seeds of this process, so that a guest cannot choose keys
// that collide. The hash tables of the rule engine use it.
package keyhash

import (
	"math/bits"
	"math/rand/v2"
)

// Seeds are the random numbers that make hashes unpredictable for a guest.
type Seeds struct{ a, b uint64 }

// New returns fresh random seeds.
func New() Seeds { return Seeds{rand.Uint64() | 1, rand.Uint64() | 1} }

// Mix returns the hash of two numbers.
func (s Seeds) Mix(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x^s.a, y^s.b)
	return hi ^ lo
}

// Near is Mix for tables that are searched in the order of id. The slots of eight ids that differ
// only in their last three bits lie side by side, in one cache line, and the upper halves of their
// hashes differ.
func (s Seeds) Near(id, other uint64) uint64 {
	const last = 7
	return s.Mix(id>>3, other)&^last + id&last*(1<<32|1)
}
