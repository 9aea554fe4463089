// Package mix has random mixtures of operations on a file system: small programs whose number of
// operations scales with n. Random draws one, and Run runs it. Start reading at Mixture.
package mix

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A Mixture is a file system and what happens to it, phase by phase. Each phase ends with a commit.
type Mixture struct {
	FS     string   `json:"fs"` // "btrfs" or "ext3"
	Seed   uint64   `json:"seed"`
	Mkfs   []string `json:"mkfs,omitempty"`
	Mount  []string `json:"mount,omitempty"`
	Phases []Phase  `json:"phases"`
	// Generated says that mkfs makes the file system from a directory on which the phases ran
	// (mkfs.btrfs --rootdir, mke2fs -d), so that there is only an image to check.
	Generated bool `json:"generated,omitempty"`
	// Alter is a change of bytes as fsward corrupt takes it, made at n places of the largest commit of
	// the last phase, or of the image that mkfs made; "" for none.
	Alter string `json:"alter,omitempty"`
	// Memory bounds the memory of a disk, MiB, without a reserve, so that small commits too are judged
	// part by part; 0 for the defaults of the guard.
	Memory uint64 `json:"memory,omitempty"`
}

// A Phase is n operations, drawn from its steps by their weights, and then some operations on whole
// objects, once each.
type Phase struct {
	Steps []Step   `json:"steps,omitempty"`
	Once  []string `json:"once,omitempty"`
}

// A Step is an operation and the objects that it chooses.
type Step struct {
	Op     string `json:"op"`
	Weight int    `json:"weight"`
	On     string `json:"on"` // the first object of its kind ("one"), the first few, or "any"
	// Where in a file: "random" (in 4n blocks), "next" (adjacent) or "sparse" (every other block); for
	// new names, "hash" gives the same hash of Btrfs to 32 of them.
	At string `json:"at,omitempty"`
}

// String returns a line that describes the mixture.
func (m Mixture) String() string {
	var phases []string
	for _, p := range m.Phases {
		var words []string
		for _, s := range p.Steps {
			word := fmt.Sprintf("%d %s(%s", s.Weight, s.Op, s.On)
			if s.At != "" {
				word += " " + s.At
			}
			words = append(words, word+")")
		}
		phases = append(phases, strings.Join(append(words, p.Once...), " + "))
	}
	options := slices.Concat(m.Mkfs, m.Mount)
	if m.Generated {
		options = append(options, "from a directory")
	}
	text := strings.Join(append([]string{m.FS}, options...), " ") + ": " +
		strings.Join(phases, "; then ")
	if m.Alter != "" {
		text += "; then altered " + m.Alter
	}
	return text
}

// Random draws a mixture. The seed determines it.
func Random(fs string, seed uint64) Mixture {
	r := rand.New(rand.NewPCG(seed, 0))
	m := Mixture{FS: fs, Seed: seed}
	m.Mkfs, m.Mount = options(r, fs)
	for i := range 2 + r.IntN(2) {
		m.Phases = append(m.Phases, randomPhase(r, fs, i == 0))
	}
	if r.IntN(2) == 0 {
		m.Memory = 16
	}
	return m
}

// RandomGenerated draws a mixture for a file system that mkfs makes from a directory.
func RandomGenerated(fs string, seed uint64) Mixture {
	r := rand.New(rand.NewPCG(seed, 2))
	m := Mixture{FS: fs, Seed: seed, Generated: true}
	if fs == "btrfs" {
		m.Mkfs, _ = options(r, fs)
	}
	plain := func(s Step) bool { return !slices.Contains([]string{"", "ext3"}, find(ops, s.Op).fs) }
	p := randomPhase(r, "ext3", true)
	p.Steps = slices.DeleteFunc(p.Steps, plain)
	m.Phases = []Phase{p}
	return m
}

// Altered returns a mixture whose last commit, or image, a hostile guest alters in one of the given
// fields, such as "inode_item.nlink".
func (m Mixture) Altered(fields []string) Mixture {
	r := rand.New(rand.NewPCG(m.Seed, 3))
	values := []string{"=0", "=1", "=2", "=12", "=256", "=257", "=4096", "=13631488", "=30408704",
		"=-1"}
	m.Alter = fields[r.IntN(len(fields))] + values[r.IntN(len(values))]
	return m
}

