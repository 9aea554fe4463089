package btrfs

// spanBytes estimates the memory that a comparison takes for a subtree: a span of 88 bytes in a
// growing slice, and its entries in the maps of a treeDiff; or its entry in a logState.
const spanBytes = 256

// spanPiece is the number of bytes of spans between two checks of the memory budget.
const spanPiece = 1 << 20

// addSpan adds a subtree to the comparison. A node of 64 KiB has two thousand children. A
// transaction that rewrites the inner nodes of a large tree thus has far more spans than written
// blocks.
func (t *treeDiff) addSpan(s span) {
	t.spans = append(t.spans, s)
	t.out.otherBytes += spanBytes
	if t.out.otherBytes%spanPiece != 0 {
		return
	}
	if err := t.out.makeRoom(); err != nil {
		t.fault(err)
	} else if t.kept.streams && !t.out.memory.Holds(t.out.otherBytes) {
		t.fault(t.out.memory.Full())
	}
}

// leafBytes is the memory of an element of treeLeaves.
const leafBytes = 48

// keptLeaves remembers the leaves in which the trees compared so far differ. A commitStream makes
// the records of their items again.
type keptLeaves struct {
	streams bool // the records can be made again; otherwise keep does nothing
	trees   []*treeLeaves
	bytes   uint64 // memory of trees
}

func (k *keptLeaves) keep(l *treeLeaves) {
	if k.streams && len(l.new)+len(l.old) > 0 {
		k.compared(l)
	}
}

// compared keeps the leaves of a tree of a whole image that was compared with another. Its other
// trees are new, and need not be kept.
func (k *keptLeaves) compared(l *treeLeaves) {
	k.trees = append(k.trees, l)
	k.bytes += l.bytes()
}

// bytes returns the memory of the places of leaves.
func (l *treeLeaves) bytes() uint64 { return uint64(len(l.new)+len(l.old)) * leafBytes }
