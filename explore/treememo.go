package explore

import (
	"slices"

	"fsward/explore/agent"
)

// A treeMemo has the tree that was read last, until a request may change it. Several checks read
// the tree of a recovered disk one after the other, and a round trip to an emulated guest takes
// longer than most of them.
type treeMemo struct {
	op      string // the operation; "" if there is none
	results []agent.Result
}

// find returns the answer to a request, or nil.
func (t *treeMemo) find(ops []agent.Op) []agent.Result {
	if t.op == "" || len(ops) != 1 || !ops[0].ReadsTree() || ops[0].String() != t.op {
		return nil
	}
	return t.results
}

// before forgets the tree if a request may change it.
func (t *treeMemo) before(ops []agent.Op) {
	if slices.ContainsFunc(ops, func(o agent.Op) bool { return !o.LeavesTree() }) {
		*t = treeMemo{}
	}
}

// keep remembers the answer to a request that read a tree.
func (t *treeMemo) keep(ops []agent.Op, results []agent.Result) {
	if len(ops) == 1 && ops[0].ReadsTree() && len(results) == 1 && results[0].Errno == 0 {
		t.op, t.results = ops[0].String(), results
	}
}
