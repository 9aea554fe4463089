package explore

import "fsward/explore/agent"

// A treeMemo has the answer to the last request, if that read a tree. Several checks read the tree
// of a recovered disk one after the other, and a round trip to an emulated guest takes longer than
// most of them.
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

// keep remembers the answer to a request that read a tree.
func (t *treeMemo) keep(ops []agent.Op, results []agent.Result) {
	*t = treeMemo{}
	if len(ops) == 1 && ops[0].ReadsTree() && len(results) == 1 && results[0].Errno == 0 {
		t.op, t.results = ops[0].String(), results
	}
}