// options draws options of mkfs and mount.
func options(r *rand.Rand, fs string) (mkfs, mount []string) {
	if fs == "ext3" {
		mkfs = [][]string{nil, {"-b", "1024"}, {"-b", "4096", "-I", "128"}}[r.IntN(3)]
		return append([]string{"-J", "size=128"}, mkfs...),
			[][]string{nil, {"data=journal"}, {"data=writeback"}}[r.IntN(3)]
	}
	mkfs = [][]string{nil, {"-n", "4096"}, {"-R", "quota"}, {"-O", "^no-holes"},
		{"-m", "dup"}}[r.IntN(5)]
	mount = [][]string{nil, nil, {"compress=zstd"}, {"nodatacow"}, {"max_inline=0"}}[r.IntN(5)]
	return mkfs, mount
}

// randomPhase draws a phase. The first one only makes objects.
func randomPhase(r *rand.Rand, fs string, first bool) Phase {
	var p Phase
	for range 1 + r.IntN(4) {
		o := drawOp(r, fs, first)
		s := Step{Op: o.name, Weight: 1 << r.IntN(4), On: []string{"one", "few", "any"}[r.IntN(3)]}
		if len(o.at) > 0 {
			s.At = o.at[r.IntN(len(o.at))]
		}
		if s.At == "hash" && fs == "ext3" { // its hash has a secret seed
			s.At = ""
		}
		p.Steps = append(p.Steps, s)
	}
	if first {
		// Something that every other operation can work on.
		p.Steps = append(p.Steps, Step{Op: "create", Weight: 1 << r.IntN(4), On: "any"})
		return p
	}
	for range r.IntN(3) {
		o := onceOps[r.IntN(len(onceOps))]
		if o.fits(fs) {
			p.Once = append(p.Once, o.name)
		}
	}
	if len(p.Once) > 0 && r.IntN(2) == 0 {
		p.Steps = nil // the cost of an operation on a whole object alone
	}
	return p
}

// drawOp draws an operation that the file system has.
func drawOp(r *rand.Rand, fs string, makes bool) op {
	for {
		if o := ops[r.IntN(len(ops))]; o.fits(fs) && (o.makes || !makes) {
			return o
		}
	}
}

// Without returns the mixtures with one part less each: a phase, a step, an operation on a whole
// object, or an option.
func (m Mixture) Without() (list []Mixture) {
	keep := func(change func(*Mixture)) {
		c := m.clone()
		change(&c)
		list = append(list, c)
	}
	for i, p := range m.Phases {
		if len(m.Phases) > 1 {
			keep(func(c *Mixture) { c.Phases = slices.Delete(c.Phases, i, i+1) })
		}
		for j := range p.Steps {
			if len(p.Steps)+len(p.Once) > 1 {
				keep(func(c *Mixture) { c.Phases[i].Steps = slices.Delete(c.Phases[i].Steps, j, j+1) })
			}
		}
		for j := range p.Once {
			if len(p.Steps)+len(p.Once) > 1 {
				keep(func(c *Mixture) { c.Phases[i].Once = slices.Delete(c.Phases[i].Once, j, j+1) })
			}
		}
	}
	if len(m.Mount) > 0 {
		keep(func(c *Mixture) { c.Mount = nil })
	}
	if m.FS == "btrfs" && len(m.Mkfs) > 0 {
		keep(func(c *Mixture) { c.Mkfs = nil })
	}
	return list
}

// clone returns a copy that shares nothing with m.
func (m Mixture) clone() Mixture {
	m.Mkfs, m.Mount, m.Phases = slices.Clone(m.Mkfs), slices.Clone(m.Mount), slices.Clone(m.Phases)
	for i, p := range m.Phases {
		m.Phases[i] = Phase{slices.Clone(p.Steps), slices.Clone(p.Once)}
	}
	return m
}
