package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
)

// A plan determines each round. The pairs of variant and load rotate, and the seed determines
// everything else.
type plan struct {
	*config
	pairs []pair
}

// A pair is a variant with a load.
type pair struct {
	variant variant
	load    workload
}

func newPlan(ctx context.Context, c *config) (*plan, error) {
	if variants[c.fs] == nil {
		return nil, fmt.Errorf("no file system %q: btrfs or ext3", c.fs)
	}
	features, err := exec.CommandContext(ctx, "mkfs."+c.fs, "-O", "list-all").CombinedOutput()
	if err != nil && c.fs == "btrfs" {
		return nil, fmt.Errorf("mkfs.btrfs: %w: %s", err, features)
	}
	var chosen []variant
	for _, v := range variants[c.fs] {
		if !strings.Contains(string(features), v.needs) {
			fmt.Fprintf(c.out, "soak: %s is skipped: this mkfs.%s does not know %s\n",
				v.name, c.fs, v.needs)
			continue
		}
		if v.disks = max(v.disks, 1); v.disks >= c.disks && (!c.guest || !v.newer) &&
			(c.variant == "" || strings.Contains(v.name, c.variant)) {
			chosen = append(chosen, v)
		}
	}
	var loads []workload
	var names []string
	table := workloads
	if c.administrator {
		table = administration
	}
	for _, l := range table {
		if l.fits(c) {
			names = append(names, l.name)
			if c.only == "" || c.only == l.name {
				loads = append(loads, l)
			}
		}
	}
	if len(loads) == 0 {
		return nil, fmt.Errorf("no load %q: the loads are %s", c.only, strings.Join(names, ", "))
	}
	if c.administrator {
		return &plan{c, administrationPairs(c, chosen, loads)}, nil
	}
	// Each load is combined with each variant. Both change from one pair to the next.
	p := &plan{config: c}
	for n := range len(loads) * len(chosen) {
		i := n % len(loads)
		q := pair{chosen[(i+n/len(loads))%len(chosen)], loads[i]}
		if !q.load.journal || !q.variant.noJournal {
			p.pairs = append(p.pairs, q)
		}
	}
	if len(p.pairs) == 0 {
		return nil, fmt.Errorf("no variant of %s has %d disks and the name %q", c.fs, c.disks, c.variant)
	}
	return p, nil
}

// round returns the n-th round.
func (p *plan) round(n int) *round {
	q := p.pairs[n%len(p.pairs)]
	r := &round{
		config:  p.config,
		number:  n,
		random:  rand.New(rand.NewPCG(p.seed, uint64(n))),
		variant: q.variant,
		load:    q.load,
	}
	if r.load.small {
		r.variant.size = 300 << 20
	}
	return r
}
