package b3

import (
	"errors"
	"fmt"
	"math/bits"
	"path"
	"slices"
)

// Count returns the number of workloads of the set. Their ranks are below it.
func (s *Set) Count() uint64 { return s.counter.total }

// Distinct returns the number of workloads that would be left if nothing followed operations that
// are persistence points of their own.
func (s *Set) Distinct() (uint64, error) {
	alone := *s
	alone.Alone = nil
	for _, o := range s.Operations {
		if v, _ := verbOf(o.Op); v.Persists() {
			alone.Alone = append(alone.Alone, o.Op)
		}
	}
	c, err := newCounter(&alone)
	if err != nil {
		return 0, err
	}
	return c.total, nil
}

// At returns the workload of a rank: its operations, and what makes them persistent. The rank must
// be below Count.
func (s *Set) At(rank uint64) (Workload, error) {
	if rank >= s.Count() {
		return nil, fmt.Errorf("rank %d: the set %s has the ranks 0 to %d", rank, s.Name, s.Count()-1)
	}
	c := s.counter
	var ops []int
	var p prefix
	for range s.Length {
		for i := range c.params {
			next, ok := c.extend(p, i)
			if !ok {
				continue
			}
			n := c.known[next]
			if rank < n {
				ops, p = append(ops, i), next
				break
			}
			rank -= n
		}
	}
	return c.persisted(ops, p, rank), nil
}

// ErrNotInSet means that a workload is not one of a set.
var ErrNotInSet = errors.New("the set has no such workload")

// Rank returns the rank of a workload that At returns, or that Complete made of one.
func (s *Set) Rank(w Workload) (uint64, error) {
	rank, err := s.counter.rank(w)
	if err == nil {
		return rank, nil
	}
	if core, ok := s.core(w); ok {
		return s.counter.rank(core)
	}
	return 0, err
}

// A prefix is what counts of the first operations of a workload: all that its other operations and
// its persistence points depend on.
type prefix struct {
	length  int
	used    uint64 // bits of the names that are used
	alone   int    // operations that nothing follows
	last    bool   // the last operation is one of these
	only    Verb   // the operation of which alone it consists; invalid: there are several
	appends bool   // all operations append
	ofAPair bool   // only directories are used
}

// A counter counts the workloads that begin with a prefix.
type counter struct {
	set     *Set
	params  []Step
	index   map[Step]int
	names   []string       // that fsync is called on, in order
	bit     map[string]int // of a name in names
	related []uint64       // by name: the bits of what fsync is called on if the name is used
	known   map[prefix]uint64
	work    int // steps of counting so far
	total   uint64
}

// Bounds of counting.
const (
	maxWork  = 1 << 23
	maxCount = 1 << 62
)

func newCounter(s *Set) (*counter, error) {
	c := &counter{set: s, index: make(map[Step]int), bit: make(map[string]int),
		known: make(map[prefix]uint64)}
	var err error
	if c.params, err = s.params(); err != nil {
		return nil, err
	}
	for i, step := range c.params {
		if _, ok := c.index[step]; ok {
			return nil, fmt.Errorf("%s is there twice", step)
		}
		c.index[step] = i
	}
	if err := c.relate(); err != nil {
		return nil, err
	}
	if c.total, err = c.count(prefix{}); err != nil {
		return nil, err
	}
	if c.total == 0 {
		return nil, errors.New("the set has no workload")
	}
	return c, nil
}

// relate finds the names on which fsync is called if a name is used.
func (c *counter) relate() error {
	s := c.set
	parent := func(name string) string {
		if dir := path.Dir(name); dir != "." && name != "/" {
			return dir
		}
		return "/"
	}
	c.names = slices.Concat(s.First, s.Second, s.Directories, s.SecondDirectories)
	if s.Persist == Related {
		for _, name := range slices.Clone(c.names) {
			if dir := parent(name); !slices.Contains(c.names, dir) {
				c.names = append(c.names, dir)
			}
		}
	}
	ofSnapshot := func(s Step) bool { return s.Verb == Snapshot } // the root is used, too
	if slices.ContainsFunc(c.params, ofSnapshot) && !slices.Contains(c.names, "/") {
		c.names = append(c.names, "/")
	}
	if len(c.names) > maxNames {
		return fmt.Errorf("%d names with their directories: want at most %d", len(c.names), maxNames)
	}
	for i, name := range c.names {
		c.bit[name] = i
	}
	c.related = make([]uint64, len(c.names))
	for i, name := range c.names {
		c.related[i] = 1 << i
		if s.Persist == Used || name == "/" {
			continue
		}
		c.related[i] |= 1 << c.bit[parent(name)]
		for j, other := range c.names {
			if other != "/" && parent(other) == parent(name) &&
				IsDirectory(other) == IsDirectory(name) {
				c.related[i] |= 1 << j
			}
		}
	}
	return nil
}

