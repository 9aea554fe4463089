package explore

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/cespare/xxhash/v2"

	"fsward/explore/ramdisk"
)

// A Strategy decides in which order the states of the frontier are executed.
type Strategy string

// The strategies. Given enough time, each of them executes every child of every state.
const (
	DepthFirst   Strategy = "depth"
	BreadthFirst Strategy = "breadth"
	// Cover is BreadthFirst, with each operation in each state of a depth first, made persistent in
	// one way, and the other ways after these.
	Cover Strategy = "cover"
	// Random is by Config.Seed, with another state after each child. It prefers few steps.
	Random Strategy = "random"
	// MostRecovery is FiSC's first heuristic: states first whose crash states took the most work to
	// recover.
	MostRecovery Strategy = "recovery"
	// LeastSeen is FiSC's second heuristic: states first whose features few states had so far. A
	// feature is a part of a state: see Featurer, execution.pair, execution.dirty, and the edges of
	// the kernel's code that its last step ran.
	LeastSeen Strategy = "unseen"
)

// Strategies returns all strategies.
func Strategies() []Strategy {
	return []Strategy{DepthFirst, BreadthFirst, Cover, Random, MostRecovery, LeastSeen}
}

// Check returns an error if the strategy is unknown.
func (s Strategy) Check() error {
	for _, known := range Strategies() {
		if s == known {
			return nil
		}
	}
	return fmt.Errorf("search %q: there are %v", s, Strategies())
}

// traits are the properties of a state that strategies consider.
type traits struct {
	depth     int      // number of its steps
	rest      bool     // it is not a scout: see Cover
	later     bool     // its next operation is an uncommon one
	uncommon  int      // number of its steps with an uncommon operation
	recovered uint64   // the most sectors that a recovery from one of its crash states wrote
	features  []string // the most important first
	rarest    uint64   // executions that had its rarest edge of the kernel's code before
}

// priority returns the place of a new state in the frontier: the lowest comes first. number rises
// with each state.
func (s Strategy) priority(seed uint64, number uint64, t traits, c *change) (uint64, error) {
	switch s {
	case BreadthFirst:
		return number, nil
	case Cover:
		return coverPriority(t), nil
	case Random:
		return shallow(hashNumber(seed, number), t.depth), nil
	case MostRecovery:
		return math.MaxUint64 - t.recovered, nil
	case LeastSeen:
		n, err := c.utility(t)
		return n + uint64(t.depth)<<depthBits, err
	default:
		return math.MaxUint64 - number, nil
	}
}

// depthBits makes a step count as much as an earlier state with the most important feature, so that
// LeastSeen comes back to states with few steps.
const depthBits = 20

// pair returns the feature of the last two operations of different steps: their names, without
// arguments.
func (r *execution) pair() string {
	name := func(i int) string {
		if i < 0 || i >= len(r.did) {
			return ""
		}
		var names []string
		for _, line := range r.did[i] {
			word, _, _ := strings.Cut(line, " ")
			if !strings.HasSuffix(line, ":") && word != "open" && word != "close" {
				names = append(names, word)
			}
		}
		return strings.Join(names, " ")
	}
	return fmt.Sprintf("%s, %s", name(len(r.did)-2), name(len(r.did)-1))
}

// shape names the operations of the last two steps, and how the last one was made persistent. Of
// crash states after steps of one shape, one is inspected.
func (r *execution) shape() string {
	var words []string
	for i := max(0, len(r.did)-2); i < len(r.did); i++ {
		for _, line := range r.did[i] {
			word, _, _ := strings.Cut(line, " ")
			word, _, _ = strings.Cut(word, "(")
			words = append(words, word)
		}
		words = append(words, ";")
	}
	return strings.Join(words, " ")
}

// dirty returns the feature of the number of writes since the last flush: its number of bits, so
// that similar numbers count as one.
func (r *execution) dirty() string {
	n := uint(0)
	for _, rec := range r.records {
		switch {
		case rec.Type != ramdisk.Submit:
		case rec.Op == ramdisk.Flush || rec.Flags&ramdisk.Preflush != 0:
			n = 0
		case rec.Op == ramdisk.Write:
			n++
		}
	}
	return fmt.Sprintf("%d bits of dirty writes", bits.Len(n))
}

// shallow returns a random number that is usually smaller for fewer steps: it is below 2^(20+3d)
// for depth d. Without that, most states that are selected are deep, since there are more of them,
// and they take long to reach. A state is selected before one of its parent's depth in one of 16
// cases.
func shallow(random uint64, depth int) uint64 { return random >> max(0, 44-3*depth) }

// hashNumber returns a pseudorandom number for a number.
func hashNumber(seed, number uint64) uint64 {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	binary.LittleEndian.PutUint64(b[8:], number)
	return xxhash.Sum64(b[:])
}

// utility returns how often the features of a state were seen before, as a weighted sum, and counts
// them. Each feature has half the weight of the one before it. Edges of the kernel's code come
// first, and count as often as the rarest of them.
func (c *change) utility(t traits) (uint64, error) {
	weight := float64(1 << depthBits)
	sum := 2 * weight * float64(t.rarest)
	for i, f := range t.features {
		n, err := c.count(fmt.Sprintf("%d %s", i, f))
		if err != nil {
			return 0, err
		}
		sum += weight * float64(n)
		weight /= 2
	}
	return uint64(min(sum, math.MaxInt64)), nil
}
