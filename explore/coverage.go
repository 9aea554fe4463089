package explore

import (
	"context"
	"encoding/binary"

	bolt "go.etcd.io/bbolt"

	"fsward/explore/agent"
)

// A coverageRecorder has the machine record which code of the kernel the batches of a Mutate run.
type coverageRecorder struct {
	passThrough
	edges map[agent.Edge]bool
	cut   bool // some edges are missing
}

func (c *coverageRecorder) batch(_ *Env, r request, next sendBatch) (agent.Done, error) {
	r.Cover = true
	done, err := next(r)
	if got := done.Coverage; got != nil {
		for _, edge := range got.Edges {
			c.edges[edge] = true
		}
		c.cut = c.cut || got.Cut
	}
	return done, err
}

// findCoverage reports why the machine records no coverage; "": it does.
func (t *target) findCoverage(ctx context.Context) (none string, err error) {
	done, err := t.system.Do(ctx, agent.Batch{Cover: true, Timeout: opTimeout})
	switch {
	case err != nil:
		return "", err
	case done.Coverage == nil:
		return "the machine records none", nil
	}
	return done.Coverage.None, nil
}

// A Growth is the number of edges that a run had reached at a time.
type Growth struct {
	Seconds float64 `json:"seconds"`
	Runs    uint64  `json:"runs"`
	Edges   uint64  `json:"edges"`
}

// growthStep is the least growth of the number of edges between two entries of the growth, as a
// divisor of that number. It bounds their number.
const growthStep = 50

// addCoverage counts the edges of an execution, and extends the growth. rarest is the number of
// earlier executions with the edge that the fewest of them had.
func (t *Totals) addCoverage(c *change, r *execution, growth *[]Growth) (rarest uint64,
	err error) {
	if r.coverage == nil || len(r.coverage.edges) == 0 {
		return 0, nil
	}
	rarest, fresh, err := c.countEdges(r.coverage.edges)
	if err != nil {
		return 0, err
	}
	t.Edges += fresh
	if r.coverage.cut {
		t.EdgesCut++
	}
	last := uint64(0)
	if n := len(*growth); n > 0 {
		last = (*growth)[n-1].Edges
	}
	if t.Edges <= last+last/growthStep {
		return rarest, nil
	}
	*growth = append(*growth, Growth{t.Seconds, t.Runs, t.Edges})
	return rarest, c.put(bucketMeta, keyGrowth, *growth)
}

// countEdges counts an execution for each of its edges. fresh is the number of edges that no
// execution had before.
func (c *change) countEdges(edges map[agent.Edge]bool) (rarest, fresh uint64, err error) {
	b := c.tx.Bucket(bucketEdges)
	first := true
	for edge := range edges {
		before := uint64(0)
		key := binary.BigEndian.AppendUint64(nil, uint64(edge))
		if v := b.Get(key); len(v) == 8 {
			before = binary.BigEndian.Uint64(v)
		} else {
			fresh++
		}
		if first || before < rarest {
			rarest, first = before, false
		}
		if err := b.Put(key, binary.BigEndian.AppendUint64(nil, before+1)); err != nil {
			return 0, 0, err
		}
	}
	return rarest, fresh, nil
}

// A Coverage is what a run reached of the kernel's code.
type Coverage struct {
	Growth []Growth    // over time
	Files  []FileCover // by source file; nil: the guest has no code map
}

// coverage reads the coverage of a run; nil: none was recorded.
func (s *store) coverage() (*Coverage, error) {
	out := new(Coverage)
	found, err := s.meta(keyGrowth, &out.Growth)
	if err != nil || !found {
		return nil, err
	}
	var code CodeMap
	if _, err := s.meta(keyCode, &code); err != nil {
		return nil, err
	}
	points := make(map[uint64]bool)
	err = s.eachEdge(func(e agent.Edge) { points[e.To()] = true })
	if len(code) > 0 {
		out.Files = code.cover(points)
	}
	return out, err
}

// eachEdge calls f with each edge of a run.
func (s *store) eachEdge(f func(e agent.Edge)) error {
	return s.view(func(tx *bolt.Tx) error {
		return tx.Bucket(bucketEdges).ForEach(func(k, _ []byte) error {
			if len(k) == 8 {
				f(agent.Edge(binary.BigEndian.Uint64(k)))
			}
			return nil
		})
	})
}