// extend returns a prefix with another operation. ok is false if the set leaves out all such
// workloads.
func (c *counter) extend(p prefix, i int) (next prefix, ok bool) {
	step := c.params[i]
	var used uint64
	for _, name := range step.Names() {
		used |= 1 << c.bit[name]
	}
	onDirs := IsDirectory(step.Name)
	appends := step.Range.Where == Append
	first := p.length == 0
	if c.set.Appends && first && !appends {
		return next, false
	}
	afterAPair := p.ofAPair && bits.OnesCount64(p.used) == 2
	if c.set.Reuse && !first && used&p.used == 0 && !onDirs && !afterAPair {
		return next, false
	}
	next = prefix{length: p.length + 1, used: p.used | used, alone: p.alone}
	if next.last = slices.Contains(c.set.Alone, step.Verb.String()); next.last {
		next.alone++
	}
	if len(c.set.NotOnly) > 0 && (first || p.only == step.Verb) {
		next.only = step.Verb
	}
	next.appends = c.set.Appends && (first || p.appends) && appends
	next.ofAPair = c.set.Reuse && (first || p.ofAPair) && onDirs
	if next.length == c.set.Length && (next.appends ||
		next.only != invalid && slices.Contains(c.set.NotOnly, next.only.String())) {
		return next, false
	}
	return next, true
}

// count returns the number of workloads that begin with a prefix.
func (c *counter) count(p prefix) (n uint64, err error) {
	if n, ok := c.known[p]; ok {
		return n, nil
	}
	if p.length == c.set.Length {
		n, err = c.variants(p)
		c.known[p] = n
		return n, err
	}
	if c.work += len(c.params); c.work > maxWork {
		return 0, errors.New("the set is too large to be counted")
	}
	for i := range c.params {
		next, ok := c.extend(p, i)
		if !ok {
			continue
		}
		some, err := c.count(next)
		if err != nil {
			return 0, err
		}
		if n += some; n > maxCount {
			return 0, fmt.Errorf("the set has more than %d workloads", uint64(maxCount))
		}
	}
	c.known[p] = n
	return n, nil
}

// points returns the names on which fsync is called in workloads with a prefix.
func (c *counter) points(p prefix) (names []string) {
	var all uint64
	for i, related := range c.related {
		if p.used&(1<<i) != 0 {
			all |= related
		}
	}
	for i, name := range c.names {
		if all&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// variants returns in how many ways a workload with the operations of p is made persistent. After
// the last operation something is; after the others it may be nothing.
func (c *counter) variants(p prefix) (uint64, error) {
	k := uint64(len(c.points(p))) + 1 // fsync of each, and sync
	n := uint64(1)
	for range c.set.Length - p.alone {
		if n *= k + 1; n > maxCount/(maxNames+2) {
			return 0, fmt.Errorf("the set has more than %d workloads", uint64(maxCount))
		}
	}
	if !p.last {
		n = n / (k + 1) * k
	}
	return n, nil
}

// persisted returns the workload with operations, and with the variant of a number. The last
// operation's persistence point changes fastest.
func (c *counter) persisted(ops []int, p prefix, variant uint64) Workload {
	choices := c.choices(p)
	var w Workload
	for i, op := range slices.Backward(ops) {
		step := c.params[op]
		if !slices.Contains(c.set.Alone, step.Verb.String()) {
			n := uint64(len(choices))
			if i == len(ops)-1 {
				n-- // something is made persistent
			}
			if choice := choices[variant%n]; choice.Verb != invalid {
				w = append(w, choice)
			}
			variant /= n
		}
		w = append(w, step)
	}
	slices.Reverse(w)
	return w
}

// choices returns what may follow an operation. The last one, which is invalid, is nothing.
func (c *counter) choices(p prefix) (steps []Step) {
	for _, name := range c.points(p) {
		steps = append(steps, Step{Verb: Fsync, Name: name})
	}
	return append(steps, Step{Verb: Sync}, Step{})
}

// rank returns the rank of a workload that At returns.
func (c *counter) rank(w Workload) (rank uint64, err error) {
	var ops []int
	var persists []Step // what follows each operation; the verb invalid: nothing
	for i := 0; i < len(w); i++ {
		op, ok := c.index[w[i]]
		if !ok {
			return 0, fmt.Errorf("%w: %q is none of its operations", ErrNotInSet, w[i])
		}
		ops = append(ops, op)
		var after Step
		if i+1 < len(w) && (w[i+1].Verb == Fsync || w[i+1].Verb == Sync) {
			i++
			after = w[i]
		}
		persists = append(persists, after)
	}
	if len(ops) != c.set.Length {
		return 0, fmt.Errorf("%w: %d operations, and its workloads have %d", ErrNotInSet, len(ops),
			c.set.Length)
	}
	var p prefix
	for _, op := range ops {
		for i := range op {
			if next, ok := c.extend(p, i); ok {
				rank += c.known[next]
			}
		}
		var ok bool
		if p, ok = c.extend(p, op); !ok {
			return 0, fmt.Errorf("%w: it leaves out such a workload", ErrNotInSet)
		}
	}
	variant, err := c.variant(ops, p, persists)
	return rank + variant, err
}

// variant returns the number of the variant in which an operation is followed by persists.
func (c *counter) variant(ops []int, p prefix, persists []Step) (n uint64, err error) {
	choices := c.choices(p)
	for i, after := range persists {
		if slices.Contains(c.set.Alone, c.params[ops[i]].Verb.String()) {
			if after.Verb != invalid {
				return 0, fmt.Errorf("%w: %q follows %s", ErrNotInSet, after, c.params[ops[i]])
			}
			continue
		}
		some := choices
		if i == len(ops)-1 {
			some = choices[:len(choices)-1]
		}
		at := slices.Index(some, after)
		if at < 0 {
			if after.Verb == invalid {
				return 0, fmt.Errorf("%w: nothing is made persistent at its end", ErrNotInSet)
			}
			return 0, fmt.Errorf("%w: %q is not called in it", ErrNotInSet, after)
		}
		n = n*uint64(len(some)) + uint64(at)
	}
	return n, nil
}
