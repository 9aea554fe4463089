package explore

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/cespare/xxhash/v2"
)

// A Strategy says which state's children are run next.
type Strategy string

// The strategies. All of them run each child of each state that is told from the others by its signature, if time allows.
const (
	DepthFirst   Strategy = "depth"
	BreadthFirst Strategy = "breadth"
	Random       Strategy = "random"   // a child of a state that a seed picks, and then of another
	MostRecovery Strategy = "recovery" // FiSC's first heuristic: states whose parent's disk took the most work to recover
	LeastSeen    Strategy = "unseen"   // FiSC's second heuristic: states with features that few states had so far
)

// Strategies lists them.
func Strategies() []Strategy {
	return []Strategy{DepthFirst, BreadthFirst, Random, MostRecovery, LeastSeen}
}

// Check says whether there is such a strategy.
func (s Strategy) Check() error {
	for _, known := range Strategies() {
		if s == known {
			return nil
		}
	}
	return fmt.Errorf("search %q: there are %v", s, Strategies())
}

// traits are what a strategy goes by.
type traits struct {
	recovered uint64   // sectors that recovery wrote at most, of the disks after crashes on the way to the state
	features  []string // what the state is like
}

// priority is where a new state is put: the lowest comes first. number rises with each state.
func (s Strategy) priority(seed uint64, number uint64, t traits, c *change) (uint64, error) {
	switch s {
	case BreadthFirst:
		return number, nil
	case Random:
		return hashNumber(seed, number), nil
	case MostRecovery:
		return math.MaxUint64 - t.recovered, nil
	case LeastSeen:
		return c.utility(t.features)
	default:
		return math.MaxUint64 - number, nil
	}
}

// hashNumber makes a number of another that looks random.
func hashNumber(seed, number uint64) uint64 {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	binary.LittleEndian.PutUint64(b[8:], number)
	return xxhash.Sum64(b[:])
}

// utility is how often a state's features were seen before, a weighted sum: the first counts most, each after it half of the one
// before.
func (c *change) utility(features []string) (uint64, error) {
	sum, weight := 0.0, float64(1<<20)
	for i, f := range features {
		n, err := c.count(fmt.Sprintf("%d %s", i, f))
		if err != nil {
			return 0, err
		}
		sum += weight * float64(n)
		weight /= 2
	}
	return uint64(min(sum, math.MaxInt64)), nil
}
