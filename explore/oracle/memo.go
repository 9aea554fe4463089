package oracle

import "fsward/explore/crash"

// A memo is a tree of questions: judging asks the first of every state, and what it asks next depends on the answers so
// far and nothing else. Where the answers lead to a leaf, the verdict is there.
type memo struct {
	root  *node
	count int
}

// maxNodes bounds the questions that are remembered: some 30 MB.
const maxNodes = 1 << 18

// A node is a question, or a verdict.
type node struct {
	question
	answer  crash.Signature // most questions have one answer
	next    *node
	others  map[crash.Signature]*node
	verdict *Verdict
}

func (n *node) child(answer crash.Signature) *node {
	if n.next != nil && n.answer == answer {
		return n.next
	}
	return n.others[answer]
}

// find returns the verdict of a state that is the same in all that mattered.
func (m *memo) find(f *fork) (Verdict, bool) {
	n := m.root
	for n != nil && n.verdict == nil {
		n = n.child(f.answer(n.question))
	}
	if n == nil {
		return Verdict{}, false
	}
	return *n.verdict, true
}

// add remembers a verdict under what was asked and answered.
func (m *memo) add(path []step, v Verdict) {
	if m.count += len(path); m.count > maxNodes {
		m.clear()
		m.count = len(path)
	}
	if m.root == nil {
		m.root = &node{question: path[0].question}
	}
	n := m.root
	for i, s := range path {
		child := n.child(s.answer)
		if child == nil {
			child = &node{verdict: &v}
			if i+1 < len(path) {
				child = &node{question: path[i+1].question}
			}
			n.lead(s.answer, child)
		}
		n = child
	}
}

func (n *node) lead(answer crash.Signature, to *node) {
	switch {
	case n.next == nil:
		n.answer, n.next = answer, to
	case n.others == nil:
		n.others = map[crash.Signature]*node{answer: to}
	default:
		n.others[answer] = to
	}
}

func (m *memo) clear() { *m = memo{} }
